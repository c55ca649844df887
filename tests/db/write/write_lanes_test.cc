// Writers in lanes: each sees its own write when it returns, what is visible is in the memtable without a gap, and the
// log has every frame once and in order. Meant for ThreadSanitizer as well.

#include "src/db/write/write_lanes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "src/log/log_piece.h"
#include "src/util/threads/mutex.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/log/log_pool.h"

namespace miodb::test {
namespace {

constexpr uint64_t kChunkBytes = 64 * 1024;

class WriteLanesTest : public testing::Test {
 protected:
  static std::string KeyOf(size_t thread, uint64_t i) { return std::to_string(thread) + "." + std::to_string(i); }
  static std::string ValueOf(size_t thread, uint64_t i) {
    return std::string(KeyOf(thread, i).size() * (i % 13), 'v') + KeyOf(thread, i);
  }

  static void Describe(const std::string& key, const std::string& value, Writer* writer) {
    writer->key = key;
    writer->value = value;
    writer->count = 1;
    writer->body_bytes = RecordSize(key.size(), value.size());
    writer->user_bytes = key.size() + value.size();
  }

  bool Write(const std::string& key, const std::string& value) {
    Writer writer;
    Describe(key, value, &writer);
    return lanes_.Write(writer);
  }

  // What the leader of a queue does: for one at a time.
  void WriteAsLeader(const std::string& key, const std::string& value) {
    if (lanes_.open()) sequence_ = lanes_.Close();
    std::vector<LogRecord> records{{kTypeValue, key, value}};
    const uint64_t body_bytes = records[0].size(), size = FrameWriter::FrameSize(body_bytes);
    if (chunks_.empty() || chunks_.back()->room() < size) {
      chunks_.push_back(NewPoolChunk(&pool_, chunks_.size() + 1, kChunkBytes));
    }
    frames_.Write(chunks_.back().get(), &records, body_bytes, ++sequence_);
    table_.Add(key, PackTag(sequence_, kTypeValue), records[0].place, records[0].size());
    ASSERT_OK(pool_->persist().Fence(Purpose::kLog));
    visible_.store(sequence_);
    by_leader_++;
  }

  void Open() {
    WriteLanes::Room room;
    room.frames = &frames_;
    room.persist = &pool_->persist();
    room.chunk = chunks_.back().get();
    room.memtable = &table_;
    room.sequence = sequence_;
    lanes_.Open(room);
  }

  void Put(size_t thread, uint64_t i) {
    const std::string key = KeyOf(thread, i), value = ValueOf(thread, i);
    if (Write(key, value)) return;
    MutexLock lock(&leader_);
    WriteAsLeader(key, value);
    Open();
  }

  void ExpectValue(size_t thread, uint64_t i) {
    const std::string key = KeyOf(thread, i);
    bool found;
    RecordView record;
    const LookupKey lookup(KeyOrder(BytewiseComparator()), key, visible_.load(), Checksums::kVerify);
    ASSERT_OK(table_.Get(lookup, &found, &record));
    ASSERT_TRUE(found) << key;
    ASSERT_EQ(ValueOf(thread, i), record.value.ToString());
  }

  // Everything that is visible is there.
  void ExpectNoGap() {
    const uint64_t visible = visible_.load();
    uint64_t found = 0;
    for (auto* entry = table_.tree().First(); entry != nullptr; entry = entry->Next()) {
      if (TagSequence(entry->tag) <= visible) found++;
    }
    ASSERT_EQ(visible, found);
  }

  TestPool pool_;
  BlockPool blocks_{64 * 1024, 4};
  FrameWriter frames_{&pool_->persist(), pool_->secret()};
  std::vector<std::unique_ptr<LogChunk>> chunks_;
  MemTable table_{KeyOrder(BytewiseComparator()), &blocks_, 64 * 1024, pool_->secret()};
  Statistics statistics_{3, 3};
  std::atomic<uint64_t> visible_{0};
  WriteLanes lanes_{&visible_, &statistics_};
  Mutex leader_;
  uint64_t sequence_ = 0;   // under leader_
  uint64_t by_leader_ = 0;  // under leader_
};

TEST_F(WriteLanesTest, EveryWriteIsVisibleWhenItReturnsAndTheLogHasEachOnceInOrder) {
  constexpr size_t kThreads = 4;
  const uint64_t each = ByScale(4000, 20000, 200000);
  std::vector<std::thread> threads;
  std::atomic<size_t> running{kThreads};
  for (size_t t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < each && !HasFatalFailure(); i++) {
        Put(t, i);
        ExpectValue(t, i);
      }
      running--;
    });
  }
  while (running > 0 && !HasFatalFailure()) ExpectNoGap();
  for (std::thread& thread : threads) thread.join();
  ASSERT_FALSE(HasFatalFailure());
  if (lanes_.open()) sequence_ = lanes_.Close();
  EXPECT_EQ(kThreads * each, sequence_);
  EXPECT_LT(by_leader_, sequence_ / 2) << "nearly all writers went by the queue";
  EXPECT_EQ(sequence_, table_.tree().count());
  EXPECT_EQ(sequence_, table_.max_sequence());
  table_.tree().Check();
  uint64_t last = 0, bytes = 0;
  for (const auto& chunk : chunks_) {
    LogChunkPlace place;
    place.id = chunk->id;
    place.size = chunk->capacity;
    const LogPiece piece = ReadLogChunk(place, chunk->base, pool_->secret());
    EXPECT_FALSE(piece.damaged());
    EXPECT_EQ(last + 1, piece.first_sequence);
    EXPECT_EQ(chunk->used, piece.valid_bytes);
    for (const FrameView& frame : piece.frames) EXPECT_LT(frame.ahead, kLogWindow);
    last = piece.last_sequence;
    bytes += piece.valid_bytes;
  }
  EXPECT_EQ(sequence_, last);
  uint64_t stored = pool_->persist().counters(Purpose::kLog).bytes;
  for (size_t lane = 0; lane < kLogLanes; lane++) stored += pool_->persist().lane_counters(lane).bytes;
  EXPECT_EQ(bytes, stored);
}

