#include "src/util/bytes/bloom_filter.h"

#include <gtest/gtest.h>

#include <string>

#include "src/util/bytes/hash.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

// The hash that tables use.
uint32_t HashOf(const std::string& key) { return static_cast<uint32_t>(Hash64(key.data(), key.size()) >> 32); }

std::string Key(uint64_t i) { return "key" + std::to_string(i); }

// The share of absent keys that pass a filter over count keys. Every present one must.
double FalsePositives(uint64_t count, int bits_per_key) {
  BloomFilter filter(count, bits_per_key);
  for (uint64_t i = 0; i < count; i++) filter.Add(HashOf(Key(i)));
  for (uint64_t i = 0; i < count; i++) EXPECT_TRUE(filter.MayContain(HashOf(Key(i)))) << "false negative";
  constexpr uint64_t kProbes = 50000;
  uint64_t passed = 0;
  for (uint64_t i = 0; i < kProbes; i++) passed += filter.MayContain(HashOf(Key(count + i)));
  return static_cast<double>(passed) / kProbes;
}

TEST(FilterTest, NeverSaysNoToAKeyOfItsOwn) {
  for (uint64_t count : {1, 2, 50, 51, 52, 1000}) {
    for (int bits = 1; bits <= 32; bits++) FalsePositives(count, bits);
  }
}

TEST(FilterTest, At10BitsFewerThan3PercentOfAbsentKeysPass) {
  for (uint64_t count : {uint64_t{1000}, uint64_t{10000}, uint64_t{100000}, ByScale(300000, 1000000, 10000000)}) {
    EXPECT_LT(FalsePositives(count, 10), 0.03) << count << " keys";
  }
}

TEST(FilterTest, MoreBitsLetFewerPass) {
  const double at5 = FalsePositives(20000, 5), at10 = FalsePositives(20000, 10), at20 = FalsePositives(20000, 20);
  EXPECT_LT(at5, 0.2);
  EXPECT_LT(at10, at5 / 3);
  EXPECT_LT(at20, at10 / 3);
}

TEST(FilterTest, TakesTheMemoryThatItWasAllowed) {
  for (uint64_t keys : {uint64_t{0}, uint64_t{1}, uint64_t{52}, uint64_t{1000}, uint64_t{123457}}) {
    for (int bits : {1, 10, 32}) {
      const BloomFilter filter(keys, bits);
      EXPECT_GE(filter.memory_bytes() * 8, keys * static_cast<uint64_t>(bits));
      EXPECT_LE(filter.memory_bytes(), keys * static_cast<uint64_t>(bits) / 8 + 64);
    }
  }
}

TEST(FilterTest, AnEmptyFilterLetsNothingPass) {
  const BloomFilter filter(0, 10);
  Random random(1);
  for (int i = 0; i < 1000; i++) EXPECT_FALSE(filter.MayContain(static_cast<uint32_t>(random.Next64())));
}

TEST(FilterTest, ThatTakesItsMemoryAsItIsUsedKeepsItsKeysWhenItTakesTheRest) {
  constexpr uint64_t kKeys = 200000;
  BloomFilter filter(kKeys, 10, BloomFilter::Pages::kAsUsed);
  for (uint64_t i = 0; i < kKeys; i += kKeys / 100) EXPECT_FALSE(filter.MayContain(HashOf(Key(i))));
  for (uint64_t i = 0; i < kKeys; i++) {
    filter.Add(HashOf(Key(i)));
    if (i % (kKeys / 4) == 5) filter.Populate();
  }
  for (uint64_t i = 0; i < kKeys; i++) ASSERT_TRUE(filter.MayContain(HashOf(Key(i)))) << i;
}

TEST(FilterTest, TakesExtremeHashes) {
  BloomFilter filter(1000, 10);
  for (uint32_t hash : {0u, 1u, UINT32_MAX, UINT32_MAX - 1, 1u << 31}) {
    filter.Add(hash);
    EXPECT_TRUE(filter.MayContain(hash));
  }
}

}  // namespace
}  // namespace miodb::test
