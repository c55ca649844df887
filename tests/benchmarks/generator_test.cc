// Keys and values have the published bytes and are the same in every run with the same seed.

#include "benchmarks/db_bench/config/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>

#include "benchmarks/common/draw/random.h"
#include "benchmarks/common/engines/family_name.h"
#include "benchmarks/db_bench/config/config.h"
#include "benchmarks/db_bench/workloads/permutation.h"

namespace miodb::bench {
namespace {

std::string Key(const Config& config, uint64_t number) {
  return std::string(KeyBuffer(KeyFormat(config)).Make(number));
}

TEST(KeyTest, DecimalKeysAreZeroPaddedTo16Digits) {
  const Config config;
  EXPECT_EQ(Key(config, 0), "0000000000000000");
  EXPECT_EQ(Key(config, 42), "0000000000000042");
  EXPECT_EQ(Key(config, 1234567890123456), "1234567890123456");
}

TEST(KeyTest, ABufferForgetsTheDigitsOfTheLastKey) {
  KeyBuffer keys{KeyFormat(Config())};
  EXPECT_EQ(keys.Make(99999), "0000000000099999");
  EXPECT_EQ(keys.Make(1), "0000000000000001");
}

TEST(KeyTest, KeySizeAndPrefixOfDecimalKeys) {
  Config config;
  config.key_size = 20;
  config.key_prefix = 3;
  EXPECT_EQ(Key(config, 7), "aaa00000000000000000007");
}

TEST(KeyTest, BinaryKeysAreBigEndianThenPaddedWithZeroDigits) {
  Config config;
  config.key_format = "binary";
  EXPECT_EQ(Key(config, 0x0102030405060708), std::string("\1\2\3\4\5\6\7\10") + "00000000");
  EXPECT_EQ(Key(config, 255), std::string("\0\0\0\0\0\0\0\377", 8) + "00000000");
  config.key_size = 4;
  EXPECT_EQ(Key(config, 0x01020304), "\1\2\3\4");
}

TEST(KeyTest, TwoSizesKeepTheOrderOfNumbers) {
  Config config;
  for (const char* format : {"decimal", "binary"}) {
    SCOPED_TRACE(format);
    config.key_format = format;
    config.key_size = 17;
    config.second_key_size = 9;
    config.second_key_share = 0.06;
    constexpr uint64_t kKeys = 50000;
    KeyBuffer keys{KeyFormat(config)};
    uint64_t small = 0;
    std::string last;
    for (uint64_t number = 0; number < kKeys; number++) {
      const std::string missing(keys.MakeMissing(number));
      const std::string key(keys.Make(number));
      EXPECT_EQ(key + ".", missing);
      EXPECT_LT(last, key);
      EXPECT_TRUE(key.size() == 9 || key.size() == 17) << key.size();
      small += key.size() == 9;
      last = missing;
    }
    EXPECT_NEAR(static_cast<double>(small), 0.06 * kKeys, 5 * std::sqrt(0.06 * kKeys));
  }
  EXPECT_EQ("keys of --second_key_size=9 bytes have room for 9 bytes of number, --num=10000000000 needs 10",
            (config.key_format = "decimal", KeyFormat(config).Problem(10000000000)));
}

TEST(KeyTest, BinaryKeysMayShareAPrefix) {
  Config config;
  config.key_format = "binary";
  config.key_size = 24;
  config.num = 100;
  config.keys_per_prefix = 10;
  config.prefix_size = 10;
  // 100 keys at 10 a prefix make 10 prefixes; key 37 has prefix 37 mod 10 = 7.
  EXPECT_EQ(Key(config, 37),
            std::string("\0\0\0\0\0\0\0\7", 8) + "00" + std::string("\0\0\0\0\0\0\0\45", 8) + "000000");
  config.prefix_size = 4;
  EXPECT_EQ(Key(config, 37).substr(0, 4), std::string("\0\0\0\7", 4));
}

// Families are chosen by the number, however a key writes it.
TEST(KeyTest, TheNumberIsFoundInAKey) {
  Config config;
  for (const char* format : {"decimal", "binary"}) {
    for (const int64_t prefix : {0, 3, 20}) {
      config.key_format = format;
      config.key_prefix = prefix;
      SCOPED_TRACE(std::string(format) + ", " + std::to_string(prefix));
      for (const uint64_t number : {0, 1, 7, 255, 12345678, 99999999}) {
        EXPECT_EQ(NumberIn(Key(config, number)), number);
        EXPECT_EQ(NumberIn(Key(config, number) + "."), number) << "a missing key";
      }
    }
  }
}

TEST(KeyTest, KeysSortLikeTheirNumbers) {
  for (const char* format : {"decimal", "binary"}) {
    Config config;
    config.key_format = format;
    for (uint64_t number : {0u, 9u, 10u, 255u, 256u, 65535u, 999999u}) {
      EXPECT_LT(Key(config, number), Key(config, number + 1)) << format;
    }
  }
}

TEST(KeyTest, AMissingKeySortsBetweenItsNumberAndTheNext) {
  for (const char* format : {"decimal", "binary"}) {
    Config config;
    config.key_format = format;
    KeyBuffer keys{KeyFormat(config)};
    const std::string missing(keys.MakeMissing(12345));
    EXPECT_EQ(missing.size(), 17u);
    EXPECT_LT(Key(config, 12345), missing) << format;
    EXPECT_LT(missing, Key(config, 12346)) << format;
  }
}

TEST(ValueTest, ThePoolIsLargeEnoughForTheLargestValue) {
  EXPECT_GE(ValuePool(1, 0.5, 100).bytes().size(), size_t{1} << 20);
  EXPECT_GE(ValuePool(1, 0.5, 3 << 20).bytes().size(), size_t{6} << 20);
}

TEST(ValueTest, APieceRepeatsItsShareOfRandomBytes) {
  const ValuePool pool(1, 0.25, 0);
  const std::string_view piece = pool.bytes().substr(0, 100);
  EXPECT_EQ(piece.substr(0, 25), piece.substr(25, 25));
  EXPECT_EQ(piece.substr(0, 25), piece.substr(75, 25));
  EXPECT_NE(piece.substr(0, 25), pool.bytes().substr(100, 25));
  EXPECT_TRUE(std::all_of(pool.bytes().begin(), pool.bytes().end(), [](char c) { return c >= ' ' && c <= '~'; }));
}

TEST(ValueTest, ATinyRatioStillGivesOneRandomByteAPiece) {
  const ValuePool pool(1, 0.001, 0);
  EXPECT_EQ(pool.bytes().substr(0, 100), std::string(100, pool.bytes()[0]));
}

TEST(ValueTest, SuccessiveValuesAreConsecutiveWindowsOfThePool) {
  const ValuePool pool(1, 0.5, 1000);
  ValueCursor values(pool, 5);
  EXPECT_EQ(values.Next(10).data(), pool.bytes().data() + 5);
  EXPECT_EQ(values.Next(10).data(), pool.bytes().data() + 15);
  ValueCursor at_end(pool, pool.bytes().size() - 1);
  EXPECT_EQ(at_end.Next(1000).data(), pool.bytes().data());
  EXPECT_EQ(at_end.Next(0).size(), 0u);
}

TEST(RandomTest, SeedsDifferByBenchmarkThreadAndSeed) {
  std::set<uint64_t> seeds;
  for (uint64_t seed : {0u, 1u}) {
    for (uint64_t stream = 0; stream < 20; stream++) {
      for (uint64_t thread = 0; thread < 20; thread++) seeds.insert(MixSeed(seed, stream, thread));
    }
  }
  EXPECT_EQ(seeds.size(), 800u);
}

TEST(RandomTest, UniformStaysInRangeAndReachesAllOfIt) {
  Random random(1);
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; i++) seen.insert(random.Uniform(10));
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_EQ(*seen.rbegin(), 9u);
  EXPECT_EQ(random.Uniform(1), 0u);
}

// Writing num random keys leaves 1 - 1/e of them distinct.
TEST(RandomTest, RandomFillLeaves63PercentOfTheKeys) {
  Random random(MixSeed(0, 1, 0));
  std::set<uint64_t> seen;
  for (int i = 0; i < 100000; i++) seen.insert(random.Uniform(100000));
  EXPECT_NEAR(static_cast<double>(seen.size()), 63212, 600);
}

TEST(ValueSizesTest, NormalSizesGatherAroundTheMiddleAndStayInside) {
  Config config;
  config.value_size_distribution_type = "normal";
  config.value_size_min = 100;
  config.value_size_max = 700;
  const ValueSizes sizes(config);
  Random random(3);
  double sum = 0;
  int near = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; i++) {
    const size_t size = sizes.Next(&random);
    ASSERT_GE(size, 100u);
    ASSERT_LE(size, 700u);
    sum += static_cast<double>(size);
    if (size >= 300 && size <= 500) near++;
  }
  EXPECT_NEAR(sum / kDraws, 400, 5);
  EXPECT_NEAR(static_cast<double>(near) / kDraws, 0.683, 0.02);  // Within one standard deviation.
}

TEST(PermutationTest, EveryNumberComesOnce) {
  for (uint64_t size : {1u, 2u, 3u, 7u, 64u, 1000u, 4097u}) {
    const Permutation permutation(size, size);
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < size; i++) seen.insert(permutation.At(i));
    EXPECT_EQ(seen.size(), size);
    EXPECT_EQ(*seen.rbegin(), size - 1);
  }
}

TEST(PermutationTest, SeedsGiveOtherOrders) {
  const Permutation first(1000, 1);
  const Permutation second(1000, 2);
  int equal = 0;
  for (uint64_t i = 0; i < 1000; i++) equal += first.At(i) == second.At(i) ? 1 : 0;
  EXPECT_LT(equal, 20);
}

}  // namespace
}  // namespace miodb::bench
