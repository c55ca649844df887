#include <gtest/gtest.h>

#include <vector>

#include "src/format/pm_ref.h"
#include "src/format/record.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

constexpr uint64_t kExactBelow = 32 * 1024;
constexpr uint64_t kStep = 64 * 1024;
constexpr uint64_t kMaxSize = uint64_t{4095} << 19;  // just below 2 GiB

constexpr ValueType kTypes[] = {kTypeDeletion, kTypeValue, kTypeMerge, kTypeSingleDeletion};

uint64_t StoredSize(uint64_t size, ValueType type = kTypeValue) { return IndexWord(0, type, size).size(); }

TEST(IndexWordTest, SizesAreExactBelow32KiB) {
  for (uint64_t size = 0; size < kExactBelow; size++) ASSERT_EQ(size, StoredSize(size));
}

TEST(IndexWordTest, LargerSizesRoundUpByLessThanOneInAThousand) {
  const uint64_t most = RecordSize(kMaxKeySize, kMaxValueSize);
  std::vector<uint64_t> sizes = {kExactBelow, kStep - 1, kStep, kStep + 1, most - 1, most, kMaxSize};
  for (uint64_t at = kStep; at < kMaxSize; at += 97 * kStep) {
    for (uint64_t size : {at - 1, at, at + 1}) sizes.push_back(size);
  }
  for (uint64_t power = kExactBelow; power <= kMaxSize; power *= 2) {
    for (uint64_t size : {power - power / 4096, power - 17, power - 16, power - 15, power - 1, power}) {
      sizes.push_back(size);
    }
  }
  for (uint64_t size : sizes) {
    ASSERT_GE(StoredSize(size), size);
    ASSERT_LT(StoredSize(size), size + size / 1000);
    ASSERT_EQ(StoredSize(size), StoredSize(StoredSize(size))) << "a size that is stored is exact";
  }
}

TEST(IndexWordTest, SizesAreMonotone) {
  uint64_t last = 0;
  for (uint64_t size = 0; size < 10 * kStep; size++) {
    ASSERT_GE(StoredSize(size), last) << size;
    last = StoredSize(size);
  }
  for (uint64_t seed : Seeds(5)) {
    Random random(seed);
    for (int i = 0; i < 10000; i++) {
      const uint64_t small = random.Uniform(uint64_t{1} << 30), large = small + random.Uniform(uint64_t{1} << 20);
      ASSERT_LE(StoredSize(small), StoredSize(large)) << small << " " << large;
    }
  }
}

TEST(IndexWordTest, SizesOfOperandsAreExactBelow4KiBAndRoundUpByLessThanOneIn64) {
  for (const ValueType type : {kTypeMerge, kTypeSingleDeletion}) {
    for (uint64_t size = 0; size < 4096; size++) ASSERT_EQ(size, StoredSize(size, type));
    Random random(type);
    for (int i = 0; i < 20000; i++) {
      const uint64_t size = 4096 + random.Skewed(30);
      const uint64_t stored = StoredSize(size, type);
      ASSERT_GE(stored, size);
      ASSERT_LT(stored, size + size / 64);
      ASSERT_EQ(stored, StoredSize(stored, type)) << "a size that is stored is exact";
    }
    const uint64_t most = RecordSize(kMaxKeySize, kMaxValueSize);
    ASSERT_GE(StoredSize(most, type), most);
  }
}

// Index words of older tables keep their meaning: a tombstone of any possible size reads as a tombstone.
TEST(IndexWordTest, TheLongestTombstoneIsOne) {
  const IndexWord word(0, kTypeDeletion, RecordSize(kMaxKeySize, 0));
  EXPECT_EQ(kTypeDeletion, word.type());
  EXPECT_EQ(StoredSize(RecordSize(kMaxKeySize, 0)), word.size());
  EXPECT_FALSE(word.has_kind());
}

TEST(IndexWordTest, HoldsItsThreePartsApart) {
  for (uint64_t seed : Seeds(ByScale(5, 10, 100))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    for (int i = 0; i < 10000; i++) {
      const PmRef ref = random.Uniform(IndexWord::kMaxRef + 1), other = random.Uniform(IndexWord::kMaxRef + 1);
      const ValueType type = kTypes[random.Uniform(4)];
      const uint64_t size = random.Skewed(IsTombstone(type) ? 24 : 30);  // no record is larger by much
      const IndexWord word(ref, type, size);
      ASSERT_EQ(ref, word.ref());
      ASSERT_EQ(type, word.type());
      ASSERT_EQ(StoredSize(size, type), word.size());
      ASSERT_EQ(IsTombstone(type), word.tombstone());
      ASSERT_EQ(type == kTypeMerge || type == kTypeSingleDeletion, word.has_kind());
      const IndexWord copy = IndexWord(word.bits()).WithRef(other);
      ASSERT_EQ(other, copy.ref());
      ASSERT_EQ(type, copy.type());
      ASSERT_EQ(word.size(), copy.size());
    }
  }
}

TEST(IndexWordTest, WhatIsAddedForARecordIsWhatIsTakenAway) {
  Random random(1);
  uint64_t live = 0;
  std::vector<IndexWord> words;
  for (int i = 0; i < 1000; i++) {
    words.emplace_back(random.Uniform(IndexWord::kMaxRef), kTypes[random.Uniform(4)], random.Skewed(24));
    live += words.back().size();
  }
  // Through their bits and with other references, as merges pass them on.
  for (const IndexWord& word : words) live -= IndexWord(word.bits()).WithRef(4096).size();
  EXPECT_EQ(0u, live);
}

TEST(IndexWordTest, ReachesToTheEndOfTheLargestPool) {
  const IndexWord word(IndexWord::kMaxRef, kTypeMerge, RecordSize(kMaxKeySize, kMaxValueSize));
  EXPECT_EQ(IndexWord::kMaxRef, word.ref());
  EXPECT_EQ(kTypeMerge, word.type());
  EXPECT_FALSE(word.tombstone());
  EXPECT_EQ(uint64_t{1} << 47, IndexWord::kMaxRef + 1);
}

}  // namespace
}  // namespace miodb::test
