// Deletions of ranges: what reads make of them in memtables, tables and files, what flushes and merges drop by them,
// how long they are kept, and what they cost.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "miodb/comparator.h"
#include "miodb/merge_operator.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"

namespace miodb::test {
namespace {

class RangeDeletionTest : public DbTestBase {
 protected:
  RangeDeletionTest() {
    options_.merge_operator = append_.get();
    options_.settle_after_idle_ms = 0;
  }
  ~RangeDeletionTest() override { db_.reset(); }

  void DeleteRange(const std::string& begin, const std::string& end) {
    ASSERT_OK(db_->DeleteRange(WriteOptions(), begin, end));
  }
  void Merge(const std::string& key, const std::string& operand) {
    ASSERT_OK(db_->Merge(WriteOptions(), key, operand));
  }
  void Flush() { ASSERT_OK(db_->Flush()); }
  void UseSsd() {
    options_.ssd_path = dir_ / "ssd";
    options_.pool_size = 3 << 20;
    options_.nvm_budget = 1 << 20;
    options_.write_buffer_size = 256 << 10;
  }

  // Every read says that these pairs are there and nothing else.
  void ExpectAll(const std::string& pairs, const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    EXPECT_EQ(pairs, Forward(db_.get(), options));
    EXPECT_EQ(pairs, Backward(db_.get(), options));
  }

  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
};

// The step between two checks of the same promise.
enum class Then { kNothing, kFlush, kReopen, kSettle, kFlushAndReopen };

class RangeDeletionThenTest : public RangeDeletionTest, public testing::WithParamInterface<Then> {
 protected:
  void Then_() {
    if (GetParam() == Then::kFlush || GetParam() == Then::kFlushAndReopen) Flush();
    if (GetParam() == Then::kReopen || GetParam() == Then::kFlushAndReopen) Open();
    if (GetParam() == Then::kSettle) Settle();
  }
};

INSTANTIATE_TEST_SUITE_P(All, RangeDeletionThenTest,
                         testing::Values(Then::kNothing, Then::kFlush, Then::kReopen, Then::kSettle,
                                         Then::kFlushAndReopen));

TEST_P(RangeDeletionThenTest, HidesWhatIsOlderAndNothingElse) {
  Open();
  for (const char* key : {"a", "b", "c", "d", "e"}) Put(key, "1");
  Then_();
  DeleteRange("b", "d");
  ExpectAll("(a->1)(d->1)(e->1)");
  Then_();
  ExpectAll("(a->1)(d->1)(e->1)");
  EXPECT_EQ("1", Get("a"));
  EXPECT_EQ(kNotFound, Get("b"));
  EXPECT_EQ(kNotFound, Get("c"));
  EXPECT_EQ("1", Get("d"));
  Put("c", "2");
  ExpectAll("(a->1)(c->2)(d->1)(e->1)");
  Then_();
  ExpectAll("(a->1)(c->2)(d->1)(e->1)");
  std::vector<std::string> values;
  const std::vector<Status> found = db_->MultiGet(ReadOptions(), {"a", "b", "c"}, &values);
  EXPECT_OK(found[0]);
  EXPECT_TRUE(found[1].IsNotFound());
  EXPECT_OK(found[2]);
}

TEST_P(RangeDeletionThenTest, SnapshotsSeeWhatWasThere) {
  if (GetParam() == Then::kReopen || GetParam() == Then::kFlushAndReopen) GTEST_SKIP() << "snapshots end with a reopen";
  Open();
  for (const char* key : {"a", "b", "c"}) Put(key, "1");
  Then_();
  const Snapshot* const before = db_->GetSnapshot();
  DeleteRange("a", "c");
  const Snapshot* const between = db_->GetSnapshot();
  Then_();
  Put("b", "2");
  DeleteRange("b", "d");
  Then_();
  ExpectAll("(a->1)(b->1)(c->1)", before);
  ExpectAll("(c->1)", between);
  ExpectAll("");
  db_->ReleaseSnapshot(before);
  Then_();
  ExpectAll("(c->1)", between);
  db_->ReleaseSnapshot(between);
  Then_();
  ExpectAll("");
}

TEST_P(RangeDeletionThenTest, IsNoBaseForOperandsAndHidesThoseBelow) {
  Open();
  Put("k", "base");
  Merge("k", "1");
  Then_();
  DeleteRange("a", "z");
  EXPECT_EQ(kNotFound, Get("k"));
  Merge("k", "2");
  Then_();
  EXPECT_EQ("2", Get("k"));
  Merge("k", "3");
  EXPECT_EQ("2,3", Get("k"));
  Then_();
  EXPECT_EQ("2,3", Get("k"));
  ExpectAll("(k->2,3)");
}

TEST_P(RangeDeletionThenTest, GoesWithSingleDeletions) {
  Open();
  Put("k", "1");
  Then_();
  DeleteRange("a", "z");
  Put("k", "2");
  Then_();
  ASSERT_OK(db_->SingleDelete(WriteOptions(), "k"));
  Then_();
  EXPECT_EQ(kNotFound, Get("k"));
  Put("k", "3");
  Then_();
  ExpectAll("(k->3)");
}

TEST_P(RangeDeletionThenTest, AreAppliedInTheOrderOfABatch) {
  Open();
  WriteBatch batch;
  batch.Put("a", "1");
  batch.Put("b", "1");
  batch.DeleteRange("a", "c");
  batch.Put("b", "2");
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  Then_();
  ExpectAll("(b->2)");
}

TEST_F(RangeDeletionTest, BoundsAreChecked) {
  Open();
  Put("b", "1");
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), "c", "a").IsInvalidArgument());
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), "a", std::string((64 << 10) + 1, 'x')).IsInvalidArgument());
  DeleteRange("b", "b");
  EXPECT_EQ("1", Get("b"));
  Flush();
  Open();
  EXPECT_EQ("1", Get("b"));
  EXPECT_EQ(0u, Counter("range-deletions"));
  WriteBatch batch;
  batch.Put("x", "1");
  batch.DeleteRange("c", "a");
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
  EXPECT_EQ(kNotFound, Get("x"));
}

