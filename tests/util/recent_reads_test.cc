// RecentReads remembers the reads that it should.

#include "src/util/threads/recent_reads.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "src/util/bytes/hash.h"

namespace miodb::test {
namespace {

uint64_t Thing(uint64_t i) { return Mix64(1, i); }

// How many of the things [0, count) are remembered. The question is a read of each.
size_t CountTouched(RecentReads* reads, uint64_t count) {
  size_t touched = 0;
  for (uint64_t i = 0; i < count; i++) touched += reads->Touch(Thing(i)) ? 1 : 0;
  return touched;
}

TEST(RecentReadsTest, AThingIsRememberedAtItsSecondRead) {
  RecentReads reads(1024);
  EXPECT_FALSE(reads.Touch(Thing(7)));
  EXPECT_TRUE(reads.Touch(Thing(7)));
  EXPECT_TRUE(reads.Touch(Thing(7)));
  EXPECT_FALSE(reads.Touch(Thing(8)));
}

TEST(RecentReadsTest, ThingsThatAreReadOncePushOutNoThingThatIsReadAgain) {
  RecentReads reads(1024);
  reads.Touch(Thing(0));
  ASSERT_TRUE(reads.Touch(Thing(0)));
  EXPECT_FALSE(reads.Touch(Thing(1)));
  for (uint64_t i = 2; i < 100 * 1000; i++) reads.Touch(Thing(i));
  EXPECT_TRUE(reads.Touch(Thing(0)));
  EXPECT_FALSE(reads.Touch(Thing(1))) << "it was read long ago";
}

TEST(RecentReadsTest, TheWindowSaysHowManyAreRemembered) {
  RecentReads reads(8192);
  EXPECT_EQ(reads.memory_bytes(), 8192 * sizeof(uint32_t));
  CountTouched(&reads, 1000);
  EXPECT_GT(CountTouched(&reads, 1000), 700u);
  reads.SetWindow(64);
  CountTouched(&reads, 1000);
  EXPECT_LT(CountTouched(&reads, 1000), 100u);
  reads.SetWindow(size_t{1} << 40);  // more than there is memory for
  CountTouched(&reads, 1000);
  EXPECT_GT(CountTouched(&reads, 1000), 700u);
}

TEST(RecentReadsTest, ASmallChangeOfTheWindowForgetsNothing) {
  RecentReads reads(8192);
  reads.Touch(Thing(0));
  reads.SetWindow(7000);
  EXPECT_TRUE(reads.Touch(Thing(0)));
}

TEST(RecentReadsTest, TheSmallestRemembersAsWell) {
  RecentReads reads(0);
  EXPECT_FALSE(reads.Touch(Thing(0)));
  EXPECT_TRUE(reads.Touch(Thing(0)));
}

}  // namespace
}  // namespace miodb::test
