// The driver and the workloads, run against a store in memory: what each benchmark does, prints and returns.

#include "benchmarks/driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/common/engine.h"
#include "benchmarks/common/interrupt.h"
#include "benchmarks/config.h"

namespace miodb::bench {
namespace {

// A map behind one mutex, with counters, that fails or raises a signal at a chosen put.
struct Store {
  std::mutex mutex;
  std::map<std::string, std::string> map;
  std::set<std::string> get_keys;
  uint64_t puts = 0;
  uint64_t deletes = 0;
  uint64_t batches = 0;
  uint64_t gets = 0;
  uint64_t synced = 0;
  size_t largest_value = 0;
  int opens = 0;
  int closes = 0;
  int destroys = 0;
  int compactions = 0;
  int flushes = 0;
  int waits = 0;
  uint64_t fail_at_put = std::numeric_limits<uint64_t>::max();
  uint64_t signal_at_put = std::numeric_limits<uint64_t>::max();
};

class MapCursor : public Cursor {
 public:
  explicit MapCursor(std::map<std::string, std::string> copy) : map_(std::move(copy)), at_(map_.end()) {}

  bool SeekToFirst(Entry* entry) override { return Arrive(map_.begin(), entry); }
  bool SeekToLast(Entry* entry) override { return Arrive(map_.empty() ? map_.end() : std::prev(map_.end()), entry); }
  bool Seek(std::string_view key, Entry* entry) override { return Arrive(map_.lower_bound(std::string(key)), entry); }
  bool Next(Entry* entry) override { return Arrive(std::next(at_), entry); }
  bool Prev(Entry* entry) override { return Arrive(at_ == map_.begin() ? map_.end() : std::prev(at_), entry); }
  Outcome Check() override { return {}; }

 private:
  using Map = std::map<std::string, std::string>;

  bool Arrive(Map::iterator it, Entry* entry) {
    at_ = it;
    if (at_ == map_.end()) return false;
    *entry = Entry{at_->first, at_->second};
    return true;
  }

  Map map_;
  Map::iterator at_;
};

class MapSession : public Session {
 public:
  MapSession(Store* store, SessionOptions options) : store_(store), options_(options) {}

  Code Put(std::string_view key, std::string_view value) override {
    const std::lock_guard<std::mutex> lock(store_->mutex);
    if (store_->puts == store_->fail_at_put) {
      error_ = "NoSpace: the pool is full";
      return Code::kError;
    }
    if (store_->puts == store_->signal_at_put) std::raise(SIGINT);
    store_->puts++;
    if (options_.sync) store_->synced++;
    store_->largest_value = std::max(store_->largest_value, value.size());
    store_->map[std::string(key)] = std::string(value);
    return Code::kOk;
  }
  Code Delete(std::string_view key) override {
    const std::lock_guard<std::mutex> lock(store_->mutex);
    store_->deletes++;
    store_->map.erase(std::string(key));
    return Code::kOk;
  }
  Code Get(std::string_view key, std::string_view* value) override {
    const std::lock_guard<std::mutex> lock(store_->mutex);
    store_->gets++;
    store_->get_keys.insert(std::string(key));
    const auto it = store_->map.find(std::string(key));
    if (it == store_->map.end()) return Code::kNotFound;
    result_ = it->second;
    *value = result_;
    return Code::kOk;
  }
  void BatchPut(std::string_view key, std::string_view value) override { batch_.emplace_back(key, value); }
  void BatchDelete(std::string_view key) override { batch_.emplace_back(key, "\xff"); }
  Code BatchWrite() override {
    store_->batches++;
    for (const auto& [key, value] : batch_) {
      if (value == "\xff") {
        Delete(key);
      } else if (Put(key, value) == Code::kError) {
        return Code::kError;
      }
    }
    batch_.clear();
    return Code::kOk;
  }
  std::unique_ptr<Cursor> NewCursor() override {
    const std::lock_guard<std::mutex> lock(store_->mutex);
    return std::make_unique<MapCursor>(store_->map);
  }

 private:
  Store* store_;
  SessionOptions options_;
  std::string result_;
  std::vector<std::pair<std::string, std::string>> batch_;
};

class MapEngine : public Engine {
 public:
  explicit MapEngine(Store* store) : store_(store) {}

