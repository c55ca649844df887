// What a get shows of writes that are in a memtable and not published yet, as those of a group or of other lanes are
// for a moment: nothing, whatever its thread knows of what is published, and whatever is published while it searches.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "miodb/comparator.h"
#include "src/db/open/db_impl.h"
#include "src/db/open/db_parts.h"
#include "tests/common/db_test_base.h"

namespace miodb {

class DBPeer {
 public:
  // REQUIRES: nobody writes.
  static void Publish(DB* db, uint64_t sequence) {
    std::atomic<uint64_t>& last = static_cast<DBImpl*>(db)->tree_->last_sequence;
    ASSERT_NE(sequence, last.load());
    last.store(sequence);
  }
};

}  // namespace miodb

namespace miodb::test {
namespace {

class PublishedTest : public DbTestBase {
 protected:
  void Publish(uint64_t sequence) { DBPeer::Publish(db_.get(), sequence); }
};

TEST_F(PublishedTest, AGetShowsTheNewestVersionThatIs) {
  Open();
  Put("k", "old");
  Put("d", "there");
  Put("k", "new");
  Delete("d");
  Put("n", "first");
  Publish(2);
  for (int i = 0; i < 2; i++) {
    EXPECT_EQ("old", Get("k"));
    EXPECT_EQ("there", Get("d"));
    EXPECT_EQ(kNotFound, Get("n"));
    EXPECT_EQ(kNotFound, Get("nowhere"));
  }
  Publish(3);
  EXPECT_EQ("new", Get("k"));
  EXPECT_EQ("there", Get("d"));
  Publish(5);
  EXPECT_EQ(kNotFound, Get("d"));
  EXPECT_EQ("first", Get("n"));
  EXPECT_EQ("new", Get("k"));
}

// Older versions lie in a table, which the get asks last.
TEST_F(PublishedTest, AlsoWhereAnOlderOneIsInATable) {
  Open();
  Put("k", "old");
  Put("d", "there");
  ASSERT_OK(db_->Flush());
  EXPECT_EQ("old", Get("k"));
  Put("k", "new");
  Delete("d");
  Publish(2);
  EXPECT_EQ("old", Get("k"));
  EXPECT_EQ("there", Get("d"));
  Publish(4);
  EXPECT_EQ("new", Get("k"));
  EXPECT_EQ(kNotFound, Get("d"));
}

TEST_F(PublishedTest, ADeletedRangeHidesNothingBefore) {
  Open();
  Put("k", "old");
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "a", "z"));
  Put("k", "new");
  Publish(1);
  EXPECT_EQ("old", Get("k"));
  Publish(2);
  EXPECT_EQ(kNotFound, Get("k"));
  Publish(3);
  EXPECT_EQ("new", Get("k"));
}

// The bytewise order, which once calls something from the comparisons of the thread that asked for it.
class InterruptingComparator final : public Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override {
    if (std::this_thread::get_id() == thread_.load() && left_-- == 1) std::exchange(call_, nullptr)();
    return a.compare(b);
  }
  const char* Name() const override { return "test.InterruptingComparator"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  // In the comparison of this number from now on, the first being 1.
  void At(int comparison, std::function<void()> call) {
    call_ = std::move(call);
    left_ = comparison;
    thread_.store(std::this_thread::get_id());
  }
  // False: there were not so many comparisons.
  bool HasCalled() {
    thread_.store(std::thread::id());
    return call_ == nullptr;
  }

 private:
  std::atomic<std::thread::id> thread_{};
  mutable std::function<void()> call_;  // this and the next one: of that thread
  mutable int left_ = 0;
};

// Calls something in the middle of a get of "k", which was "old" at first, at each of its comparisons in turn, each
// time with a database of its own.
class InterruptedGetTest : public PublishedTest {
 protected:
  void Interrupt(const std::function<void()>& before, const std::function<void()>& during,
                 const std::vector<std::string>& answers) {
    int comparison = 1;
    for (bool called = true; called; comparison++) {
      InterruptingComparator order;
      options_ = SmallOptions();
      options_.comparator = &order;
      path_ = dir_ / ("db" + std::to_string(comparison));
      Open();
      Put("k", "old");
      before();
      order.At(comparison, during);
      std::string value;
      const Status s = db_->Get(ReadOptions(), "k", &value);
      called = order.HasCalled();
      if (!s.ok()) value = s.IsNotFound() ? kNotFound : s.ToString();
      EXPECT_NE(answers.end(), std::find(answers.begin(), answers.end(), value)) << value << ", " << comparison;
      Close();
    }
    EXPECT_GT(comparison, 2);
  }

  // The put is the first one of a batch that is on its way into the memtable; the next one publishes both.
  void PutHalfOfABatch() {
    Put("k", "half");
    Publish(1);
  }
};

TEST_F(InterruptedGetTest, ShowsNoHalfOfABatch) {
  Interrupt([this] { PutHalfOfABatch(); }, [this] { Put("k", "whole"); }, {"old", "whole"});
}

TEST_F(InterruptedGetTest, ShowsNoHalfOfABatchToAThreadThatHasRead) {
  const auto before = [this] {
    EXPECT_EQ("old", Get("k"));
    PutHalfOfABatch();
  };
  Interrupt(before, [this] { Put("k", "whole"); }, {"old", "whole"});
}

TEST_F(InterruptedGetTest, ShowsNothingOfADeletedRangeThatIsOnItsWay) {
  const auto before = [this] { EXPECT_EQ("old", Get("k")); };
  const auto during = [this] {
    EXPECT_OK(db_->DeleteRange(WriteOptions(), "a", "z"));
    Publish(1);
  };
  Interrupt(before, during, {"old"});
}

// A thread without a slot does not know up to which sequence writes are published.
TEST_F(PublishedTest, EveryThreadFindsWhatIsThere) {
  constexpr int kThreads = 160;
  Open();
  Put("k", "value");
  std::atomic<int> began{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&] {
      EXPECT_EQ("value", Get("k"));
      began++;
      while (began.load() < kThreads) std::this_thread::yield();
      EXPECT_EQ("value", Get("k"));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(PublishedTest, ASnapshotStaysAsItIs) {
  Open();
  Put("k", "old");
  Put("k", "new");
  Publish(1);
  const Snapshot* const snapshot = db_->GetSnapshot();
  Publish(2);
  EXPECT_EQ("new", Get("k"));
  EXPECT_EQ("old", Get("k", snapshot));
  db_->ReleaseSnapshot(snapshot);
}

}  // namespace
}  // namespace miodb::test
