#include "miodb/filter_policy.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "miodb/slice.h"
#include "src/api/types/table_bloom.h"
#include "src/util/bytes/coding.h"
#include "tests/common/random/random.h"

namespace miodb {
namespace {

using Policy = std::unique_ptr<const FilterPolicy>;

Policy Bloom(int bits_per_key) { return Policy(NewBloomFilterPolicy(bits_per_key)); }

std::string KeyOf(uint32_t i) {
  std::string key;
  PutFixed32(&key, i);
  return key;
}

std::string FilterOf(const FilterPolicy& policy, const std::vector<std::string>& keys) {
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::string filter;
  policy.CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter);
  return filter;
}

TEST(BloomFilterTest, AFilterOfNothingMatchesNothing) {
  const Policy policy = Bloom(10);
  const std::string filter = FilterOf(*policy, {});
  EXPECT_EQ(9u, filter.size());  // 64 bits and the number of probes
  EXPECT_FALSE(policy->KeyMayMatch("hello", filter));
  EXPECT_FALSE(policy->KeyMayMatch("", filter));
}

TEST(BloomFilterTest, HasLevelDbsNameAndBytes) {
  const Policy policy = Bloom(10);
  EXPECT_STREQ("leveldb.BuiltinBloomFilter2", policy->Name());
  const std::string filter = FilterOf(*policy, {"hello", "world"});
  ASSERT_EQ(9u, filter.size());
  EXPECT_EQ(6, filter[8]);
  EXPECT_EQ(0x1040104441004011u, DecodeFixed64(filter.data()));
}

TEST(BloomFilterTest, EveryKeyOfTheSetMatches) {
  for (int bits_per_key : {0, 1, 2, 5, 10, 20, 43, 44, 100}) {
    const Policy policy = Bloom(bits_per_key);
    for (uint32_t n : {1u, 2u, 10u, 100u, 1000u}) {
      std::vector<std::string> keys;
      for (uint32_t i = 0; i < n; ++i) keys.push_back(KeyOf(i * 7919) + std::string(i % 5, 'x'));
      const std::string filter = FilterOf(*policy, keys);
      EXPECT_LE(filter.size(), std::max<size_t>(8, (n * static_cast<size_t>(bits_per_key) + 7) / 8) + 1);
      for (const std::string& key : keys) ASSERT_TRUE(policy->KeyMayMatch(key, filter)) << bits_per_key << " " << n;
    }
  }
}

TEST(BloomFilterTest, AboutOneForeignKeyInAHundredPassesAtTenBits) {
  const Policy policy = Bloom(10);
  for (uint32_t n : {100u, 1000u, 10000u}) {
    std::vector<std::string> keys;
    for (uint32_t i = 0; i < n; ++i) keys.push_back(KeyOf(i));
    const std::string filter = FilterOf(*policy, keys);
    int passed = 0;
    for (uint32_t i = 0; i < 10000; ++i) passed += policy->KeyMayMatch(KeyOf(1000000000 + i), filter);
    EXPECT_LT(passed, 200) << n;
  }
}

// As tables have them: keys of digits, asked for by those that lie between them.
TEST(BloomFilterTest, FiltersOfTablesKeepNeighbouringKeysOut) {
  const std::unique_ptr<const FilterPolicy> policy = NewTableBloomPolicy(10);
  EXPECT_STREQ("leveldb.BuiltinBloomFilter2", policy->Name());
  const auto key = [](int i) {
    char text[32];
    snprintf(text, sizeof(text), "%016d", i);
    return std::string(text);
  };
  for (const int n : {500, 1024, 8192}) {
    std::vector<std::string> keys;
    for (int i = 0; i < n; i++) keys.push_back(key(2 * i));
    const std::string filter = FilterOf(*policy, keys);
    int passed = 0;
    for (const std::string& k : keys) ASSERT_TRUE(policy->KeyMayMatch(k, filter));
    for (int i = 0; i < n; i++) passed += policy->KeyMayMatch(key(2 * i + 1), filter);
    EXPECT_LT(passed, n / 25) << n;
  }
}

TEST(BloomFilterTest, CreateFilterAppends) {
  const Policy policy = Bloom(10);
  const Slice key("hello");
  std::string dst = "before";
  policy->CreateFilter(&key, 1, &dst);
  EXPECT_EQ("before" + FilterOf(*policy, {"hello"}), dst);
}

TEST(BloomFilterTest, ForeignBytesNeverBreakIt) {
  const Policy policy = Bloom(10);
  EXPECT_FALSE(policy->KeyMayMatch("key", ""));
  EXPECT_FALSE(policy->KeyMayMatch("key", "x"));
  EXPECT_TRUE(policy->KeyMayMatch("key", std::string("\0\0\0\0\0\0\0\0\x1f", 9)));  // a format of the future
  Random random(12);
  for (int i = 0; i < 10000; ++i) {
    const std::string bytes = random.Bytes(random.Uniform(20));
    const std::unique_ptr<char[]> exact(new char[bytes.size()]);
    std::memcpy(exact.get(), bytes.data(), bytes.size());
    policy->KeyMayMatch(random.Bytes(random.Uniform(10)), Slice(exact.get(), bytes.size()));
  }
}

}  // namespace
}  // namespace miodb