  std::string Name() const override { return "Map"; }
  std::string Version() const override { return "1"; }
  Outcome Open() override {
    store_->opens++;
    return {};
  }
  void Close() override { store_->closes++; }
  Outcome Destroy() override {
    store_->destroys++;
    store_->map.clear();
    return {};
  }
  std::unique_ptr<Session> NewSession(const SessionOptions& options) override {
    return std::make_unique<MapSession>(store_, options);
  }
  Outcome Flush() override {
    store_->flushes++;
    return {};
  }
  Outcome CompactAll() override {
    store_->compactions++;
    return {};
  }
  Outcome WaitForIdle() override {
    store_->waits++;
    return {};
  }
  bool Describe(Text which, std::string* text) override {
    *text = "the stats\n";
    return which == Text::kStats;
  }
  Counters ReadCounters() override {
    return {{"user-bytes-written", 100}, {"nvm-bytes-total", 150}, {"nvm-bytes-flush", 30}, {"stall-micros", 4}};
  }
  std::string PersistMode() override { return "emulated"; }

 private:
  Store* store_;
};

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) count++;
  return count;
}

class DriverTest : public testing::Test {
 protected:
  DriverTest() {
    config_.num = 1000;
    config_.value_size = 10;
    config_.db = "nowhere";
    config_.progress_reports = false;
  }

  // Runs the list and keeps what was printed.
  int Run(const std::string& benchmarks) {
    Interrupt::Install();
    config_.benchmarks = benchmarks;
    MapEngine engine(&store_);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = Driver(config_, &engine).Run();
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return status;
  }

  bool Printed(const std::string& part) const { return out_.find(part) != std::string::npos; }

  Config config_;
  Store store_;
  std::string out_;
  std::string err_;
};

TEST_F(DriverTest, ListsSkipEmptyElements) {
  EXPECT_EQ(SplitList(",fillseq,,readseq,"), (std::vector<std::string>{"fillseq", "readseq"}));
  EXPECT_TRUE(SplitList("").empty());
}

TEST_F(DriverTest, AnUnknownNameEndsTheRunBeforeAnythingIsMeasured) {
  EXPECT_EQ(Run("fillseq,fillsomehow"), 1);
  EXPECT_EQ(err_, "unknown benchmark 'fillsomehow'\n");
  EXPECT_EQ(store_.opens, 0);
}

TEST_F(DriverTest, SequentialFillWritesEveryKeyOnce) {
  EXPECT_EQ(Run("fillseq"), 0);
  EXPECT_EQ(store_.map.size(), 1000u);
  EXPECT_EQ(store_.map.begin()->first, "0000000000000000");
  EXPECT_EQ(store_.map.rbegin()->first, "0000000000000999");
  EXPECT_EQ(store_.puts, 1000u);
  EXPECT_TRUE(Printed(" 1000 operations;"));
}

TEST_F(DriverTest, RandomFillRepeatsKeys) {
  EXPECT_EQ(Run("fillrandom"), 0);
  EXPECT_EQ(store_.puts, 1000u);
  EXPECT_NEAR(static_cast<double>(store_.map.size()), 632, 60);
}

TEST_F(DriverTest, ABatchIsOneWriteAndTheLastOneMayBeShort) {
  config_.num = 2500;
  EXPECT_EQ(Run("fillbatch"), 0);
  EXPECT_EQ(store_.batches, 3u);
  EXPECT_EQ(store_.map.size(), 2500u);
  EXPECT_TRUE(Printed(" 2500 operations;"));
}

TEST_F(DriverTest, SyncAndLargeValuesDoAThousandthOfTheWork) {
  config_.num = 5000;
  EXPECT_EQ(Run("fillsync,fill100K"), 0);
  EXPECT_EQ(store_.puts, 10u);
  EXPECT_EQ(store_.synced, 5u);
  EXPECT_EQ(store_.largest_value, 100000u);
  EXPECT_EQ(CountOf(out_, "(5 ops)"), 2u);
}

TEST_F(DriverTest, EveryThreadDoesTheFullCountAndFoundCountsAreSummed) {
  config_.threads = 3;
  EXPECT_EQ(Run("fillseq,readrandom"), 0);
  EXPECT_EQ(store_.puts, 3000u);
  EXPECT_TRUE(Printed("(3000 of 3000 found)")) << out_;
}

TEST_F(DriverTest, ReadsDoneArePrintedNotNum) {
  config_.reads = 100;
  EXPECT_EQ(Run("fillseq,readrandom"), 0);
  EXPECT_TRUE(Printed("(100 of 100 found)")) << out_;
}

TEST_F(DriverTest, ReadsDoNotReplayTheKeysOfTheWrites) {
  EXPECT_EQ(Run("fillrandom,readrandom"), 0);
  std::set<std::string> written;
  for (const auto& [key, value] : store_.map) written.insert(key);
  EXPECT_NE(store_.get_keys, written);
  EXPECT_FALSE(Printed("(1000 of 1000 found)"));
}

