#include "src/util/bytes/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <set>
#include <string>

namespace miodb {
namespace {

// The numbers below are in stored files: they may never change.

TEST(HashTest, Hash64IsXxh3) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes.push_back(static_cast<char>(i));
  EXPECT_EQ(0x2d06800538d394c2u, Hash64("", 0));
  EXPECT_EQ(0x78af5f94892f3950u, Hash64("abc", 3));
  EXPECT_EQ(0x6b4467b443c76228u, Hash64("abc", 3, 1));
  EXPECT_EQ(0x004e4f921a64bd1cu, Hash64(bytes.data(), 100));
  EXPECT_EQ(0x1562adaee96cf4d1u, Hash64(bytes.data(), 300, 42));
}

TEST(HashTest, Hash64DoesNotDependOnAlignment) {
  const std::string text = "the same bytes at different places, long enough for every path of the function";
  for (size_t n = 0; n <= text.size(); ++n) {
    for (size_t shift = 1; shift < 8; ++shift) {
      const std::string moved = std::string(shift, 'x') + text;
      ASSERT_EQ(Hash64(text.data(), n, 7), Hash64(moved.data() + shift, n, 7));
    }
  }
}

TEST(HashTest, Mix64HasFixedValues) {
  EXPECT_EQ(0xa706dd2f4d197e6fu, Mix64(0, 0));
  EXPECT_EQ(0x2a98f501af37e97fu, Mix64(0, 1));
  EXPECT_EQ(0x5e41ab087439611eu, Mix64(1, 0));
  EXPECT_EQ(0xf98148bdd1ae1817u, Mix64(0x0123456789abcdef, 0xfedcba9876543210));
}

TEST(HashTest, Mix64ChangesAboutHalfOfTheBitsForEveryBitOfEitherWord) {
  constexpr int kRounds = 500;
  for (int word = 0; word < 2; ++word) {
    for (int bit = 0; bit < 64; ++bit) {
      int changed = 0;
      for (uint64_t i = 0; i < kRounds; ++i) {
        const uint64_t flip = uint64_t{1} << bit;
        const uint64_t other = word == 0 ? Mix64(i ^ flip, i + 1) : Mix64(i, (i + 1) ^ flip);
        changed += std::popcount(Mix64(i, i + 1) ^ other);
      }
      EXPECT_NEAR(32.0, static_cast<double>(changed) / kRounds, 1.5) << word << " " << bit;
    }
  }
}

TEST(HashTest, Mix64TellsSmallPairsApart) {
  std::set<uint64_t> seen;
  for (uint64_t a = 0; a < 300; ++a) {
    for (uint64_t b = 0; b < 300; ++b) EXPECT_TRUE(seen.insert(Mix64(a, b)).second) << a << " " << b;
  }
}

}  // namespace
}  // namespace miodb
