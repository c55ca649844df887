// The file that outlives a volatile pool: what is read is what was written, or nothing.

#include "src/version/ssd_manifest.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"

namespace miodb::test {
namespace {

SsdManifest Example() {
  SsdManifest manifest;
  manifest.store_id = 0x123456789abcdef0;
  manifest.log_reach = 4000;
  ManifestState state;
  state.comparator = "leveldb.BytewiseComparator";
  state.next_id = 99;
  state.flushed_sequence = 3000;
  for (uint64_t number : {7, 8}) {
    auto meta = std::make_shared<SstMeta>();
    meta->number = number;
    meta->size = 1000 * number;
    meta->entries = 10;
    meta->tombstones = 3;
    meta->fingerprint = number * 77;
    meta->smallest = "a" + std::to_string(number);
    meta->largest = "b" + std::to_string(number);
    state.files[number] = {1, meta};
  }
  manifest.state = state.Snapshot();
  return manifest;
}

TEST(SsdManifestTest, IsReadAsItWasWritten) {
  const SsdManifest written = Example();
  SsdManifest read;
  ASSERT_TRUE(read.DecodeFrom(written.Encode()));
  EXPECT_EQ(written.store_id, read.store_id);
  EXPECT_EQ(written.log_reach, read.log_reach);
  EXPECT_EQ("leveldb.BytewiseComparator", read.state.comparator);
  EXPECT_EQ(99u, read.state.next_id);
  EXPECT_EQ(3000u, read.state.flushed_sequence);
  ASSERT_EQ(2u, read.state.files.size());
  EXPECT_EQ(8000u, read.state.files[1].meta->size);
  EXPECT_EQ("b8", read.state.files[1].meta->largest);
  EXPECT_EQ(written.Encode(), read.Encode());
}

TEST(SsdManifestTest, NoBitMayBeOther) {
  const std::string content = Example().Encode();
  for (size_t i = 0; i < content.size() * 8; i++) {
    std::string flipped = content;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ (1 << (i % 8)));
    SsdManifest manifest;
    EXPECT_FALSE(manifest.DecodeFrom(flipped)) << "bit " << i;
  }
  for (size_t size = 0; size < content.size(); size++) {
    SsdManifest manifest;
    EXPECT_FALSE(manifest.DecodeFrom(content.substr(0, size))) << size << " bytes";
  }
}

TEST(SsdManifestTest, AStateWithTablesOfAPoolIsNone) {
  SsdManifest manifest = Example();
  manifest.state.tables.push_back({1, 0, 1, 4096, 4096});
  SsdManifest read;
  EXPECT_FALSE(read.DecodeFrom(manifest.Encode()));
}

TEST(SsdManifestTest, ErrorsNameTheFile) {
  const TestDir dir;
  const std::string path = dir / "SSD_MANIFEST";
  SsdManifest manifest;
  EXPECT_FALSE(SsdManifest::Read(Env::Default(), path, &manifest).ok());
  ASSERT_OK(WriteStringToFile(Env::Default(), "nonsense", path));
  const Status s = SsdManifest::Read(Env::Default(), path, &manifest);
  EXPECT_STATUS(Corruption, s);
  EXPECT_NE(std::string::npos, s.ToString().find(path));
}

}  // namespace
}  // namespace miodb::test
