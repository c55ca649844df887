#include "miodb/slice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "miodb/pinnable_slice.h"

namespace miodb {
namespace {

TEST(SliceTest, TheEmptyOneHasNoBytesButAPointer) {
  const Slice s;
  EXPECT_TRUE(s.empty());
  EXPECT_EQ(0u, s.size());
  EXPECT_NE(nullptr, s.data());
  EXPECT_EQ("", s.ToString());
  EXPECT_EQ(Slice(""), s);
}

TEST(SliceTest, RefersToTheBytesItWasMadeFrom) {
  const std::string str("a\0b", 3);
  const Slice s(str);
  EXPECT_EQ(str.data(), s.data());
  EXPECT_EQ(3u, s.size());
  EXPECT_EQ('\0', s[1]);
  EXPECT_EQ(str, s.ToString());
  EXPECT_EQ(1u, Slice("a\0b").size());  // a C string ends at its zero
}

TEST(SliceTest, OrderIsThatOfUnsignedBytesAndPrefixesComeFirst) {
  const std::vector<std::string> ordered = {
      "", std::string(1, '\0'), std::string("\0a", 2), "a", "aa", "ab", "b", "\x7f", "\x80", "\xff", "\xff\x01"};
  for (size_t i = 0; i < ordered.size(); ++i) {
    for (size_t j = 0; j < ordered.size(); ++j) {
      const int order = Slice(ordered[i]).compare(ordered[j]);
      EXPECT_EQ(i < j, order < 0) << i << " " << j;
      EXPECT_EQ(i > j, order > 0) << i << " " << j;
      EXPECT_EQ(i == j, Slice(ordered[i]) == Slice(ordered[j]));
      EXPECT_EQ(i != j, Slice(ordered[i]) != Slice(ordered[j]));
    }
  }
}

TEST(SliceTest, StartsWithLooksAtThePrefixOnly) {
  const Slice s("hello");
  EXPECT_TRUE(s.starts_with(""));
  EXPECT_TRUE(s.starts_with("hel"));
  EXPECT_TRUE(s.starts_with("hello"));
  EXPECT_FALSE(s.starts_with("help"));
  EXPECT_FALSE(s.starts_with("hello!"));
  EXPECT_FALSE(Slice().starts_with("a"));
}

TEST(SliceTest, RemovePrefixAndClearMoveTheViewOnly) {
  const std::string str = "hello";
  Slice s(str);
  s.remove_prefix(0);
  EXPECT_EQ("hello", s.ToString());
  s.remove_prefix(4);
  EXPECT_EQ("o", s.ToString());
  s.remove_prefix(1);
  EXPECT_TRUE(s.empty());
  s = Slice(str);
  s.clear();
  EXPECT_TRUE(s.empty());
  EXPECT_EQ("hello", str);
}

void CountUnpin(void* arg) { ++*static_cast<int*>(arg); }

TEST(PinnableSliceTest, UnpinsOnceWhenResetMovedOverOrDestroyed) {
  int unpinned = 0;
  {
    PinnableSlice a;
    a.Pin("one", &CountUnpin, &unpinned);
    EXPECT_EQ("one", a.ToString());
    a.Pin("two", &CountUnpin, &unpinned);
    EXPECT_EQ(1, unpinned);
    PinnableSlice b = std::move(a);
    EXPECT_EQ(1, unpinned);
    EXPECT_EQ("two", b.ToString());
    PinnableSlice c;
    c.Pin("three", &CountUnpin, &unpinned);
    c = std::move(b);
    EXPECT_EQ(2, unpinned);
    EXPECT_EQ("two", c.ToString());
    c.Reset();
    EXPECT_EQ(3, unpinned);
    EXPECT_TRUE(c.empty());
    c.Reset();
    c.Pin("four", &CountUnpin, &unpinned);
  }
  EXPECT_EQ(4, unpinned);
}

}  // namespace
}  // namespace miodb
