// What log chunks leave for copies of jobs that run.

#include "src/db/copy_room.h"

#include <gtest/gtest.h>

#include "compaction/scheduler.h"

namespace miodb::test {
namespace {

TEST(CopyRoomTest, IsThereWhileAJobThatCopiesRuns) {
  CopyRoom room;
  room.Mark(1000);
  EXPECT_EQ(0u, room.Bytes());
  room.Begin(50);
  EXPECT_EQ(1050u, room.Bytes());
  room.Take(300);
  EXPECT_EQ(750u, room.Bytes());
  room.End();
  EXPECT_EQ(0u, room.Bytes());
}

TEST(CopyRoomTest, OfSeveralJobsIsForWhatIsLeftOfAllMarks) {
  CopyRoom room;
  room.Mark(1000);
  room.Begin(50);
  room.Begin(20);
  room.Take(300);
  EXPECT_EQ(750u, room.Bytes());
  room.End();
  EXPECT_EQ(750u, room.Bytes());
  room.End();
  EXPECT_EQ(0u, room.Bytes());
  room.Begin(20);
  EXPECT_EQ(720u, room.Bytes()) << "what the first job left does not concern those after it";
}

TEST(CopyRoomTest, HasAnEndWhereMoreIsCopiedThanWasMarked) {
  CopyRoom room;
  room.Mark(100);
  room.Begin(50);
  room.Take(300);
  EXPECT_EQ(50u, room.Bytes());
  room.Mark(100);
  EXPECT_EQ(150u, room.Bytes());
}

TEST(CopyRoomTest, IsNotLeftToWriters) {
  SpaceFigures figures;
  figures.free = 1000;
  figures.reserve = 300;
  figures.index_reserve = 100;
  EXPECT_EQ(700u, figures.Left());
  figures.copies = 150;
  EXPECT_EQ(700u, figures.Left()) << "the reserve covers it";
  figures.copies = 400;
  EXPECT_EQ(500u, figures.Left());
  figures.copies = 2000;
  EXPECT_EQ(0u, figures.Left());
}

}  // namespace
}  // namespace miodb::test
