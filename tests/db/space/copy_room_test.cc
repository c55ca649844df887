// Space that log chunks leave for copies of running jobs.

#include "src/db/space/copy_room.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "compaction/policy/scheduler.h"
#include "miodb/compaction_filter.h"
#include "src/db/open/db_impl.h"
#include "src/db/open/db_parts.h"
#include "tests/common/db_test_base.h"
#include "tests/common/random/option_sets.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"

namespace miodb {

class DBPeer {
 public:
  static SpaceFigures Figures(DBImpl* db) {
    DbLock lock(db->control_.get());
    return db->space_->Figures();
  }
};

namespace test {
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
  EXPECT_EQ(0u, figures.Held());
  figures.copies = 150;
  EXPECT_EQ(0u, figures.Held()) << "the reserve covers it";
  figures.copies = 400;
  EXPECT_EQ(200u, figures.Held());
  figures.copies = 2000;
  EXPECT_EQ(figures.Left(), figures.Held());
}

// A filter is called in the middle of a job, for records that it copies.
class Watcher : public CompactionFilter {
 public:
  const char* Name() const override { return "Watcher"; }
  Decision Filter(int, const Slice&, ValueKind, const Slice&, std::string*) const override {
    if (db != nullptr) seen.push_back(DBPeer::Figures(db));
    return Decision::kKeep;
  }

  DBImpl* db = nullptr;
  mutable std::vector<SpaceFigures> seen;
};

TEST(CopyRoomTest, OfACollectionIsThereFromItsBeginningToItsEndAndShrinksAsItCopies) {
  constexpr uint64_t kKeys = 2000, kValueBytes = 1000;
  Watcher watcher;
  Options options = SmallOptions();
  options.compaction_filter = &watcher;
  options.lazy_copy_limit = 0;  // only what is marked is copied
  options.pool_size = 8 << 20;
  DBImpl::Hooks hooks;
  hooks.background = BackgroundMode::kBySteps;
  TestDir dir;
  std::unique_ptr<DBImpl> db;
  ASSERT_OK(DBImpl::Open(options, dir / "db", hooks, &db));
  const std::string value(kValueBytes, 'v');
  for (uint64_t i = 0; i < kKeys; i++) ASSERT_OK(db->Put(WriteOptions(), FilledKey(i), value));
  ASSERT_OK(db->WaitForIdle());
  // A third of each extent becomes garbage.
  for (uint64_t i = 0; i < kKeys; i += 3) ASSERT_OK(db->Put(WriteOptions(), FilledKey(i), value));
  watcher.db = db.get();
  ASSERT_OK(db->WaitForIdle());
  watcher.db = nullptr;
  uint64_t marked = 0, least = UINT64_MAX;
  for (const SpaceFigures& figures : watcher.seen) {
    if (figures.copies == 0) continue;  // another job
    if (marked == 0) marked = figures.copies;
    EXPECT_LE(figures.copies, marked);
    least = std::min(least, figures.copies);
  }
  EXPECT_LT(kKeys / 10 * kValueBytes, marked);
  EXPECT_LT(least, marked / 2) << "what was copied is in it no more";
  EXPECT_EQ(0u, DBPeer::Figures(db.get()).copies);
}

}  // namespace
}  // namespace test
}  // namespace miodb
