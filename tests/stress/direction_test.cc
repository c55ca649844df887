// Iterators that turn round among keys that are being inserted: a memtable grows under its iterators, and what is new
// must neither be seen nor make a turn land on the wrong side.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

// Few, so that most of what is inserted lies where an iterator is about to turn.
constexpr uint64_t kOldKeys = 6;
constexpr uint64_t kGap = 1000;  // from one old key to the next
// More than CPUs, so that an iterator is stopped in the middle of a turn now and then.
constexpr uint64_t kWriters = 3;

class DirectionTest : public DbTestBase {
 protected:
  // Old keys lie in a table and in the memtable in turn, so that every turn changes the source.
  void SetUp() override {
    options_.write_buffer_size = 32 << 10;  // a memtable is young most of the time
    Open();
    for (uint64_t i = 0; i < kOldKeys; i += 2) Put(FilledKey(i * kGap), "old");
    ASSERT_OK(db_->Flush());
    for (uint64_t i = 1; i < kOldKeys; i += 2) Put(FilledKey(i * kGap), "old");
    snapshot_ = db_->GetSnapshot();
  }

  void TearDown() override {
    stop_.store(true);
    for (std::thread& writer : writers_) writer.join();
    db_->ReleaseSnapshot(snapshot_);
  }

  // Inserts new keys between the old ones until the test ends.
  void StartWriters(uint64_t seed) {
    for (uint64_t w = 0; w < kWriters; w++) {
      writers_.emplace_back([this, s = seed * kWriters + w] {
        Random random(s);
        while (!stop_.load()) {
          EXPECT_OK(db_->Put(WriteOptions(), FilledKey(random.Uniform(kOldKeys * kGap)), ""));
        }
      });
    }
  }

  ReadOptions AtSnapshot() const {
    ReadOptions options;
    options.snapshot = snapshot_;
    return options;
  }

  static void ExpectAt(const Iterator& it, uint64_t i) {
    ASSERT_TRUE(it.Valid()) << i << ": " << it.status().ToString();
    ASSERT_EQ(FilledKey(i * kGap), it.key().ToString());
    ASSERT_EQ("old", it.value().ToString());
  }

  bool InTime() const { return std::chrono::steady_clock::now() < end_ && !HasFatalFailure(); }

  const Snapshot* snapshot_ = nullptr;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> writers_;
  const std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(ByScale(1500, 5000, 60000));
};

TEST_F(DirectionTest, EveryTurnLandsOnTheNeighbour) {
  const uint64_t seed = Seeds(1).front();
  SCOPED_TRACE(Repeat(seed));
  StartWriters(seed);
  Random random(seed);
  while (InTime()) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(AtSnapshot()));
    uint64_t at = 1 + random.Uniform(kOldKeys - 2);
    it->Seek(FilledKey(at * kGap));
    ExpectAt(*it, at);
    for (int i = 0; i < 20 && !HasFatalFailure(); i++) {
      if (at > 0 && (at + 1 == kOldKeys || random.OneIn(2))) {
        it->Prev();
        at--;
      } else {
        it->Next();
        at++;
      }
      ExpectAt(*it, at);
    }
  }
}

TEST_F(DirectionTest, TheLastKeyBelowABoundIsBelowIt) {
  const uint64_t seed = Seeds(1).front();
  SCOPED_TRACE(Repeat(seed));
  StartWriters(seed);
  Random random(seed);
  while (InTime()) {
    const uint64_t bound = 1 + random.Uniform(kOldKeys - 1);
    const std::string upper = FilledKey(bound * kGap);
    const Slice upper_slice = upper;
    ReadOptions options = AtSnapshot();
    options.iterate_upper_bound = &upper_slice;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    for (int i = 0; i < 20 && !HasFatalFailure(); i++) {
      it->SeekToLast();
      ExpectAt(*it, bound - 1);
    }
  }
}

}  // namespace
}  // namespace miodb::test