TEST_F(DriverTest, TheSameSeedGivesTheSameWorkAndAnotherSeedOther) {
  EXPECT_EQ(Run("fillrandom,readrandom"), 0);
  const auto map = store_.map;
  const auto gets = store_.get_keys;
  store_.get_keys.clear();
  EXPECT_EQ(Run("fillrandom,readrandom"), 0);
  EXPECT_EQ(store_.map, map);
  EXPECT_EQ(store_.get_keys, gets);
  config_.seed = 1;
  EXPECT_EQ(Run("fillrandom,readrandom"), 0);
  EXPECT_NE(store_.map, map);
}

TEST_F(DriverTest, MissingKeysAreNeverFound) {
  EXPECT_EQ(Run("fillseq,readmissing"), 0);
  EXPECT_TRUE(Printed("(0 of 1000 found)")) << out_;
}

TEST_F(DriverTest, HotAndSmallReads) {
  EXPECT_EQ(Run("fillseq,readhot"), 0);
  EXPECT_EQ(store_.get_keys.size(), 10u);
  EXPECT_EQ(Run("fillseq,readrandomsmall"), 0);
  EXPECT_TRUE(Printed("(1 of 1 found)"));
}

TEST_F(DriverTest, ScansSeeEveryRecordInBothDirections) {
  EXPECT_EQ(Run("fillseq,readseq,readreverse"), 0);
  EXPECT_EQ(CountOf(out_, " 1000 operations;"), 3u);
  config_.reads = 10;
  EXPECT_EQ(Run("fillseq,readseq"), 0);
  EXPECT_TRUE(Printed(" 10 operations;"));
}

TEST_F(DriverTest, SeeksCountExactHitsAndStepOn) {
  config_.reads = 50;
  config_.seek_nexts = 3;
  EXPECT_EQ(Run("fillseq,seekrandom,seekordered"), 0);
  EXPECT_EQ(CountOf(out_, "(50 of 50 found)"), 2u);
  config_.reverse_iterator = true;
  EXPECT_EQ(Run("fillseq,seekrandom"), 0);
  EXPECT_TRUE(Printed("(50 of 50 found)"));
}

TEST_F(DriverTest, Deletes) {
  EXPECT_EQ(Run("fillseq,deleteseq"), 0);
  EXPECT_TRUE(store_.map.empty());
  config_.deletes = 5;
  config_.batch_size = 2;
  EXPECT_EQ(Run("fillseq,deleterandom"), 0);
  EXPECT_EQ(store_.deletes, 1005u);
  EXPECT_GE(store_.map.size(), 995u);
}

TEST_F(DriverTest, TheBackgroundWriterIsNotAmongTheFigures) {
  config_.threads = 2;
  config_.reads = 500;
  EXPECT_EQ(Run("fillseq,readwhilewriting"), 0);
  EXPECT_TRUE(Printed("(1000 of 1000 found) (background writes:")) << out_;
  EXPECT_TRUE(Printed(" 1000 operations;"));
}

TEST_F(DriverTest, MixedReadsAndWritesKeepTheirShare) {
  config_.readwritepercent = 70;
  EXPECT_EQ(Run("fillseq,readrandomwriterandom"), 0);
  EXPECT_TRUE(Printed("( reads:700 writes:300 total:1000 found:700)")) << out_;
  EXPECT_EQ(Run("fillseq,updaterandom"), 0);
  EXPECT_TRUE(Printed("( updates:1000 found:1000)")) << out_;
}

TEST_F(DriverTest, DurationReplacesTheCountOfRandomBenchmarksOnly) {
  config_.duration = 1;
  config_.num = 10;
  EXPECT_EQ(Run("fillseq,readrandom"), 0);
  EXPECT_EQ(CountOf(out_, " 10 operations;"), 1u);
  EXPECT_GT(store_.gets, 1000u);
}

TEST_F(DriverTest, FreshBenchmarksDestroyTheStoreAndOthersKeepIt) {
  EXPECT_EQ(Run("fillseq,overwrite,fillrandom,readseq"), 0);
  EXPECT_EQ(store_.destroys, 2);
  EXPECT_EQ(store_.opens, 2);
}