// Steps of several writers in one thread, so that the order is the test's.
class WriteLanesStepsTest : public WriteLanesTest {
 protected:
  void SetUp() override {
    WriteAsLeader("first", "value");
    Open();
  }

  struct One {
    std::string key, value;
    Writer writer;
    WriteLanes::Pass pass;
  };
  std::unique_ptr<One> Enter(const std::string& key) {
    auto one = std::make_unique<One>();
    one->key = key;
    one->value = "of " + key;
    Describe(one->key, one->value, &one->writer);
    EXPECT_TRUE(lanes_.Enter(one->writer, &one->pass));
    return one;
  }
  void Finish(One* one) {
    lanes_.Store(&one->pass);
    lanes_.Insert(one->pass);
    lanes_.Fence(one->pass);
    lanes_.Publish(one->pass, one->writer);
  }
};

TEST_F(WriteLanesStepsTest, WritesBecomeVisibleInTheOrderOfTheirSequences) {
  const auto a = Enter("a"), b = Enter("b"), c = Enter("c");
  Finish(c.get());
  EXPECT_EQ(1u, visible_);
  Finish(a.get());
  EXPECT_EQ(2u, visible_);
  EXPECT_FALSE(lanes_.IsVisible(c->pass));
  Finish(b.get());
  EXPECT_EQ(4u, visible_);
  EXPECT_EQ(4u, lanes_.Close());
  EXPECT_TRUE(lanes_.several());
}

TEST_F(WriteLanesStepsTest, AFrameSaysHowManyBeforeItWerePerhapsNotDurable) {
  const auto a = Enter("a"), b = Enter("b"), c = Enter("c");
  lanes_.Store(&c->pass);
  Finish(a.get());
  lanes_.Store(&b->pass);
  LogChunkPlace place;
  place.id = chunks_[0]->id;
  place.size = chunks_[0]->capacity;
  const LogPiece piece = ReadLogChunk(place, chunks_[0]->base, pool_->secret());
  ASSERT_EQ(4u, piece.frames.size());
  EXPECT_EQ(0u, piece.frames[1].ahead);
  EXPECT_EQ(0u, piece.frames[2].ahead);
  EXPECT_EQ(2u, piece.frames[3].ahead);
  EXPECT_EQ(1u, piece.frames[3].durable_before());
}

TEST_F(WriteLanesStepsTest, NobodyStoresFurtherAheadThanTheWindow) {
  std::vector<std::unique_ptr<One>> ones;
  for (uint64_t i = 0; i < kLogWindow; i++) {
    ones.push_back(Enter("key" + std::to_string(i)));
    EXPECT_TRUE(lanes_.WindowReaches(ones[i]->pass));
    if (i > 0) Finish(ones[i].get());
  }
  const auto beyond = Enter("beyond");
  EXPECT_FALSE(lanes_.WindowReaches(beyond->pass));
  Finish(ones[0].get());
  EXPECT_TRUE(lanes_.WindowReaches(beyond->pass));
  Finish(beyond.get());
  EXPECT_EQ(kLogWindow + 2, visible_);
}

// A thread may lose its CPU at any step. What holds others up must be gone as soon as it goes on, however they wait.
TEST_F(WriteLanesStepsTest, AWriterThatStopsHoldsUpThoseAfterItAndTheLeaderUntilItGoesOn) {
  constexpr int kOthers = 3;
  const auto stopped = Enter("stopped");
  std::atomic<int> ended{0};
  std::vector<std::thread> others;
  for (int i = 0; i < kOthers; i++) {
    others.emplace_back([&, i] {
      const std::string key = "other" + std::to_string(i);
      EXPECT_TRUE(Write(key, key));
      ended++;
    });
  }
  const auto fences = [&] {
    uint64_t sum = 0;
    for (size_t lane = 0; lane < kLogLanes; lane++) sum += pool_->persist().lane_counters(lane).fences;
    return sum;
  };
  while (fences() < kOthers) std::this_thread::yield();
  others.emplace_back([&] {
    EXPECT_EQ(2u + kOthers, lanes_.Close());
    ended++;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that they sleep, if nothing is in their way
  EXPECT_EQ(0, ended);
  EXPECT_EQ(1u, visible_);
  Finish(stopped.get());
  for (std::thread& thread : others) thread.join();
  EXPECT_EQ(2u + kOthers, visible_);
  ExpectNoGap();
}

TEST_F(WriteLanesStepsTest, ClosedLanesAndAFullChunkTurnWritersAway) {
  const std::string large(8000, 'l');
  uint64_t entered = 0;
  while (Write("key" + std::to_string(entered), large)) entered++;
  EXPECT_EQ(kChunkBytes / 8000, entered);
  const std::string small = "small";
  EXPECT_TRUE(Write(small, small)) << "what is smaller has room";
  EXPECT_EQ(entered + 2, lanes_.Close());
  EXPECT_FALSE(Write(small, small));
  EXPECT_FALSE(lanes_.several());
}

}  // namespace
}  // namespace miodb::test
