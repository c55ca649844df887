// Manifest areas of pools that mean harm: reading them costs no more than the pool is long.

#include "src/inspect/image/manifest_image.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace miodb::test {
namespace {

constexpr uint64_t kSecret = 0;  // of a pool without a superblock

class ManifestImageTest : public testing::Test {
 protected:
  static constexpr uint64_t kUnits = 256;
  static constexpr uint64_t kBytes = kPoolHeaderSize + kUnits * kExtentUnit;

  ManifestImageTest() : pool_(static_cast<char*>(std::aligned_alloc(4096, kBytes)), &std::free) {
    memset(pool_.get(), 0, kBytes);
  }

  // At the end of [offset, end).
  void WriteFooter(uint64_t offset, uint64_t end, uint64_t epoch, uint64_t confirmed = 0) {
    AreaFooter footer = {kAreaMagic, 0, offset, end - offset, epoch, epoch, kSecret, 0};
    footer.checksum = AreaFooterChecksum(footer);
    memcpy(pool_.get() + end - kAreaFooterBytes, &footer, sizeof(footer));
    EncodeFixed64(pool_.get() + end - kAreaFooterBytes + kConfirmedInFooter,
                  ConfirmedWord(AreaSeed(kSecret, epoch), confirmed));
  }

  // Whatever lies behind this place of an area as long as the pool: a payload up to the end of the area, and an edit
  // for which there is room. The second word is the first of the next place, so of two places one is none.
  void LookLikeEdits(uint64_t begin) {
    char* const area = pool_.get() + kPoolHeaderSize;
    const uint64_t size = kBytes - kPoolHeaderSize;
    for (uint64_t p = begin; p + kAreaFooterBytes + 32 <= size; p += 16) {
      EncodeFixed64(area + p, size - kAreaFooterBytes - p - kManifestRecordHeader);
      EncodeFixed64(area + p + 8, p / 32);
    }
  }

  std::unique_ptr<PoolImage> Image() const { return PoolImage::Wrap("pool", pool_.get(), kBytes); }

  const std::unique_ptr<char, void (*)(void*)> pool_;
};

TEST_F(ManifestImageTest, OfAreasThatOverlapTheLatestIsRead) {
  const uint64_t begin = kPoolHeaderSize, unit = kExtentUnit;
  WriteFooter(begin, begin + 4 * unit, 5);
  WriteFooter(begin + 2 * unit, begin + 8 * unit, 4);       // the former was written over it
  WriteFooter(begin + 4 * unit, begin + 7 * unit, 3);       // and it over this one
  WriteFooter(begin + 10 * unit, begin + 12 * unit, 6, 0);  // did not come into force
  WriteFooter(begin + 11 * unit, begin + 14 * unit, 6, 3);
  std::vector<std::pair<uint64_t, uint64_t>> epochs;
  for (const ManifestImage& area : FindManifestAreas(*Image(), PoolHeader{})) {
    epochs.emplace_back(area.epoch, area.confirmed);
  }
  // One that is left out takes no place from others.
  EXPECT_EQ((std::vector<std::pair<uint64_t, uint64_t>>{{6, 3}, {5, 0}, {3, 0}}), epochs);
}

TEST_F(ManifestImageTest, AFooterInEveryUnitCostsReadingThePoolOnce) {
  for (const bool rising : {true, false}) {
    for (uint64_t i = 1; i <= kUnits; i++) {
      WriteFooter(kPoolHeaderSize, kPoolHeaderSize + i * kExtentUnit, rising ? i : kUnits + 1 - i);
    }
    uint64_t bytes = 0;
    for (const ManifestImage& area : FindManifestAreas(*Image(), PoolHeader{})) bytes += area.size;
    EXPECT_GT(bytes, 0u);
    EXPECT_LE(bytes, kBytes);
  }
}

TEST_F(ManifestImageTest, AnAreaThatLooksLikeEditsEverywhereIsHashedABoundedNumberOfTimes) {
  const uint64_t size = kBytes - kPoolHeaderSize;
  LookLikeEdits(0);
  WriteFooter(kPoolHeaderSize, kBytes, 1);
  const std::vector<ManifestImage> areas = FindManifestAreas(*Image(), PoolHeader{});
  ASSERT_EQ(1u, areas.size());
  EXPECT_FALSE(areas[0].problems.empty());
  EXPECT_GT(areas[0].hashed_bytes, size) << "it does not look like edits";
  EXPECT_LE(areas[0].hashed_bytes, 18 * size);
}

// As space may that was used for something else before.
TEST_F(ManifestImageTest, WhatLooksLikeEditsBehindTheLastOneThatWasConfirmedIsNoDamage) {
  VersionEdit edit;
  edit.SetNextId(7);
  std::string payload;
  edit.EncodeTo(&payload);
  const uint64_t seed = AreaSeed(kSecret, 1), record_bytes = ManifestRecordBytes(payload.size());
  LookLikeEdits(record_bytes);
  char* const record = pool_.get() + kPoolHeaderSize;
  EncodeFixed64(record, payload.size());
  EncodeFixed64(record + 8, 0);
  EncodeFixed64(record + 16, ManifestRecordChecksum(seed, 0, payload));
  memcpy(record + kManifestRecordHeader, payload.data(), payload.size());
  for (const uint64_t confirmed : {1, 2}) {
    WriteFooter(kPoolHeaderSize, kBytes, 1, confirmed);
    const std::vector<ManifestImage> areas = FindManifestAreas(*Image(), PoolHeader{});
    ASSERT_EQ(1u, areas.size());
    ASSERT_EQ(1u, areas[0].records.size());
    EXPECT_EQ(7u, areas[0].state.next_id);
    EXPECT_GT(areas[0].hashed_bytes, 16 * areas[0].size) << "the walk gave up";
    EXPECT_EQ(confirmed - 1, areas[0].problems.size());
  }
}

}  // namespace
}  // namespace miodb::test
