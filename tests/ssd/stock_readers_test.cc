// Stock LevelDB and RocksDB read our table files: every entry, equal.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "src/ssd/internal_key.h"
#include "tests/common/paths.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"
#include "tests/ssd/sst_maker.h"

namespace miodb {
namespace {

struct Version {
  std::string key;
  uint64_t sequence;
  ValueType type;
  std::string value;
};

std::string Hex(const Slice& bytes, const char* digits = "0123456789abcdef") {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i++) {
    const unsigned char c = static_cast<unsigned char>(bytes[i]);
    text.push_back(digits[c >> 4]);
    text.push_back(digits[c & 15]);
  }
  return text;
}

// The output of the command; fails the test if the command fails.
std::string Output(const std::string& command) {
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::string text;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) text.append(buffer, n);
  EXPECT_EQ(pclose(pipe), 0) << command << "\n" << text;
  return text;
}

bool IsInstalled(const std::string& program) { return system(("command -v " + program + " >/dev/null").c_str()) == 0; }

class StockReadersTest : public testing::TestWithParam<CompressionType> {
 protected:
  StockReadersTest() : comparator_(KeyOrder(BytewiseComparator())), policy_(NewBloomFilterPolicy(10)) {
    for (int i = 0; i < 2000; i++) {
      const std::string key = "key" + std::to_string(10000 + i * 7);
      const std::string value(static_cast<size_t>(i % 50) * 5, static_cast<char>('a' + i % 26));
      const uint64_t sequence = static_cast<uint64_t>(100 + i);
      if (i % 11 == 0) {
        versions_.push_back({key, sequence + 5000, kTypeDeletion, ""});
      } else if (i % 5 == 0) {
        versions_.push_back({key, sequence + 5000, kTypeValue, value + "newer"});
      }
      versions_.push_back({key, sequence, kTypeValue, value});
    }
    versions_.push_back({std::string("zero\0bytes\xff", 11), 9, kTypeValue, std::string("\0\x01", 2)});
  }

  // Writes all versions into a file of this name.
  void Write(const std::string& name) {
    const InternalFilterPolicy internal_policy(policy_.get());
    SstFormat format;
    format.comparator = &comparator_;
    format.filter_policy = &internal_policy;
    format.compression = GetParam();
    WritableFile* opened = nullptr;
    ASSERT_OK(Env::Default()->NewWritableFile(name, &opened));
    const std::unique_ptr<WritableFile> file(opened);
    SstWriter writer(format, file.get());
    for (const Version& v : versions_) {
      std::string key;
      AppendInternalKey(&key, v.key, PackTag(v.sequence, v.type));
      writer.Add(key, v.value);
    }
    ASSERT_OK(writer.Finish());
    ASSERT_OK(file->Sync());
    ASSERT_OK(file->Close());
  }

  const test::TestDir dir_;
  const InternalKeyComparator comparator_;
  const std::unique_ptr<const FilterPolicy> policy_;
  std::vector<Version> versions_;
};

const std::string kPeer = test::BinaryDir() + "/tests/compat/table_dump_peer_main";

TEST_P(StockReadersTest, LevelDBReadsEveryEntry) {
  if (access(kPeer.c_str(), X_OK) != 0) GTEST_SKIP() << "needs the real LevelDB (libleveldb-dev), and no sanitizer";
  Write(dir_ / "5.ldb");
  std::string expected;
  for (const Version& v : versions_) {
    std::string key;
    AppendInternalKey(&key, v.key, PackTag(v.sequence, v.type));
    expected += Hex(key) + " " + Hex(v.value) + "\n";
  }
  EXPECT_TRUE(Output(kPeer + " " + dir_ / "5.ldb") == expected);
}

TEST_P(StockReadersTest, LevelDBMakesADatabaseOfOurFiles) {
  if (access(kPeer.c_str(), X_OK) != 0) GTEST_SKIP() << "needs the real LevelDB (libleveldb-dev), and no sanitizer";
  const std::string directory = dir_ / "db";
  ASSERT_OK(Env::Default()->CreateDir(directory));
  Write(directory + "/000005.ldb");
  std::string expected;
  const Version* last = nullptr;
  for (const Version& v : versions_) {
    const bool newest = last == nullptr || last->key != v.key;
    last = &v;
    if (newest && v.type == kTypeValue) expected += Hex(v.key) + " " + Hex(v.value) + "\n";
  }
  EXPECT_TRUE(Output(kPeer + " --repair " + directory) == expected);
  std::filesystem::remove_all(directory);
}

TEST_P(StockReadersTest, RocksDBReadsEveryEntry) {
  if (!IsInstalled("sst_dump")) GTEST_SKIP() << "needs sst_dump (rocksdb-tools)";
  Write(dir_ / "000005.sst");
  const std::string text =
      Output("sst_dump --file=" + dir_ / "000005.sst" + " --command=scan --output_hex --verify_checksum");
  // Lines like 'KEY' seq:9, type:1 => VALUE, among others.
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.find("' seq:") != std::string::npos) lines.push_back(line);
  }
  ASSERT_EQ(lines.size(), versions_.size()) << text.substr(0, 2000);
  for (size_t i = 0; i < lines.size(); i++) {
    const Version& v = versions_[i];
    const char* const digits = "0123456789ABCDEF";
    EXPECT_EQ(lines[i], "'" + Hex(v.key, digits) + "' seq:" + std::to_string(v.sequence) +
                            ", type:" + std::to_string(v.type) + " => " + Hex(v.value, digits));
  }
}

// Zstd is left out: LevelDB 1.23 does not have it, and RocksDB stores it under another number.
INSTANTIATE_TEST_SUITE_P(Compressions, StockReadersTest, testing::Values(kNoCompression, kSnappyCompression));

}  // namespace
}  // namespace miodb