TEST_F(RangeDeletionTest, AMemtableOfNothingElseIsFlushed) {
  Open();
  Put("b", "1");
  Flush();
  DeleteRange("a", "c");
  Flush();
  Open();
  EXPECT_EQ(kNotFound, Get("b"));
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_EQ(0u, Counter("entries"));
  EXPECT_EQ(0u, Counter("range-deletions"));
}

TEST_F(RangeDeletionTest, KeyMayExistKnowsRangesOfMemtables) {
  Open();
  Put("b", "1");
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), "b"));
  DeleteRange("a", "c");
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), "b"));
  Put("b", "2");
  std::string value;
  bool found = false;
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), "b", &value, &found));
  EXPECT_TRUE(found);
  EXPECT_EQ("2", value);
}

// Every table that the range covers goes without being read, those on its edges are rewritten, and nothing of it is
// left.
TEST_F(RangeDeletionTest, TablesThatAreHiddenGoUnreadWithTheirSpace) {
  const uint64_t count = ByScale(20000, 100000, 1000000);
  Open();
  Fill(count, 100);
  Settle();
  const uint64_t live = Counter("live-bytes");
  DeleteRange(FilledKey(count / 100), FilledKey(count));
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_LT(Counter("live-bytes"), live / 20);
  EXPECT_EQ(count / 100, Counter("entries"));
  EXPECT_EQ(0u, Counter("range-records-read"));
  EXPECT_GT(Counter("range-tables-dropped") + Counter("range-entries-dropped"), 0u);
  EXPECT_EQ(0u, Counter("range-deletions"));
  CheckFilled(count / 100, 100);
  Open();
  CheckFilled(count / 100, 100);
}

TEST_F(RangeDeletionTest, MergesDropWhatIsHiddenWithoutReadingIt) {
  options_.level_trigger = 2;
  Open();
  for (int round = 0; round < 6; round++) {
    for (int i = 0; i < 500; i++) Put(FilledKey(static_cast<uint64_t>(i)), "value");
    DeleteRange(FilledKey(100), FilledKey(400));
    Put(FilledKey(250), "new");
    Flush();
  }
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_EQ(201u, Counter("entries"));
  EXPECT_EQ(0u, Counter("range-records-read"));
  EXPECT_EQ("new", Get(FilledKey(250)));
  EXPECT_EQ(kNotFound, Get(FilledKey(251)));
}

// Many ranges, some of them over others, against the same made of single keys.
TEST_F(RangeDeletionTest, ManyRangesAreKeptApart) {
  constexpr uint64_t kCount = 3000;
  Open();
  Fill(3 * kCount, 10);
  Flush();
  for (uint64_t i = 0; i < kCount; i++) DeleteRange(FilledKey(3 * i), FilledKey(3 * i + 1));
  for (const bool flushed : {false, true}) {
    if (flushed) Flush();
    uint64_t found = 0;
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      if (found % 2 == 0) {
        ASSERT_EQ(FilledKey(found / 2 * 3 + 1), it->key().ToString());
      }
      found++;
    }
    EXPECT_EQ(2 * kCount, found);
    for (it->SeekToLast(); it->Valid(); it->Prev()) found--;
    EXPECT_EQ(0u, found);
    for (uint64_t i = 0; i < 3 * kCount; i += 97) EXPECT_EQ(i % 3 != 0, Get(FilledKey(i)) != kNotFound) << i;
  }
}

