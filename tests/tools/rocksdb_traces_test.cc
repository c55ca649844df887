// trace_analyzer on traces that RocksDB's own db_bench wrote, where that is installed (Debian package rocksdb-tools):
// every record is there, compared with a decoder that shares nothing with ours.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/common/program.h"
#include "tests/common/test_dir.h"
#include "tests/trace/trace_files.h"

namespace miodb::test {
namespace {

constexpr char kBench[] = "/usr/bin/db_bench";

// Walks the bytes as the format's description lays them out.
class Decoder {
 public:
  explicit Decoder(std::string bytes) : bytes_(std::move(bytes)) {}

  // The lines of trace_analyzer's readable trace. Stops at what it does not understand.
  std::string Lines() {
    while (at_ + 13 <= bytes_.size()) {
      micros_ = Fixed(8);
      const uint64_t type = Fixed(1), length = Fixed(4), next = at_ + length;
      if (type == 2) return lines_;
      if (type != 1) Payload(type);
      if (type != 1 && at_ != next) return lines_ + "a payload of another length\n";
      at_ = next;
      records_++;
    }
    return lines_ + "no end record\n";
  }

  int records() const { return records_ - 1; }  // The first is no call.

 private:
  uint64_t Fixed(int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
      value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes_[at_++])) << (8 * i);
    return value;
  }
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint64_t byte = Fixed(1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string Bytes() {
    const uint64_t length = Varint();
    at_ += length;
    return bytes_.substr(at_ - length, length);
  }

  void Line(const std::string& key, int access, uint64_t family, uint64_t value_bytes) {
    lines_ += "0x";
    for (char c : key) {
      char digits[3];
      std::snprintf(digits, sizeof(digits), "%02X", static_cast<unsigned char>(c));
      lines_ += digits;
    }
    lines_ += " " + std::to_string(access) + " " + std::to_string(family) + " " + std::to_string(value_bytes) + " " +
              std::to_string(micros_) + "\n";
  }

  void Payload(uint64_t type) {
    const uint64_t members = Fixed(8);
    if (type == 3) return Batch();
    if (type == 13) return MultiGet();
    const uint64_t family = Fixed(4);
    Line(Bytes(), type == 4 ? 0 : type == 5 ? 6 : 7, family, 0);
    for (int bound = 6; bound <= 7; bound++) {
      if ((members >> bound & 1) != 0) Bytes();
    }
  }

  void Batch() {
    const uint64_t end = Varint() + at_;
    Fixed(8);
    for (uint64_t left = Fixed(4); left > 0; left--) {
      const uint64_t tag = Fixed(1);
      const std::string key = Bytes();
      if (tag == 1 || tag == 2) {
        Line(key, tag == 1 ? 1 : 5, 0, Bytes().size());
      } else {
        Line(key, tag == 0 ? 2 : 3, 0, 0);
      }
    }
    if (at_ != end) lines_ += "a batch of another length\n";
  }

  void MultiGet() {
    const uint64_t count = Fixed(4);
    Varint();
    std::vector<uint64_t> families;
    for (uint64_t i = 0; i < count; i++) families.push_back(Fixed(4));
    Varint();
    for (uint64_t family : families) Line(Bytes(), 8, family, 0);
  }

  const std::string bytes_;
  size_t at_ = 0;
  uint64_t micros_ = 0;
  int records_ = 0;
  std::string lines_;
};

class RocksDbTracesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (access(kBench, X_OK) != 0) GTEST_SKIP() << "needs RocksDB's db_bench in /usr/bin: Debian package rocksdb-tools";
    std::filesystem::create_directory(dir_ / "out");
    Bench("fillseq", "");
  }

  void Bench(const std::string& benchmark, const std::string& flags) {
    const ProgramResult result =
        RunProgram(std::string(kBench) + " --num=500 --db=" + dir_ / "db" + " --benchmarks=" + benchmark + " " + flags);
    ASSERT_EQ(0, result.code) << result.text;
  }

  const TestDir dir_;
};

TEST_F(RocksDbTracesTest, EveryRecordIsAnalysed) {
  const std::string trace = dir_ / "trace";
  for (const auto& [benchmark, flags] : std::vector<std::pair<std::string, std::string>>{
           {"mixgraph",
            "--reads=3000 --mix_get_ratio=0.5 --mix_put_ratio=0.3 --mix_seek_ratio=0.2 --value_k=0.2615"
            " --value_sigma=25.45 --iter_k=2.517 --iter_sigma=14.236"},
           {"deleterandom", "--deletes=400 --batch_size=4"},
           {"mergerandom", "--merge_operator=put --writes=300"},
           {"multireadrandom", "--reads=400 --batch_size=8 --multiread_batched=true"},
           {"seekrandom", "--reads=300 --max_scan_distance=20 --seek_nexts=3"}}) {
    Bench(benchmark, "--use_existing_db=true --trace_file=" + trace + " " + flags);
    const std::string bytes = ReadFile(trace);
    Decoder decoder(bytes);
    const std::string lines = decoder.Lines();
    ASSERT_GT(decoder.records(), 40) << benchmark;
    const ProgramResult result = RunTool(
        "trace_analyzer --trace_path=" + trace + " --output_dir=" + dir_ / "out" +
        " -convert_to_human_readable_trace -analyze_get -analyze_put -analyze_delete -analyze_merge -analyze_iterator"
        " -analyze_multiget");
    ASSERT_EQ(0, result.code) << benchmark << "\n" << result.text;
    EXPECT_TRUE(lines == ReadFile(dir_ / "out/trace-human_readable_trace.txt")) << benchmark;
    EXPECT_TRUE(result.Says("Total_requests: " + std::to_string(decoder.records()) + " ")) << benchmark << result.text;
    // A changed byte of a time makes a difference: the comparison can fail.
    std::string changed = bytes;
    changed[BeginRecord().size()] ^= 1;
    EXPECT_FALSE(Decoder(changed).Lines() == lines) << benchmark;
  }
}

}  // namespace
}  // namespace miodb::test
