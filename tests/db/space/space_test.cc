// How much of the pool the data takes, and that the calls that settle a database return.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKiB = 1024;

class SpaceTest : public DbTestBase {
 protected:
  SpaceTest() {
    options_.write_buffer_size = 256 * kKiB;
    options_.partition_size = 1024 * kKiB;
  }

  static uint64_t LiveBytes(uint64_t count, size_t value_bytes) { return count * (FilledKey(0).size() + value_bytes); }

  // The pool's use, said with all that explains it. A background thread that is just done may hold on to some of it for
  // a moment.
  void ExpectUsedAtMost(uint64_t bound) {
    for (int i = 0; i < 100 && Counter("pool-bytes-used") > bound; i++) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_LE(Counter("pool-bytes-used"), bound) << Property("miodb.counters") << Property("leveldb.stats");
  }

  // The most space of an empty database with these options: two memtables' log chunks and the manifest.
  uint64_t EmptyBound() const { return 2 * options_.write_buffer_size + 256 * kKiB; }
};

TEST_F(SpaceTest, OfRandomlyFilledDataIsAtMost130Percent) {
  const uint64_t count = ByScale(20000, 20000, 500000);
  Open();
  Fill(count, kKiB);
  Settle();
  ExpectUsedAtMost(LiveBytes(count, kKiB) * 13 / 10);
  CheckFilled(count, kKiB);
  Open();
  Settle();
  ExpectUsedAtMost(LiveBytes(count, kKiB) * 13 / 10);
}

TEST_F(SpaceTest, AfterFiveOverwritesIsAtMost160Percent) {
  const uint64_t count = ByScale(15000, 15000, 500000);
  Open();
  for (uint64_t round = 0; round < 6; round++) Fill(count, kKiB, round);
  Settle();
  ExpectUsedAtMost(LiveBytes(count, kKiB) * 16 / 10);
  CheckFilled(count, kKiB, 5);
}

TEST_F(SpaceTest, AfterFiveOverwritesOfLargeValuesIsAtMost160Percent) {
  const uint64_t count = ByScale(1000, 1000, 20000);
  constexpr size_t kValue = 16 * kKiB;
  Open();
  for (uint64_t round = 0; round < 6; round++) Fill(count, kValue, round);
  Settle();
  ExpectUsedAtMost(LiveBytes(count, kValue) * 16 / 10);
  CheckFilled(count, kValue, 5);
}

TEST_F(SpaceTest, IsGivenBackWhenEverythingIsDeleted) {
  for (const size_t value_bytes : {size_t{20}, size_t{kKiB}, size_t{100 * kKiB}}) {
    SCOPED_TRACE(value_bytes);
    Open();
    const uint64_t count = value_bytes > 10 * kKiB ? 200 : 10000;
    Fill(count, value_bytes);
    for (uint64_t i = 0; i < count; i++) Delete(FilledKey(i));
    Settle();
    ExpectUsedAtMost(EmptyBound());
    EXPECT_EQ(0u, Counter("live-bytes"));
    EXPECT_EQ("", Forward(db_.get()));
    Open();
    Settle();
    ExpectUsedAtMost(EmptyBound());
  }
}

// Everything is in the repository when the snapshot goes, and nothing is written any more.
TEST_F(SpaceTest, IsGivenBackWhenASnapshotIsReleased) {
  Open();
  constexpr uint64_t kCount = 2000;
  Fill(kCount, 1000);
  Settle();
  const Snapshot* const snapshot = db_->GetSnapshot();
  for (uint64_t i = 0; i < kCount; i++) Delete(FilledKey(i));
  Settle();
  EXPECT_EQ(2 * kCount, Counter("entries"));
  db_->ReleaseSnapshot(snapshot);
  Settle();
  EXPECT_EQ(0u, Counter("entries"));
  ExpectUsedAtMost(EmptyBound());
}

TEST_F(SpaceTest, IsGivenBackWhenTheDeletesFollowAReopen) {
  Open();
  Fill(10000, kKiB);
  Settle();
  Open();
  for (uint64_t i = 0; i < 10000; i++) Delete(FilledKey(i));
  Open();
  Settle();
  ExpectUsedAtMost(EmptyBound());
}

TEST_F(SpaceTest, IsGivenBackWhenIteratorsAndPinsLetGo) {
  Open();
  Fill(5000, kKiB);
  Settle();
  {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    PinnableSlice pinned;
    ASSERT_OK(db_->Get(ReadOptions(), FilledKey(7), &pinned));
    for (uint64_t i = 0; i < 5000; i++) Delete(FilledKey(i));
    Settle();
    EXPECT_GE(Counter("pool-bytes-used"), LiveBytes(5000, kKiB));
    EXPECT_TRUE(it->value() == Slice(FilledValue(0, kKiB, 0)));
    EXPECT_TRUE(pinned == Slice(FilledValue(7, kKiB, 0)));
  }
  Settle();
  ExpectUsedAtMost(EmptyBound());
}

