// The driver and the workloads, run against a store in memory: what each benchmark does, prints and returns.

#include "benchmarks/db_bench/driver.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/common/clock/ticks.h"
#include "benchmarks/common/figures/progress.h"
#include "tests/benchmarks/map_engine.h"
#include "tests/common/test_dir.h"

namespace miodb::bench {
namespace {

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

// The threads of a benchmark are recorded, its background thread and benchmarks without client threads are not.
TEST_F(DriverTest, LatenciesOverTimeGoToTheIntervalFile) {
  const test::TestDir dir;
  config_.intervalfile = dir / "x.csv";
  config_.threads = 2;
  EXPECT_EQ(Run("fillseq,readwhilewriting,compact,readrandom[X2]"), 0) << err_;
  std::ifstream file(config_.intervalfile);
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) rows.push_back(line);
  ASSERT_EQ(rows.size(), 5u);
  const struct {
    const char* phase;
    const char* rest;
  } expected[] = {{"fillseq,", ",write,2000,"},
                  {"readwhilewriting,", ",read,2000,"},
                  {"readrandom,", ",read,2000,"},
                  {"readrandom#2,", ",read,2000,"}};
  for (size_t i = 0; i < 4; i++) {
    EXPECT_EQ(rows[i + 1].rfind(expected[i].phase, 0), 0u) << rows[i + 1];
    EXPECT_NE(rows[i + 1].find(expected[i].rest), std::string::npos) << rows[i + 1];
  }
  config_.intervalfile = "/nowhere/x.csv";
  EXPECT_EQ(Run("fillseq"), 1);
  EXPECT_EQ(err_, "cannot write --intervalfile /nowhere/x.csv: No such file or directory\n");
}

TEST_F(DriverTest, APoolThatHasBecomeAFileIsNotedOnce) {
  EXPECT_EQ(Run("fillseq"), 0);
  EXPECT_EQ(err_.find("note: "), std::string::npos) << err_;
  store_.persist_mode = "file";
  EXPECT_EQ(Run("fillseq,readrandom,fillrandom"), 0);
  EXPECT_EQ(CountOf(err_, "note: "), 1u) << err_;
  config_.options.pool_path = "/mnt/x/pool";
  EXPECT_EQ(Run("fillseq"), 0);
  EXPECT_EQ(err_.find("note: "), std::string::npos) << err_;
}

TEST_F(DriverTest, AnEmptyReportFileIsNone) {
  config_.report_interval_seconds = 1;
  config_.report_file.clear();
  EXPECT_EQ(Run("fillseq"), 0) << err_;
}

TEST_F(DriverTest, ProgressTellsTheTotalAndTheTimeLeft) {
  config_.progress_reports = true;
  EXPECT_EQ(Run("fillseq,readseq,updaterandom,mixgraph"), 0);
  EXPECT_EQ(CountOf(err_, "... finished 500 ops of 1000, 50 %, "), 4u) << err_;
  EXPECT_EQ(CountOf(err_, "... finished 1000 ops of 1000, 100 %, 0 s left"), 4u) << err_;
  config_.duration = 1;
  EXPECT_EQ(Run("fillseq,readrandom"), 0);
  EXPECT_NE(err_.find("... finished 2000 ops, "), std::string::npos) << err_;
  EXPECT_EQ(err_.find("of 1000, 200 %"), std::string::npos);
}

TEST(ProgressTest, TextTellsShareAndTimeLeft) {
  EXPECT_EQ(ProgressText(0, 5), "0 %");
  EXPECT_EQ(ProgressText(0.25, 5), "25 %, 15 s left");
  EXPECT_EQ(ProgressText(0.1, 60), "10 %, 9 min left");
  EXPECT_EQ(ProgressText(1.5, 60), "100 %, 0 s left");
}

TEST(ProgressTest, NothingIsShownInTheFirstSecond) {
  testing::internal::CaptureStderr();
  {
    ProgressLine line(true);
    const auto start = std::chrono::steady_clock::now();
    line.Show("early", 0.1);
    if (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(900)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1100));
      line.Show("replayed", 0.5);
    }
    ProgressLine(false).Show("never", 0.5);
  }
  const std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_EQ(shown.find("never"), std::string::npos);
  EXPECT_NE(shown.find("... replayed, 50 %, "), std::string::npos) << shown;
  EXPECT_EQ(shown.back(), '\n');
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

// The keys of deletions are bytes of the user, as MioDB's own counter has it, for every store.
TEST_F(DriverTest, AStoreWithoutCountersIsSaidWhatTheUserWrote) {
  store_.has_counters = false;
  config_.key_size = 16;
  config_.value_size = 100;
  EXPECT_EQ(Run("fillseq,deleteseq"), 0);
  EXPECT_TRUE(Printed("user bytes: 132000\n")) << out_;
  config_.batch_size = 10;
  EXPECT_EQ(Run("fillseq,deleteseq"), 0);
  EXPECT_TRUE(Printed("user bytes: 132000\n")) << out_;
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
  EXPECT_EQ(Run("fillseq,compact,flush,wait,waitforcompaction,resetstats,heapprofile"), 0);
  EXPECT_EQ(store_.compactions, 1);
  EXPECT_EQ(store_.flushes, 1);
  EXPECT_EQ(store_.waits, 2);
  EXPECT_TRUE(Printed("Wait balance:0 s\n"));
  EXPECT_TRUE(Printed("waitforcompaction(nowhere): started\nwaitforcompaction(nowhere): finished with status (OK)\n"));
  EXPECT_TRUE(Printed("resetstats   : not available\nheapprofile  : not available\n")) << out_;
}

TEST_F(DriverTest, APauseTakesItsTimeAndPrintsNothing) {
  config_.pause_seconds = 0.05;
  const uint64_t start = Ticks::MonotonicNanos();
  EXPECT_EQ(Run("fillseq,pause,readseq"), 0);
  EXPECT_GE(Ticks::MonotonicNanos() - start, 50u * 1000 * 1000);
  EXPECT_EQ(store_.opens, 1);
  EXPECT_FALSE(Printed("pause"));
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