TEST_F(DriverTest, AnExistingStoreIsKeptAndFreshBenchmarksAreSkipped) {
  EXPECT_EQ(Run("fillseq"), 0);
  config_.use_existing_db = true;
  EXPECT_EQ(Run("fillrandom,readrandom"), 0);
  EXPECT_EQ(store_.destroys, 1);
  EXPECT_TRUE(Printed("fillrandom   : skipped (--use_existing_db is true)\n"));
  EXPECT_TRUE(Printed("(1000 of 1000 found)"));
}

TEST_F(DriverTest, TheClosingLinesComeLastAndOncePerUsedStore) {
  EXPECT_EQ(Run("fillseq,fillrandom"), 0);
  EXPECT_EQ(CountOf(out_, "stall time: 4\ndump time:  0\nwa: 30\n"), 2u);
  EXPECT_EQ(out_.substr(out_.size() - 7), "wa: 30\n");
  EXPECT_EQ(CountOf(out_, "write amplification: 1.500\n"), 1u);
  EXPECT_EQ(CountOf(out_, "persist mode: emulated\n"), 1u);
}

TEST_F(DriverTest, ReopeningAnUnusedStorePrintsNoClosingLines) {
  config_.num = 50000;
  config_.reads = 10;
  EXPECT_EQ(Run("open"), 0);
  EXPECT_EQ(store_.opens, 7);  // At first, after the closing that is not timed, and num/10000 times.
  EXPECT_EQ(CountOf(out_, "wa: "), 1u);
}

TEST_F(DriverTest, StatsPrintTheStoresTextAndCounters) {
  EXPECT_EQ(Run("fillseq,stats,sstables"), 0);
  EXPECT_TRUE(Printed("\nthe stats\n\nuser bytes: 100\n")) << out_;
  EXPECT_TRUE(Printed("\n(failed)\n"));
  EXPECT_EQ(CountOf(out_, "write amplification: 1.500\n"), 2u);
}

TEST_F(DriverTest, OtherActions) {
  EXPECT_EQ(Run("fillseq,compact,flush,wait,waitforcompaction,heapprofile"), 0);
  EXPECT_EQ(store_.compactions, 1);
  EXPECT_EQ(store_.flushes, 1);
  EXPECT_EQ(store_.waits, 2);
  EXPECT_TRUE(Printed("Wait balance:0 s\n"));
  EXPECT_TRUE(Printed("waitforcompaction(nowhere): started\nwaitforcompaction(nowhere): finished with status (OK)\n"));
  EXPECT_TRUE(Printed("heapprofile  : not available\n"));
}

TEST_F(DriverTest, BenchmarksWithoutAStoreOpenNone) {
  EXPECT_EQ(Run("crc32c"), 0);
  EXPECT_EQ(store_.opens, 0);
  EXPECT_TRUE(Printed("(4K per op)"));
  EXPECT_FALSE(Printed("wa: "));
}

TEST_F(DriverTest, EveryTimedBenchmarkHasALineOfPercentiles) {
  EXPECT_EQ(Run("fillseq,readrandom,compact"), 0);
  EXPECT_EQ(CountOf(out_, "\nPercentiles: P50: "), 3u);
  config_.latency = false;
  EXPECT_EQ(Run("fillseq,readrandom,compact"), 0);
  EXPECT_EQ(CountOf(out_, "Percentiles"), 0u);
}

TEST_F(DriverTest, AFailedOperationEndsTheRunAfterClosing) {
  store_.fail_at_put = 500;
  EXPECT_EQ(Run("fillseq,readseq"), 1);
  EXPECT_NE(err_.find("fillseq: put error: NoSpace: the pool is full\n"), std::string::npos) << err_;
  EXPECT_FALSE(Printed("fillseq      :"));
  EXPECT_FALSE(Printed("readseq"));
  EXPECT_EQ(store_.closes, 1);
  EXPECT_TRUE(Printed("wa: 30\n"));
}

TEST_F(DriverTest, AFailureStopsAllThreads) {
  config_.threads = 4;
  store_.fail_at_put = 2000;
  EXPECT_EQ(Run("fillseq"), 1);
  EXPECT_LE(store_.puts, 2000u);
}

TEST_F(DriverTest, CtrlCPrintsWhatWasMeasuredAndClosesTheStore) {
  store_.signal_at_put = 400;
  EXPECT_EQ(Run("fillseq,readseq"), 130);
  EXPECT_TRUE(Printed(" 401 operations;")) << out_;
  EXPECT_FALSE(Printed("readseq"));
  EXPECT_EQ(store_.closes, 1);
  EXPECT_TRUE(Printed("wa: 30\n"));
  EXPECT_NE(err_.find("interrupted"), std::string::npos);
}

}  // namespace
}  // namespace miodb::bench
