#include "miodb/comparator.h"

#include <gtest/gtest.h>

#include <string>

#include "miodb/slice.h"
#include "tests/common/random/random.h"

namespace miodb {
namespace {

std::string Separator(std::string start, const std::string& limit) {
  BytewiseComparator()->FindShortestSeparator(&start, limit);
  return start;
}

std::string Successor(std::string key) {
  BytewiseComparator()->FindShortSuccessor(&key);
  return key;
}

TEST(ComparatorTest, TheDefaultIsOneObjectWithLevelDbsName) {
  EXPECT_EQ(BytewiseComparator(), BytewiseComparator());
  EXPECT_STREQ("leveldb.BytewiseComparator", BytewiseComparator()->Name());
}

TEST(ComparatorTest, ComparesUnsignedBytes) {
  const Comparator* cmp = BytewiseComparator();
  EXPECT_LT(cmp->Compare("a", "b"), 0);
  EXPECT_LT(cmp->Compare("a", "aa"), 0);
  EXPECT_LT(cmp->Compare("\x7f", "\x80"), 0);
  EXPECT_EQ(cmp->Compare("abc", "abc"), 0);
  EXPECT_GT(cmp->Compare("b", "aaaa"), 0);
}

TEST(ComparatorTest, SeparatorsAreShortWhereThereIsRoom) {
  EXPECT_EQ("ac", Separator("abcdef", "adz"));
  EXPECT_EQ("b", Separator("abcdef", "c"));
  EXPECT_EQ("abcdef", Separator("abcdef", "b"));  // nothing shorter between "a..." and "b" by one byte
  EXPECT_EQ("abc", Separator("abc", "abcdef"));   // a prefix of the limit
  EXPECT_EQ("abc", Separator("abc", "abc"));
  EXPECT_EQ("b", Separator("b", "a"));  // not in order: unchanged
  EXPECT_EQ("a\x80", Separator("a\x7fxyz", "a\x90"));
}

TEST(ComparatorTest, SuccessorsAreShortUnlessAllBytesAreTheLargest) {
  EXPECT_EQ("b", Successor("abcd"));
  EXPECT_EQ("\xff\x02", Successor("\xff\x01xyz"));
  EXPECT_EQ("\xff\xff", Successor("\xff\xff"));
  EXPECT_EQ("", Successor(""));
}

TEST(ComparatorTest, ShortenedKeysKeepTheirPlaceInTheOrder) {
  Random random(11);
  for (int i = 0; i < 50000; ++i) {
    std::string a = random.Bytes(random.Uniform(5));
    std::string b = random.Bytes(random.Uniform(5));
    for (char& c : a) c = "\x00\x01\x7f\x80\xfe\xff"[static_cast<uint8_t>(c) % 6];
    for (char& c : b) c = "\x00\x01\x7f\x80\xfe\xff"[static_cast<uint8_t>(c) % 6];
    if (a > b) a.swap(b);
    const std::string successor = Successor(a);
    ASSERT_GE(Slice(successor).compare(a), 0);
    ASSERT_LE(successor.size(), a.size());
    if (Slice(a).compare(b) >= 0) continue;
    const std::string separator = Separator(a, b);
    ASSERT_GE(Slice(separator).compare(a), 0);
    ASSERT_LT(Slice(separator).compare(b), 0);
    ASSERT_LE(separator.size(), a.size());
  }
}

}  // namespace
}  // namespace miodb