// The memtable takes all 5,000 ranges and is not sealed for the memory of views.
TEST_F(RangeDeletionTest, BatchOfManyRanges) {
  constexpr uint64_t kRanges = 5000;
  options_.write_buffer_size = 8 << 20;
  Open();
  Fill(2 * kRanges, 10);
  Flush();
  const uint64_t flushes = Counter("flushes");
  WriteBatch batch;
  for (uint64_t i = 0; i < kRanges; i++) batch.DeleteRange(FilledKey(2 * i), FilledKey(2 * i + 1));
  batch.Put(FilledKey(2), "new");
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(0u, Counter("immutable-memtables"));
  EXPECT_EQ(flushes, Counter("flushes"));
  const auto check = [&] {
    for (uint64_t i = 0; i < 2 * kRanges; i += 97) EXPECT_EQ(i % 2 != 0, Get(FilledKey(i)) != kNotFound) << i;
    EXPECT_EQ("new", Get(FilledKey(2)));
    uint64_t found = 0;
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) found++;
    EXPECT_EQ(kRanges + 1, found);
  };
  check();
  Open();
  check();
  Flush();
  check();
}

// The bytewise order, by which only the thread that made it compares while the gate is shut: so no flush ends.
class GatedOrder final : public Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override {
    if (std::this_thread::get_id() != maker_) shut_.wait(true);
    return a.compare(b);
  }
  const char* Name() const override { return "gated order"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  void Open() {
    shut_.store(false);
    shut_.notify_all();
  }

 private:
  const std::thread::id maker_ = std::this_thread::get_id();
  std::atomic<bool> shut_{true};
};

class GatedRangesTest : public RangeDeletionTest {
 protected:
  GatedRangesTest() { options_.comparator = &order_; }
  ~GatedRangesTest() override {
    order_.Open();
    db_.reset();
  }

  GatedOrder order_;
};

TEST_F(GatedRangesTest, AMemtableIsSealedForItsRangesThoughAnotherOneWaits) {
  constexpr uint64_t kMost = 6000;  // four memtables, which is as many as may wait, take no more
  options_.log_chunk_size = 4 << 20;
  options_.write_buffer_size = 64 << 20;
  Open();
  uint64_t ranges = 0;
  for (; ranges < kMost && Counter("immutable-memtables") < 2; ranges++) {
    DeleteRange(FilledKey(2 * ranges), FilledKey(2 * ranges + 1));
  }
  EXPECT_GE(Counter("immutable-memtables"), 2u) << ranges << " ranges";
  order_.Open();
  Flush();
}

TEST_F(RangeDeletionTest, ReachFilesOnSsd) {
  UseSsd();
  Open();
  Fill(20000, 100);
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_GT(Counter("drains"), 0u);
  DeleteRange(FilledKey(100), FilledKey(19900));
  const auto check = [this] {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    uint64_t found = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) found++;
    EXPECT_OK(it->status());
    EXPECT_EQ(200u, found);
    EXPECT_EQ(kNotFound, Get(FilledKey(10000)));
    EXPECT_NE(kNotFound, Get(FilledKey(19900)));
  };
  check();
  Open();
  check();
  ASSERT_OK(db_->WaitForIdle());
  check();
  db_->CompactRange(nullptr, nullptr);
  check();
  Fill(20000, 100, 1);
  ASSERT_OK(db_->WaitForIdle());
  CheckFilled(20000, 100, 1);
}

TEST_F(RangeDeletionTest, RepairsKeepThemAndBringNothingBack) {
  for (const LogMode mode : {kLogPmem, kLogFile}) {
    options_.log_mode = mode;
    path_ = dir_ / ("db" + std::to_string(static_cast<int>(mode)));
    Open();
    for (const char* key : {"a", "b", "c", "d"}) Put(key, "1");
    Flush();
    DeleteRange("a", "b");
    Flush();
    Put("a", "2");
    DeleteRange("c", "d");
    Put("cc", "3");
    Close();
    ASSERT_OK(RepairDB(path_, options_));
    Open();
    ExpectAll("(a->2)(b->1)(cc->3)(d->1)");
  }
}

}  // namespace
}  // namespace miodb::test
