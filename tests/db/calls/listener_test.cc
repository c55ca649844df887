// Options::listeners: who is told what, in which order, and what a listener may do.

#include "miodb/listener.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "src/db/stats/events.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

// Keeps what it is told.
class Recorder : public EventListener {
 public:
  void OnFlush(const FlushInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex);
    flushes.push_back(info);
    thread = std::this_thread::get_id();
    if (on_flush) on_flush();
  }
  void OnMerge(const MergeInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex);
    merges.push_back(info);
    EXPECT_TRUE(thread == std::thread::id() || thread == std::this_thread::get_id());
  }
  void OnStall(const StallInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex);
    stalls.push_back(info.micros);
  }
  void OnError(const ErrorInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex);
    errors.push_back(info);
  }
  void OnSpace(const SpaceInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex);
    levels.push_back(info.level);
  }
  void OnDropped(uint64_t events) override {
    const std::lock_guard<std::mutex> lock(mutex);
    dropped += events;
  }

  std::mutex mutex;
  std::function<void()> on_flush;
  std::thread::id thread;
  std::vector<FlushInfo> flushes;
  std::vector<MergeInfo> merges;
  std::vector<uint64_t> stalls;
  std::vector<ErrorInfo> errors;
  std::vector<SpaceLevel> levels;
  uint64_t dropped = 0;
};

class ListenerTest : public DbTestBase {
 protected:
  ListenerTest() { options_.listeners = {&first_, &second_}; }

  Recorder first_, second_;
};

TEST_F(ListenerTest, EveryFlushAndMergeIsToldToEveryListenerByTheClose) {
  Open();
  Fill(3000, 100);
  Settle();
  const uint64_t flushes = Counter("flushes"), merges = Counter("merges");
  EXPECT_GT(flushes, 0u);
  EXPECT_GT(merges, 0u);
  Close();
  for (const Recorder* const recorder : {&first_, &second_}) {
    uint64_t entries = 0;
    for (const FlushInfo& info : recorder->flushes) {
      EXPECT_GT(info.index_bytes, 0u);
      entries += info.entries;
    }
    EXPECT_GE(recorder->flushes.size(), flushes);
    EXPECT_GE(recorder->merges.size(), merges);
    EXPECT_EQ(3000u, entries);
    EXPECT_TRUE(recorder->errors.empty());
    EXPECT_EQ(0u, recorder->dropped);
  }
  EXPECT_NE(std::this_thread::get_id(), first_.thread);
}

TEST_F(ListenerTest, AListenerMayReadTheDatabase) {
  uint64_t asked = 0;
  DB* db = nullptr;  // as long as it is being closed, too
  first_.on_flush = [&] {
    std::string value;
    const Status s = db->Get(ReadOptions(), FilledKey(1), &value);
    EXPECT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
    EXPECT_TRUE(db->GetProperty("miodb.counters", &value));
    EXPECT_TRUE(db->GetProperty("miodb.prometheus", &value));
    asked++;
  };
  Open();
  db = db_.get();
  Fill(3000, 100);
  ASSERT_OK(db_->Flush());
  Close();
  EXPECT_GT(asked, 0u);
}

TEST_F(ListenerTest, AFullPoolIsToldOnceAndSoIsItsEnd) {
  options_.pool_size = 1 << 20;
  Open();
  Status s;
  for (int i = 0; i < 100000 && s.ok(); i++) s = db_->Put(WriteOptions(), FilledKey(i), std::string(500, 'v'));
  ASSERT_TRUE(s.IsNoSpace()) << s.ToString();
  for (int i = 0; i < 100000; i++) {
    ASSERT_OK(db_->Delete(WriteOptions(), FilledKey(i)));
    if (i > 3000) break;
  }
  ASSERT_OK(db_->WaitForIdle());
  Put("a", "b");
  Close();
  int full = 0;
  for (size_t i = 0; i < first_.levels.size(); i++) {
    full += first_.levels[i] == SpaceLevel::kFull ? 1 : 0;
    EXPECT_TRUE(i == 0 || first_.levels[i] != first_.levels[i - 1]) << "told twice";
    EXPECT_FALSE(i > 0 && first_.levels[i - 1] == SpaceLevel::kFull && first_.levels[i] == SpaceLevel::kNearLimit);
  }
  EXPECT_GE(full, 1);
  ASSERT_FALSE(first_.levels.empty());
  EXPECT_EQ(SpaceLevel::kEnough, first_.levels.back());
}

TEST_F(ListenerTest, NullListenersAreRefused) {
  options_.listeners.push_back(nullptr);
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
}

TEST(EventsTest, ErrorsStallsAndWhatWasDroppedAreTold) {
  Recorder recorder;
  {
    Events events({&recorder});
    events.NoteError(Status::IOError("before the thread runs"), true);
    events.NoteStall(10);  // the day's work
    events.NoteStall(5000);
    for (int i = 0; i < 3000; i++) events.NoteMerge(MergeInfoOf(true, 1, 2, 3, 4));
    ASSERT_OK(events.Start("db"));
  }
  ASSERT_EQ(1u, recorder.errors.size());
  EXPECT_TRUE(recorder.errors[0].is_read_only && recorder.errors[0].status.IsIOError());
  EXPECT_EQ(std::vector<uint64_t>{5000}, recorder.stalls);
  EXPECT_EQ(3000u, recorder.merges.size() + recorder.dropped);
  EXPECT_GT(recorder.dropped, 0u);
}

TEST(EventsTest, WhoNotesAnEventDoesNotWaitForAListener) {
  class Slow : public Recorder {
   public:
    void OnStall(const StallInfo&) override {
      std::unique_lock<std::mutex> lock(gate);
      open_gate.wait(lock, [this] { return is_open; });
    }
    std::mutex gate;
    std::condition_variable open_gate;
    bool is_open = false;
  } slow;
  Events events({&slow});
  ASSERT_OK(events.Start("db"));
  for (int i = 0; i < 100; i++) events.NoteStall(5000);  // would never return if it waited
  {
    const std::lock_guard<std::mutex> lock(slow.gate);
    slow.is_open = true;
  }
  slow.open_gate.notify_all();
  events.Stop();
  events.NoteStall(5000);  // after the end: nothing
}

}  // namespace
}  // namespace miodb::test
