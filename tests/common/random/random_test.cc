#include "tests/common/random/random.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <vector>

namespace miodb {
namespace {

TEST(RandomTest, OneSeedGivesOneSequence) {
  Random zero(0);
  EXPECT_EQ(0x99ec5f36cb75f2b4u, zero.Next64());
  EXPECT_EQ(0xbf6e1f784956452au, zero.Next64());
  EXPECT_EQ(0x1a5f849d4933e6e0u, zero.Next64());
  Random one(1);
  EXPECT_EQ(0xb3f2af6d0fc710c5u, one.Next64());
}

TEST(RandomTest, NeighbouringSeedsAreUnrelated) {
  int differing_bits = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    differing_bits += std::popcount(Random(seed).Next64() ^ Random(seed + 1).Next64());
  }
  EXPECT_NEAR(32.0, differing_bits / 1000.0, 1.0);
}

TEST(RandomTest, UniformStaysInRangeAndReachesAllOfIt) {
  Random random(7);
  std::vector<int> seen(10);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t v = random.Uniform(10);
    ASSERT_LT(v, 10u);
    ++seen[v];
  }
  for (int count : seen) EXPECT_NEAR(10000, count, 500);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(0u, random.Uniform(1));
  EXPECT_LT(random.Uniform(UINT64_MAX), UINT64_MAX);
}

TEST(RandomTest, OneInIsTrueAsOftenAsItSays) {
  Random random(8);
  int hits = 0;
  for (int i = 0; i < 100000; ++i) hits += random.OneIn(100);
  EXPECT_NEAR(1000, hits, 150);
  EXPECT_TRUE(random.OneIn(1));
}

TEST(RandomTest, SkewedPrefersSmallNumbersWithinItsRange) {
  Random random(9);
  int small = 0;
  uint64_t largest = 0;
  for (int i = 0; i < 100000; ++i) {
    const uint64_t v = random.Skewed(10);
    ASSERT_LT(v, 1024u);
    small += v < 32;
    largest = std::max(largest, v);
  }
  EXPECT_GT(small, 50000);
  EXPECT_GT(largest, 1000u);
  EXPECT_EQ(0u, random.Skewed(0));
  random.Skewed(63);
}

TEST(RandomTest, BytesHasTheLengthAskedForAndAnyValue) {
  Random random(10);
  for (size_t n = 0; n < 40; ++n) EXPECT_EQ(n, random.Bytes(n).size());
  std::set<char> seen;
  for (char c : random.Bytes(10000)) seen.insert(c);
  EXPECT_EQ(256u, seen.size());
}

}  // namespace
}  // namespace miodb
