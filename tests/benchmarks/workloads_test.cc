// The workloads beyond LevelDB's: what each does to a store in memory, and what the flags change about it.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/common/draw/zipfian.h"
#include "benchmarks/db_bench/measure/interval_report.h"
#include "benchmarks/db_bench/workloads/rate_limiter.h"
#include "tests/benchmarks/map_engine.h"

namespace miodb::bench {
namespace {

TEST_F(DriverTest, UniqueRandomFillWritesEveryKeyOnceInNoOrder) {
  EXPECT_EQ(Run("filluniquerandom"), 0);
  EXPECT_EQ(store_.puts, 1000u);
  EXPECT_EQ(store_.map.size(), 1000u);
  EXPECT_TRUE(Printed(" 1000 operations;"));
  EXPECT_NE(store_.first_put, "0000000000000000");
}

TEST_F(DriverTest, ThreadsShareAUniqueRandomFill) {
  config_.threads = 3;
  EXPECT_EQ(Run("filluniquerandom"), 0);
  EXPECT_EQ(store_.puts, 1000u);
  EXPECT_EQ(store_.map.size(), 1000u);
}

TEST_F(DriverTest, AUniqueRandomFillMayRepeatAShareOfItsKeys) {
  config_.overwrite_probability = 0.5;
  config_.overwrite_window_size = 10;
  EXPECT_EQ(Run("filluniquerandom"), 0);
  EXPECT_EQ(store_.puts, 1000u);
  EXPECT_NEAR(static_cast<double>(store_.map.size()), 500, 80);
}

TEST_F(DriverTest, MultipleReadsCountEveryKey) {
  config_.batch_size = 16;
  config_.reads = 100;
  EXPECT_EQ(Run("fillseq,multireadrandom"), 0);
  EXPECT_EQ(store_.gets, 100u);
  EXPECT_TRUE(Printed("(100 of 100 found)")) << out_;
  EXPECT_TRUE(Printed(" 100 operations;"));
}

TEST_F(DriverTest, MultipleReadsMayStrideThroughTheKeys) {
  config_.batch_size = 10;
  config_.reads = 10;
  config_.multiread_stride = 100;
  EXPECT_EQ(Run("fillseq,multireadrandom"), 0);
  ASSERT_EQ(store_.get_keys.size(), 10u);
  std::set<std::string> last_digits;
  for (const std::string& key : store_.get_keys) last_digits.insert(key.substr(key.size() - 2));
  EXPECT_EQ(last_digits.size(), 1u);
}

TEST_F(DriverTest, SkewedReadsAskForFewKeysMostOfTheTime) {
  EXPECT_EQ(Run("fillseq,readrandom"), 0);
  const size_t uniform = store_.get_keys.size();
  EXPECT_NEAR(static_cast<double>(uniform), 632, 60);
  store_.get_keys.clear();
  config_.read_random_exp_range = 20;
  EXPECT_EQ(Run("fillseq,readrandom"), 0);
  EXPECT_LT(store_.get_keys.size(), uniform / 2);
  EXPECT_TRUE(Printed("(1000 of 1000 found)")) << out_;
}

TEST_F(DriverTest, ZipfianReadsAskForTheFirstRankAsOftenAsItsShare) {
  EXPECT_EQ(Run("fillseq,readzipfian"), 0);
  EXPECT_LT(store_.get_keys.size(), 450u);  // of 632 with all keys alike
  const Zipfian zipf(1000, 0.99);
  double zeta = 0;
  for (int i = 1; i <= 1000; i++) zeta += std::pow(i, -0.99);
  std::vector<int> counts(1000);
  for (int i = 0; i < 1000000; i++) counts[zipf.Rank(i / 1e6)]++;
  EXPECT_NEAR(counts[0], 1e6 / zeta, 1e6 / zeta / 50);
  EXPECT_NEAR(counts[1], 1e6 / zeta * std::pow(2, -0.99), 1e6 / zeta / 50);
  EXPECT_GT(counts[999], 0);
  EXPECT_GT(counts[10], counts[100]);
}

TEST_F(DriverTest, ValueSizesFollowTheirDistribution) {
  config_.value_size_distribution_type = "uniform";
  config_.value_size_min = 5;
  config_.value_size_max = 50;
  EXPECT_EQ(Run("fillseq"), 0);
  std::set<size_t> sizes;
  for (const auto& [key, value] : store_.map) sizes.insert(value.size());
  EXPECT_EQ(*sizes.begin(), 5u);
  EXPECT_EQ(*sizes.rbegin(), 50u);
  EXPECT_TRUE(Printed("Values:     uniform from 5 to 50 bytes\n")) << out_;
}

TEST_F(DriverTest, AppendingMakesValuesLonger) {
  config_.num = 10;
  config_.reads = 1000;
  EXPECT_EQ(Run("fillseq,appendrandom"), 0);
  size_t bytes = 0;
  for (const auto& [key, value] : store_.map) bytes += value.size();
  EXPECT_EQ(bytes, 10u * 10 + 1000u * 11);  // Each append adds a comma and ten bytes.
  EXPECT_TRUE(Printed("( updates:1000 found:1000)")) << out_;
}

TEST_F(DriverTest, ABackgroundScanIsNotAmongTheFigures) {
  config_.threads = 2;
  config_.reads = 500;
  EXPECT_EQ(Run("fillseq,readwhilescanning"), 0);
  EXPECT_TRUE(Printed("(1000 of 1000 found) (background scanned:")) << out_;
  EXPECT_TRUE(Printed(" 1000 operations;"));
}

TEST_F(DriverTest, SeeksMayGoOnBesideAWriter) {
  config_.reads = 50;
  EXPECT_EQ(Run("fillseq,seekrandomwhilewriting"), 0);
  EXPECT_TRUE(Printed("(50 of 50 found) (background writes:")) << out_;
}

TEST_F(DriverTest, ABackgroundWriterCanBeAskedForItsFullCount) {
  config_.reads = 10;
  config_.writes = 700;
  config_.finish_after_writes = true;
  EXPECT_EQ(Run("fillseq,readwhilewriting"), 0);
  EXPECT_TRUE(Printed(" found) (background writes:700)")) << out_;
}

TEST_F(DriverTest, AScanEndsAtItsDistance) {
  config_.reads = 20;
  config_.seek_nexts = 100;
  config_.max_scan_distance = 4;
  EXPECT_EQ(Run("fillseq,seekrandom"), 0);
  EXPECT_LE(store_.cursor_moves, 20u * 5);
  store_.cursor_moves = 0;
  config_.reverse_iterator = true;
  EXPECT_EQ(Run("fillseq,seekrandom"), 0);
  EXPECT_LE(store_.cursor_moves, 20u * 5);
  EXPECT_GE(store_.cursor_moves, 20u);
}

TEST_F(DriverTest, OneThreadReadsEverythingToWarmACache) {
  config_.threads = 3;
  config_.reads = 10;
  EXPECT_EQ(Run("fillseq,readtocache"), 0);
  EXPECT_TRUE(Printed(" 1000 operations;"));
}

TEST_F(DriverTest, IteratorsAreMadeAndDropped) {
  config_.reads = 30;
  EXPECT_EQ(Run("fillseq,newiterator"), 0);
  EXPECT_TRUE(Printed(" 30 operations;"));
}

TEST_F(DriverTest, RecoveringOpensAnExistingStoreOnce) {
  EXPECT_EQ(Run("recover"), 0);
  EXPECT_TRUE(Printed("recover      : skipped (--use_existing_db is false)\n")) << out_;
  EXPECT_EQ(store_.opens, 0);
  config_.use_existing_db = true;
  EXPECT_EQ(Run("recover"), 0);
  EXPECT_EQ(store_.opens, 1);
  EXPECT_EQ(store_.destroys, 0);
  EXPECT_TRUE(Printed(" 1 operations;")) << out_;
}

using DriverDeathTest = DriverTest;

TEST_F(DriverDeathTest, AKilledProcessClosesNothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  MapEngine engine(&store_);
  config_.benchmarks = "fillseq,kill,readseq";
  EXPECT_EXIT(Driver(config_, &engine).Run(), testing::KilledBySignal(SIGKILL), "");
}

TEST_F(DriverTest, MergesAndSingleDeletions) {
  config_.num = 200;
  config_.merge_keys = 10;
  config_.mergereadpercent = 50;
  EXPECT_EQ(Run("mergerandom"), 0);
  EXPECT_EQ(200u, store_.merges);
  EXPECT_LE(store_.map.size(), 10u);
  EXPECT_EQ(Run("readrandommergerandom"), 0);
  EXPECT_EQ(400u, store_.merges + store_.gets);
  EXPECT_GT(store_.gets, 50u);
  EXPECT_EQ(0u, store_.single_deletes);
  config_.use_single_deletes = true;
  EXPECT_EQ(Run("deleteseq"), 0);
  EXPECT_EQ(200u, store_.single_deletes);
}

TEST_F(DriverTest, ALimitHoldsWritersBack) {
  config_.num = 100;
  config_.value_size = 984;
  config_.benchmark_write_rate_limit = 1000 * 1000;  // 100 records of 1000 bytes take 0.1 s less the first burst.
  EXPECT_EQ(Run("fillseq"), 0);
  const size_t at = out_.find(" seconds 100 operations;");
  ASSERT_NE(at, std::string::npos) << out_;
  EXPECT_GE(std::stod(out_.substr(out_.rfind(' ', at - 1))), 0.08);
}

// An update reads before it waits for its turn to write.
TEST_F(DriverTest, AnUpdateUnderALimitHasTheTimeOfItsRead) {
  config_.num = 20;
  config_.benchmark_write_rate_limit = int64_t{1} << 40;
  config_.latency = true;
  store_.least_get_nanos = 1000000;
  EXPECT_EQ(Run("updaterandom"), 0);
  EXPECT_EQ(store_.gets, 20u);
  const size_t at = out_.find("P50: ");
  ASSERT_NE(at, std::string::npos) << out_;
  EXPECT_GE(std::stod(out_.substr(at + 5)), 1000) << out_;
}

TEST(RateLimiterTest, RequestsGetTheirTurnsOneBehindTheOther) {
  RateLimiter limiter(1000);
  constexpr uint64_t kSecond = 1000000000;
  const uint64_t first = limiter.Book(500, 10 * kSecond);
  EXPECT_EQ(first, 10 * kSecond - RateLimiter::kBurstNanos);
  EXPECT_EQ(limiter.Book(500, 10 * kSecond), first + kSecond / 2);
  EXPECT_EQ(limiter.Book(1, 10 * kSecond), first + kSecond);
  // Nothing is saved up while nobody asks, but for a burst.
  EXPECT_EQ(limiter.Book(1, 100 * kSecond), 100 * kSecond - RateLimiter::kBurstNanos);
}

TEST(RateLimiterTest, ARateMayFollowACurve) {
  constexpr uint64_t kSecond = 1000000000;
  // 100 units a second, after a second 200, after two none, which leaves it at 200.
  RateLimiter limiter([](double seconds) { return seconds < 1 ? 100 : seconds < 2 ? 200 : -1; }, kSecond);
  ASSERT_TRUE(limiter.is_limited());
  uint64_t turn = limiter.Book(100, 10 * kSecond);
  EXPECT_EQ(limiter.Book(100, 10 * kSecond + kSecond / 2), turn + kSecond);
  turn = limiter.Book(100, 20 * kSecond);
  EXPECT_EQ(limiter.Book(1, 20 * kSecond), turn + kSecond);  // 10 s after the start: none, as before

  RateLimiter rising([](double seconds) { return 100 + 100 * seconds; }, kSecond);
  turn = rising.Book(100, 10 * kSecond);
  EXPECT_EQ(rising.Book(200, 11 * kSecond), turn + kSecond);
  EXPECT_EQ(rising.Book(1, 11 * kSecond + 1), turn + 2 * kSecond);
}

TEST_F(DriverTest, WritersFollowTheSine) {
  config_.num = 100;
  config_.value_size = 984;
  config_.mixgraph.sine_write_rate = true;
  config_.mixgraph.sine_a = 0;
  config_.mixgraph.sine_d = 1e6;  // as with the limit above
  EXPECT_EQ(Run("fillseq"), 0);
  EXPECT_TRUE(Printed("Write rate: 1000000 bytes/second at the start\n")) << out_;
  const size_t at = out_.find(" seconds 100 operations;");
  ASSERT_NE(at, std::string::npos) << out_;
  EXPECT_GE(std::stod(out_.substr(out_.rfind(' ', at - 1))), 0.08);
}

TEST_F(DriverTest, VerifiedRecordsHaveTenEqualEntries) {
  config_.readwritepercent = 50;
  config_.deletepercent = 10;
  EXPECT_EQ(Run("randomwithverify"), 0);
  EXPECT_TRUE(Printed("( get:500 put:400 del:100 total:1000 found:")) << out_;
  EXPECT_EQ(store_.puts, 4000u);
  EXPECT_EQ(store_.deletes, 1000u);
  EXPECT_EQ(store_.map.size() % 10, 0u);
  EXPECT_EQ(store_.batches, 500u);
}

TEST_F(DriverTest, AMissingOrAnUnequalEntryFailsTheVerification) {
  config_.num = 20;
  config_.reads = 1000;
  config_.readwritepercent = 0;
  config_.deletepercent = 0;
  ASSERT_EQ(Run("randomwithverify"), 0);
  ASSERT_FALSE(store_.map.empty());
  config_.use_existing_db = true;
  config_.readwritepercent = 100;
  EXPECT_EQ(Run("randomwithverify"), 0) << err_;
  const auto complete = store_.map;
  store_.map.erase(std::next(store_.map.begin(), 3));
  EXPECT_EQ(Run("randomwithverify"), 1);
  EXPECT_NE(err_.find("randomwithverify: wrong data: record "), std::string::npos) << err_;
  EXPECT_NE(err_.find(" has 9 of 10 entries\n"), std::string::npos) << err_;
  store_.map = complete;
  store_.map.begin()->second.back() ^= 1;
  EXPECT_EQ(Run("randomwithverify"), 1);
  EXPECT_NE(err_.find(" has 10 of 10 entries, which are not alike\n"), std::string::npos) << err_;
}

TEST_F(DriverTest, ExistingKeysAreTheKeySource) {
  for (int i = 0; i < 30; i++) store_.map["no number " + std::to_string(i)] = "value";
  config_.use_existing_db = true;
  config_.use_existing_keys = true;
  config_.num = 7;
  config_.reads = 500;
  EXPECT_EQ(Run("readrandom,seekrandom,multireadrandom,overwrite,readmissing"), 0) << err_;
  EXPECT_TRUE(Printed("Existing keys: 30\n")) << out_;
  EXPECT_EQ(CountOf(out_, "Existing keys"), 1u);
  EXPECT_EQ(CountOf(out_, "(500 of 500 found)"), 3u) << out_;
  EXPECT_TRUE(Printed("(0 of 500 found)")) << out_;
  EXPECT_EQ(store_.map.size(), 30u);
  store_.map.clear();
  EXPECT_EQ(Run("readrandom"), 1);
  EXPECT_NE(err_.find("--use_existing_keys: the database has no keys"), std::string::npos) << err_;
}

TEST_F(DriverTest, ReadOnlyRefusesWhatWritesBeforeAnythingRuns) {
  store_.map["0000000000000000"] = "value";
  config_.use_existing_db = true;
  config_.readonly = true;
  for (const std::string name :
       {"overwrite", "deleteseq", "deleterandom", "readwhilewriting", "seekrandomwhilewriting", "readrandomwriterandom",
        "updaterandom", "appendrandom", "randomwithverify", "compact", "flush", "replay"}) {
    EXPECT_EQ(Run("readrandom," + name), 1) << name;
    EXPECT_EQ(err_, name + ": it writes, which --readonly excludes\n");
  }
  EXPECT_EQ(store_.opens, 0);
  EXPECT_EQ(Run("fillseq,readrandom,readseq,seekrandom,readwhilescanning,mixgraph,stats"), 0) << err_;
  EXPECT_TRUE(Printed("fillseq      : skipped"));
  EXPECT_EQ(store_.puts, 0u);
  config_.mixgraph.mix_put_ratio = 0.1;
  EXPECT_EQ(Run("mixgraph"), 1);
}

TEST_F(DriverTest, WaitsThatWereInterruptedHaveNoResult) {
  Interrupt::Install();
  store_.signal_at_wait = true;
  EXPECT_EQ(Run("fillseq,wait,readseq"), 130);
  EXPECT_TRUE(Printed("fillseq      :"));
  EXPECT_FALSE(Printed("Wait balance")) << out_;
  EXPECT_FALSE(Printed("readseq"));
  EXPECT_TRUE(Printed("wa: 30\n"));
  EXPECT_EQ(Run("fillseq,waitforcompaction"), 130);
  EXPECT_FALSE(Printed("finished with status")) << out_;
  EXPECT_EQ(Run("fillseq,compact"), 130);
  EXPECT_FALSE(Printed("compact  ")) << out_;
}

TEST_F(DriverTest, ARepeatedBenchmarkPrintsAveragesAndStartsFreshEachTime) {
  EXPECT_EQ(Run("fillseq[X3-W1],readrandom[X2]"), 0);
  EXPECT_EQ(store_.puts, 4000u);
  EXPECT_EQ(store_.destroys, 4);
  EXPECT_EQ(CountOf(out_, "fillseq      : "), 4u);
  EXPECT_TRUE(Printed("Warming up benchmark by running 1 times\n")) << out_;
  EXPECT_TRUE(Printed("Running benchmark for 3 times\n"));
  EXPECT_TRUE(Printed("\nfillseq [AVG 3 runs] : ")) << out_;
  EXPECT_TRUE(Printed("\nfillseq [AVG    3 runs] : "));
  EXPECT_TRUE(Printed("\nfillseq [MEDIAN 3 runs] : "));
  EXPECT_TRUE(Printed("\nreadrandom [MEDIAN 2 runs] : "));
}

TEST_F(DriverTest, TheIntervalReportCountsEveryMeasuredOperation) {
  config_.report_interval_seconds = 1;
  config_.report_file = testing::TempDir() + "/interval_report.csv";
  EXPECT_EQ(Run("fillseq,readrandom"), 0);
  std::ifstream file(config_.report_file);
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  EXPECT_EQ(line, "secs_elapsed,interval_qps");
  int64_t total = 0;
  while (std::getline(file, line)) total += std::stoll(line.substr(line.find(',') + 1));
  EXPECT_EQ(total, 2000);
  config_.report_file = testing::TempDir() + "/no/such/folder/report.csv";
  EXPECT_EQ(Run("fillseq"), 1);
  EXPECT_NE(err_.find("--report_file: cannot write "), std::string::npos) << err_;
}

}  // namespace
}  // namespace miodb::bench
