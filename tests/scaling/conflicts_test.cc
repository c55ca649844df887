// Cache lines that calls on different keys share, counted and not timed: they decide how calls of many threads scale.
//
// Two threads make their calls in turn, so the counts are the same on every machine. A line counts as shared by a pair
// of calls if one of them writes it and the other one touches it. Lines are told apart by the code that writes them,
// because that has a name; docs/scaling.md says what each of them is, and what follows from it for many cores.

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/db/open/db_impl.h"
#include "src/db/open/db_parts.h"
#include "tests/common/random/option_sets.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"
#include "tests/scaling/access_recorder.h"

namespace miodb {

class DBPeer {
 public:
  // As if writers had met at every put, so that the next one opens the lanes. REQUIRES: nobody writes.
  static void Meet(DBImpl* db) { db->write_->meetings_ = 1000; }
  static bool LanesAreOpen(DBImpl* db) { return db->write_->lanes_.open(); }
};

}  // namespace miodb

namespace miodb::test {
namespace {

constexpr size_t kManyCpus = 64;  // so lanes are open whatever the machine has
constexpr int kWarmUp = 60;       // pairs that are not counted: of lanes, slots and memory that threads take once
constexpr int kPairs = 200;
constexpr int kKeys = 20000;

// A thread that does one thing at a time, while its creator waits.
class Actor {
 public:
  Actor() : thread_([this] { Loop(); }) {}
  ~Actor() {
    Run(nullptr);
    thread_.join();
  }

  void Run(std::function<void()> work) {
    std::unique_lock<std::mutex> lock(mutex_);
    work_ = std::move(work);
    has_work_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !has_work_; });
  }

 private:
  void Loop() {
    for (bool goes_on = true; goes_on;) {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return has_work_; });
      goes_on = work_ != nullptr;
      if (goes_on) work_();
      has_work_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool has_work_ = false;
  std::thread thread_;
};

// A call, by its number.
using Call = std::function<void(int)>;

class ConflictsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!RecorderWorks()) GTEST_SKIP() << "this compiler, or this build, has no callbacks for memory accesses";
    Options options;
    options.create_if_missing = true;
    options.pool_size = 256 << 20;
    DBImpl::Hooks hooks;
    hooks.background = BackgroundMode::kBySteps;
    hooks.cpus = kManyCpus;
    ASSERT_OK(DBImpl::Open(options, dir_ / "db", hooks, &db_));
    for (int i = 0; i < kKeys; i++) ASSERT_OK(db_->Put(WriteOptions(), Key(i), std::string(100, 'v')));
    ASSERT_OK(db_->Flush());
    while (db_->RunStep(DBImpl::Step::kMerge)) continue;
    for (int i = 0; i < kKeys; i += 2) ASSERT_OK(db_->Put(WriteOptions(), Key(i), std::string(100, 'w')));
  }

  static std::string Key(int number) {
    char text[24];
    std::snprintf(text, sizeof(text), "%016llu", static_cast<unsigned long long>(number) * 2654435761 % 4294967296);
    return text;
  }

  // Lines that a pair of calls shares on average, by the function that writes them.
  std::map<std::string, double> Count(const Call& first, const Call& second) {
    Actor a, b;
    std::map<std::string, int> counts;
    for (int i = 0; i < kWarmUp; i++) {
      a.Run([&] { first(i); });
      b.Run([&] { second(i); });
    }
    for (int i = kWarmUp; i < kWarmUp + kPairs; i++) {
      Accesses of_a, of_b;
      const auto record = [i](const Call& call, Accesses* accesses) {
        BeginRecording();
        call(i);
        *accesses = EndRecording();
      };
      a.Run([&] { record(first, &of_a); });
      b.Run([&] { record(second, &of_b); });
      for (const uintptr_t line : SharedLines(of_a, of_b)) {
        const auto& writers = of_a[line].writers.empty() ? of_b[line].writers : of_a[line].writers;
        counts[FunctionAt(*writers.begin())]++;
      }
    }
    std::map<std::string, double> average;
    for (const auto& [name, count] : counts) average[name] = static_cast<double>(count) / kPairs;
    return average;
  }

  static double Sum(const std::map<std::string, double>& lines) {
    double sum = 0;
    for (const auto& [name, count] : lines) sum += count;
    return sum;
  }

  static void Print(const char* what, const std::map<std::string, double>& lines) {
    std::printf("%s: %.2f lines\n", what, Sum(lines));
    for (const auto& [name, count] : lines) std::printf("  %5.2f  %s\n", count, name.c_str());
  }

  // Opens the lanes, as writers do that meet.
  void OpenLanes() {
    DBPeer::Meet(db_.get());
    ASSERT_OK(db_->Put(WriteOptions(), "key", "value"));
    ASSERT_TRUE(DBPeer::LanesAreOpen(db_.get()));
  }

  void Get(int i) {
    std::string value;
    EXPECT_OK(db_->Get(ReadOptions(), keys_[i], &value));
  }
  void Put(int i) { EXPECT_OK(db_->Put(WriteOptions(), keys_[i], value_)); }

  // Every caller has its own keys; strings are made before.
  Call GetFrom(int first) {
    return [this, first](int i) { Get(first + i * 31); };
  }
  Call PutFrom(int first) {
    return [this, first](int i) { Put(first + i * 31); };
  }

  TestDir dir_;
  std::unique_ptr<DBImpl> db_;
  const std::string value_ = std::string(100, 'x');
  const std::vector<std::string> keys_ = [] {
    std::vector<std::string> keys;
    for (int i = 0; i < kKeys; i++) keys.push_back(Key(i));
    return keys;
  }();
};

TEST_F(ConflictsTest, GetsShareNothing) {
  const auto lines = Count(GetFrom(0), GetFrom(10000));
  Print("get beside get", lines);
  EXPECT_EQ(0, Sum(lines));
}

// A get need not look at the last sequence for a key that was not written since its thread did.
TEST_F(ConflictsTest, AGetBesideAPutSharesNothing) {
  OpenLanes();
  const auto lines = Count(GetFrom(0), PutFrom(10000));
  Print("get beside put", lines);
  EXPECT_EQ(0, Sum(lines));
}

// The word of the reservation, the last sequence, and the line of the log where one frame ends and the other begins.
TEST_F(ConflictsTest, PutsInLanesShareFourLinesAtMost) {
  OpenLanes();
  const auto lines = Count(PutFrom(0), PutFrom(10000));
  Print("put beside put", lines);
  EXPECT_LE(Sum(lines), 4);
}

TEST_F(ConflictsTest, AStepOfAnIteratorBesideAPutSharesWhatBothWalk) {
  OpenLanes();
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->SeekToFirst();
  const auto lines = Count([&](int) { it->Next(); }, PutFrom(10000));
  Print("next beside put", lines);
  EXPECT_LE(Sum(lines), 1);
}

}  // namespace
}  // namespace miodb::test