TEST_F(SpaceTest, DoesNotGrowWithTheNumberOfReopens) {
  Open();
  Fill(3000, kKiB);
  Settle();
  const uint64_t before = Counter("pool-bytes-used");
  for (int i = 0; i < 40; i++) {
    Open();
    Put("one", std::to_string(i));
  }
  Settle();
  ExpectUsedAtMost(before + EmptyBound());
}

TEST_F(SpaceTest, OfTheFileIsReusedByLaterWrites) {
  Open();
  Fill(5000, kKiB, 0);
  for (uint64_t round = 1; round < 4; round++) Fill(5000, kKiB, round);
  Settle();
  const uint64_t file = Counter("pool-bytes-file");
  for (uint64_t round = 4; round < ByScale(20, 40, 200); round++) {
    Fill(5000, kKiB, round);
    Settle();
  }
  EXPECT_LE(Counter("pool-bytes-file"), file + 2 * LiveBytes(5000, kKiB));
}

TEST_F(SpaceTest, WriteAmplificationAt1KiBIsAtMost2Point6) {
  const uint64_t count = ByScale(40000, 40000, 500000);
  options_.write_buffer_size = 1024 * kKiB;
  options_.partition_size = 4096 * kKiB;
  Open();
  Fill(count, kKiB);
  Settle();
  const double ratio =
      static_cast<double>(Counter("nvm-bytes-total")) / static_cast<double>(Counter("user-bytes-written"));
  EXPECT_LE(ratio, 2.6);
}

class SettleTest : public DbTestBase {
 protected:
  void SetUp() override { Open(); }
};

TEST_F(SettleTest, CallsReturnOnAnEmptyDatabase) {
  EXPECT_OK(db_->Flush());
  EXPECT_OK(db_->WaitForIdle());
  db_->CompactRange(nullptr, nullptr);
  EXPECT_OK(db_->WaitForIdle());
}

TEST_F(SettleTest, CallsMayBeRepeated) {
  Fill(1000, 100);
  for (int i = 0; i < 5; i++) {
    EXPECT_OK(db_->Flush());
    db_->CompactRange(nullptr, nullptr);
    EXPECT_OK(db_->WaitForIdle());
  }
  CheckFilled(1000, 100);
}

TEST_F(SettleTest, FlushMovesTheMemtableIntoATable) {
  Put("a", "1");
  const uint64_t flushes = Counter("flushes");
  EXPECT_OK(db_->Flush());
  EXPECT_EQ(flushes + 1, Counter("flushes"));
  EXPECT_EQ("1", Get("a"));
}

TEST_F(SettleTest, CompactRangeOfAPartKeepsTheRest) {
  Fill(3000, 100);
  const std::string from = FilledKey(1000), to = FilledKey(2000);
  const Slice begin = from, end = to;
  db_->CompactRange(&begin, &end);
  CheckFilled(3000, 100);
  db_->CompactRange(&end, nullptr);
  db_->CompactRange(nullptr, &begin);
  db_->CompactRange(&end, &begin);  // nothing lies there
  CheckFilled(3000, 100);
}

// But for log chunks, which a thread makes ready when it comes to it.
TEST_F(SettleTest, NothingIsLeftToDoAfterWaitForIdle) {
  Fill(5000, 200);
  EXPECT_OK(db_->WaitForIdle());
  const auto work = [this] {
    return std::array{Counter("flushes"),
                      Counter("merges"),
                      Counter("nvm-bytes-flush"),
                      Counter("nvm-bytes-merge"),
                      Counter("nvm-bytes-lazy-copy"),
                      Counter("nvm-bytes-evacuation")};
  };
  const auto before = work();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(before, work());
}

TEST_F(SettleTest, CallsReturnWhileOthersWrite) {
  for (const char* set : {"small", "tiny", "no_lazy_copy"}) {
    SCOPED_TRACE(set);
    options_ = FindOptionSet(set).options;
    Open();
    std::atomic<bool> stop{false};
    std::thread writer([&] {
      const std::string value(200, 'v');
      for (uint64_t n = 0; !stop.load(); n++) EXPECT_OK(db_->Put(WriteOptions(), FilledKey(n % 500), value));
    });
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 10; i++) {
      EXPECT_OK(db_->Flush());
      db_->CompactRange(nullptr, nullptr);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(RunsUnderSanitizer() ? 60 : 10));
    stop.store(true);
    writer.join();
    EXPECT_OK(db_->WaitForIdle());
  }
}

TEST_F(SettleTest, CallsFromManyThreadsReturn) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 20; i++) {
        EXPECT_OK(db_->Put(WriteOptions(), "key" + std::to_string(t), std::to_string(i)));
        if (i % 3 == 0) EXPECT_OK(db_->Flush());
        if (i % 3 == 1) db_->CompactRange(nullptr, nullptr);
        if (i % 3 == 2) EXPECT_OK(db_->WaitForIdle());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ("(key0->19)(key1->19)(key2->19)(key3->19)", Forward(db_.get()));
}

}  // namespace
}  // namespace miodb::test
