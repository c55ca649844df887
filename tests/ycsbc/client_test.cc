// Phases on a store that remembers what was asked of it: every loaded record is reached, inserts go on behind them,
// nothing is asked for too early, threads share the work exactly, and what is measured is what happened.

#include "ycsbc/run/client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/common/clock/ticks.h"
#include "benchmarks/common/interrupt.h"
#include "tests/ycsbc/map_engine.h"
#include "tests/ycsbc/read_settings.h"

namespace miodb::ycsb {
namespace {

// Small records and three threads, unless "values" say otherwise.
Settings Read(const Values& values) {
  Values all = values;
  all.insert({{"fieldcount", "2"}, {"fieldlength", "10"}, {"threadcount", "3"}});
  return ReadSettings(all);
}

class ClientTest : public testing::Test {
 protected:
  void SetUp() override {
    bench::Ticks::Calibrate();
    bench::Interrupt::Install();
  }

  PhaseResult Do(const Values& values, PhaseKind kind) {
    const Settings settings = Read(values);
    const RateSchedule schedule(settings.target);
    return RunPhase(settings, schedule, kind, 1, &engine_, nullptr);
  }
  PhaseResult Load(const Values& values = {}) { return Do(values, PhaseKind::kLoad); }
  PhaseResult Run(const Values& values) { return Do(values, PhaseKind::kRun); }

  static std::string Key(uint64_t number) {
    KeyBuffer key(true, KeyHash::kJava, 1);
    return std::string(key.Make(number));
  }

  static uint64_t Ok(const PhaseResult& result, Op op) { return result.summary.Count(op, Result::kOk); }

  MapEngine engine_;
  MapStore& store_ = engine_.store;
};

const Values kOnlyReads = {{"readproportion", "1"}, {"updateproportion", "0"}};

Values With(Values values, const Values& more) {
  for (const auto& [name, value] : more) values[name] = value;
  return values;
}

TEST_F(ClientTest, ALoadInsertsEachRecordOnce) {
  const PhaseResult result = Load({{"recordcount", "1001"}});
  EXPECT_EQ(result.operations, 1001u);
  EXPECT_EQ(Ok(result, Op::kInsert), 1001u);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(store_.puts.size(), 1001u);
  EXPECT_EQ(store_.records.size(), 1001u);
  for (uint64_t i = 0; i < 1001; i++) EXPECT_EQ(store_.records.count(Key(i)), 1u) << i;
}

TEST_F(ClientTest, SeveralLoadsShareTheRecords) {
  Load({{"insertstart", "0"}, {"insertcount", "400"}});
  EXPECT_EQ(store_.records.size(), 400u);
  Load({{"insertstart", "400"}});
  EXPECT_EQ(store_.records.size(), 1000u);
  EXPECT_EQ(store_.puts.size(), 1000u);
}

TEST_F(ClientTest, OrderedKeysComeInOrder) {
  Load({{"insertorder", "ordered"}, {"zeropadding", "5"}, {"threadcount", "1"}});
  ASSERT_EQ(store_.puts.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(store_.puts.begin(), store_.puts.end()));
  EXPECT_EQ(store_.puts[999], "user00999");
}

TEST_F(ClientTest, EveryLoadedRecordIsReachedAndNothingElse) {
  Load();
  // The rarest record of "latest" and "exponential" has some 0.01 % of the requests.
  for (const auto& [name, operations] : Values{{"uniform", "30001"},
                                               {"zipfian", "30001"},
                                               {"latest", "150001"},
                                               {"hotspot", "50001"},
                                               {"exponential", "150001"},
                                               {"sequential", "1001"}}) {
    store_.gets.clear();
    const PhaseResult result = Run(With(kOnlyReads, {{"requestdistribution", name}, {"operationcount", operations}}));
    EXPECT_EQ(result.operations, std::stoull(operations)) << name;
    EXPECT_EQ(Ok(result, Op::kRead), result.operations) << name;
    EXPECT_EQ(store_.gets.size(), 1000u) << name;
  }
  EXPECT_EQ(store_.missing, 0);
}

// Workload D's mix: the reads never get ahead of the inserts, and follow them closely. How closely is told with one
// thread: with several, whoever is preempted in an insert holds back the reads of all.
TEST_F(ClientTest, InsertsContinueBehindTheLoadedRecordsAndReadsFollowThem) {
  Load();
  for (const char* threads : {"1", "3"}) {
    for (const char* name : {"latest", "zipfian", "exponential"}) {
      SCOPED_TRACE(std::string(name) + ", threads: " + threads);
      store_.gets.clear();
      store_.puts.clear();
      const PhaseResult result = Run({{"readproportion", "0.5"},
                                      {"updateproportion", "0"},
                                      {"insertproportion", "0.5"},
                                      {"requestdistribution", name},
                                      {"threadcount", threads},
                                      {"operationcount", "20000"}});
      const uint64_t inserts = Ok(result, Op::kInsert);
      EXPECT_GT(inserts, 9000u);
      EXPECT_EQ(store_.puts.size(), inserts);
      std::set<std::string> expected;
      for (uint64_t i = 0; i < inserts; i++) expected.insert(Key(1000 + i));
      EXPECT_EQ(std::set<std::string>(store_.puts.begin(), store_.puts.end()), expected);
      EXPECT_EQ(store_.missing, 0);
      uint64_t reads_of_new = 0;
      for (const auto& [key, count] : store_.gets) reads_of_new += expected.count(key) * static_cast<uint64_t>(count);
      if (threads == std::string("1")) {
        EXPECT_GT(reads_of_new, 5000u);
      }
      for (const std::string& key : expected) store_.records.erase(key);
    }
  }
}

TEST_F(ClientTest, TheMixIsTheOneAskedFor) {
  Load();
  const PhaseResult result = Run({{"readproportion", "4"},  // Shares, not fractions.
                                  {"updateproportion", "3"},
                                  {"insertproportion", "0"},
                                  {"scanproportion", "2"},
                                  {"readmodifywriteproportion", "1"},
                                  {"maxscanlength", "5"},
                                  {"operationcount", "20000"},
                                  {"outputstyle", "miodb"}});  // Which does not record the parts of a rmw.
  EXPECT_NEAR(static_cast<double>(Ok(result, Op::kRead)), 8000, 350);
  EXPECT_NEAR(static_cast<double>(Ok(result, Op::kUpdate)), 6000, 325);
  EXPECT_NEAR(static_cast<double>(Ok(result, Op::kScan)), 4000, 285);
  EXPECT_NEAR(static_cast<double>(Ok(result, Op::kReadModifyWrite)), 2000, 215);
  EXPECT_EQ(Ok(result, Op::kRead) + Ok(result, Op::kUpdate) + Ok(result, Op::kScan) + Ok(result, Op::kReadModifyWrite),
            20000u);
  EXPECT_EQ(store_.seeks.size(), Ok(result, Op::kScan));
}

TEST_F(ClientTest, AnOperationWithoutAShareNeverHappens) {
  Load();
  const PhaseResult result = Run(
      {{"readproportion", "0.1"}, {"updateproportion", "0.2"}, {"scanproportion", "0"}, {"operationcount", "50000"}});
  EXPECT_EQ(Ok(result, Op::kRead) + Ok(result, Op::kUpdate), 50000u);
}

TEST_F(ClientTest, UpdatesKeepTheOtherFields) {
  Load();
  const auto before = store_.records;
  Run({{"readproportion", "0"}, {"updateproportion", "1"}, {"operationcount", "5000"}});
  int changed_fields = 0;
  EXPECT_EQ(store_.records.size(), before.size());
  for (const auto& [key, old_record] : before) {
    std::string_view left = old_record;
    std::string_view right = store_.records.at(key);
    Field a;
    Field b;
    for (int i = 0; i < 2; i++) {
      ASSERT_TRUE(NextField(&left, &a) && NextField(&right, &b));
      EXPECT_EQ(a.name, b.name);
      changed_fields += a.value != b.value ? 1 : 0;
    }
    EXPECT_TRUE(right.empty());
  }
  // 5000 After 5000 updates of a random field among 2000 fields about e^-2.5 of the fields are unchanged.
  EXPECT_NEAR(changed_fields, 1836, 75);
}

TEST_F(ClientTest, WritingAllFieldsNeedsNoRead) {
  Load();
  const Values updates = {{"readproportion", "0"}, {"updateproportion", "1"}};
  Run(With(updates, {{"writeallfields", "true"}}));
  EXPECT_TRUE(store_.gets.empty());
  Run(updates);
  EXPECT_FALSE(store_.gets.empty());
}

TEST_F(ClientTest, AReadModifyWriteIsAReadAndAnUpdate) {
  Load();
  const PhaseResult result =
      Run({{"readproportion", "0"}, {"updateproportion", "0"}, {"readmodifywriteproportion", "1"}});
  for (const Op op : {Op::kReadModifyWrite, Op::kRead, Op::kUpdate}) EXPECT_EQ(Ok(result, op), 1000u);
}

TEST_F(ClientTest, IntegrityIsVerifiedAndDamageIsFound) {
  Load({{"dataintegrity", "true"}});
  const Values mix = {{"dataintegrity", "true"},
                      {"readproportion", "0.7"},
                      {"updateproportion", "0.3"},
                      {"operationcount", "5000"},
                      {"requestdistribution", "sequential"}};
  const PhaseResult sound = Run(mix);
  EXPECT_EQ(sound.error, "");
  EXPECT_GT(Ok(sound, Op::kVerify), 3000u);
  EXPECT_EQ(Ok(sound, Op::kVerify), Ok(sound, Op::kRead));

  const std::string victim = Key(7);
  store_.records[victim].back() ^= 1;
  const PhaseResult damaged = Run(With(kOnlyReads, {{"dataintegrity", "true"}, {"requestdistribution", "sequential"}}));
  EXPECT_EQ(damaged.summary.Count(Op::kVerify, Result::kUnexpectedState), 1u);
  EXPECT_EQ(damaged.error, "verification of " + victim + ": not the value that was written");
}

TEST_F(ClientTest, RecordsThatAreNotThereAreNotErrors) {
  const PhaseResult result = Run(kOnlyReads);
  EXPECT_EQ(result.summary.Count(Op::kRead, Result::kNotFound), 1000u);
  EXPECT_EQ(result.error, "");
}

TEST_F(ClientTest, AFailedInsertEndsALoad) {
  store_.failing_puts = 1;
  const PhaseResult result = Load({{"threadcount", "1"}});
  EXPECT_EQ(result.error, "insert of " + Key(0) + ": no more room");
  EXPECT_EQ(result.operations, 1u);
  EXPECT_EQ(result.summary.Count(Op::kInsert, Result::kError), 1u);
}

TEST_F(ClientTest, FailedInsertsAreTriedAgainOrPassedOver) {
  store_.failing_puts = 2;
  const PhaseResult retried = Load({{"core_workload_insertion_retry_limit", "2"},
                                    {"core_workload_insertion_retry_interval", "0"},
                                    {"threadcount", "1"}});
  EXPECT_EQ(retried.error, "");
  EXPECT_EQ(store_.records.size(), 1000u);
  store_.records.clear();
  store_.failing_puts = 2;
  const PhaseResult passed = Load({{"core_workload_insertion_keep_going_on_error", "true"}});
  EXPECT_NE(passed.error, "");
  EXPECT_EQ(store_.records.size(), 998u);
}

TEST_F(ClientTest, ARunGoesOnAfterAFailureAndTellsTheFirst) {
  Load();
  store_.failing_puts = 3;
  const PhaseResult result = Run({{"readproportion", "0"}, {"updateproportion", "1"}});
  EXPECT_EQ(result.operations, 1000u);
  EXPECT_EQ(result.summary.Count(Op::kUpdate, Result::kError), 3u);
  EXPECT_EQ(result.error.rfind("write of user", 0), 0u);
}

TEST_F(ClientTest, ScansReadAsManyRecordsAsAskedOrAsThereAre) {
  Load({{"insertorder", "ordered"}, {"zeropadding", "4"}});
  const PhaseResult result = Run({{"insertorder", "ordered"},
                                  {"zeropadding", "4"},
                                  {"readproportion", "0"},
                                  {"updateproportion", "0"},
                                  {"scanproportion", "1"},
                                  {"minscanlength", "600"},
                                  {"readallfields", "false"},
                                  {"operationcount", "30"}});
  EXPECT_EQ(Ok(result, Op::kScan), 30u);
  EXPECT_EQ(Ok(result, Op::kScanPerRecord), 30u);
}

TEST_F(ClientTest, ATimeLimitEndsARun) {
  Load();
  const PhaseResult result = Run({{"operationcount", "0"}, {"maxexecutiontime", "1"}, {"target", "1000"}});
  EXPECT_GE(result.seconds, 0.99);
  EXPECT_LT(result.seconds, 20);
  EXPECT_LE(result.operations, 1000 * result.seconds + 3);
}

TEST_F(ClientTest, ARequestToStopEndsARun) {
  Load();
  bench::Interrupt::RequestStop();
  EXPECT_EQ(Run({{"operationcount", "0"}}).operations, 0u);
}

TEST_F(ClientTest, ATargetIsNotExceeded) {
  Load();
  const PhaseResult result = Run({{"target", "2000"}, {"operationcount", "600"}});
  EXPECT_GE(result.seconds, 0.295);
  EXPECT_EQ(result.operations, 600u);
}

// A slow put holds up all puts that were due behind it. Counted from their beginning only one operation was slow;
// counted from when they were due, those of 200 ms at one a millisecond were.
TEST_F(ClientTest, IntendedLatenciesShowWhatWaitedBehindASlowOperation) {
  store_.slow_at = 100;
  store_.slow_put = std::chrono::milliseconds(200);
  const PhaseResult result = Load({{"threadcount", "1"}, {"target", "1000"}, {"recordcount", "500"}});
  const Series* op = result.summary.Find(Op::kInsert, Result::kOk, false);
  const Series* intended = result.summary.Find(Op::kInsert, Result::kOk, true);
  ASSERT_TRUE(op != nullptr && intended != nullptr);
  EXPECT_EQ(op->latency.count(), 500u);
  EXPECT_EQ(intended->latency.count(), 500u);
  EXPECT_GE(intended->latency.max(), 200u * 1000 * 1000);
  // 200 of the 500 waited, half of these 100 ms and longer.
  EXPECT_GT(intended->latency.Percentile(80), 90e6);
  EXPECT_LT(op->latency.Percentile(50), 50e6);
}

TEST_F(ClientTest, RatesChangeAsTheirFileSays) {
  RateSchedule schedule(0);
  EXPECT_TRUE(schedule.is_unlimited());
  const std::string path = testing::TempDir() + "/client_test.rates";
  std::ofstream(path) << "# seconds rate\n1 100\n2.5 5000\n";
  ASSERT_EQ(schedule.ReadFile(path), "");
  EXPECT_FALSE(schedule.is_unlimited());
  EXPECT_EQ(schedule.RateAt(0), 0);
  EXPECT_EQ(schedule.RateAt(999999999), 0);
  EXPECT_EQ(schedule.RateAt(1000000000), 100);
  EXPECT_EQ(schedule.RateAt(2500000000), 5000);
  EXPECT_EQ(schedule.DueAfter(1e9, 100), 2e9);
  EXPECT_EQ(schedule.DueAfter(2e9, 51), 2.5e9 + 1e9 / 5000) << "half a second at 100, one operation at 5000";
  EXPECT_EQ(schedule.DueAfter(3e9, 5000), 4e9);
  std::ofstream(path) << "2 100\n2 50\n";
  RateSchedule bad(0);
  EXPECT_EQ(bad.ReadFile(path), path + ":2: not later than the line before");
}

TEST_F(ClientTest, PinnedThreadsDoTheSame) {
  EXPECT_EQ(Load({{"pinthreads", "true"}, {"threadcount", "5"}}).operations, 1000u);
  EXPECT_EQ(store_.records.size(), 1000u);
}

TEST_F(ClientTest, EqualSeedsGiveEqualRequests) {
  Load({{"threadcount", "1"}});
  const auto records = store_.records;
  const Values mix = With(kOnlyReads, {{"threadcount", "1"}, {"requestdistribution", "zipfian"}});
  Run(mix);
  const auto gets = store_.gets;
  store_.gets.clear();
  Run(mix);
  EXPECT_EQ(store_.gets, gets);
  store_.gets.clear();
  Run(With(mix, {{"seed", "2"}}));
  EXPECT_NE(store_.gets, gets);
  Load({{"threadcount", "1"}});
  EXPECT_EQ(store_.records, records);
}

TEST(InsertCounterTest, NothingCountsBeforeAllBelowItIsAcknowledged) {
  InsertCounter counter(10);
  EXPECT_EQ(counter.End(), 10u);
  EXPECT_EQ(counter.Next(), 10u);
  EXPECT_EQ(counter.Next(), 11u);
  EXPECT_EQ(counter.Next(), 12u);
  counter.Acknowledge(11);
  EXPECT_EQ(counter.End(), 10u);
  counter.Acknowledge(10);
  EXPECT_EQ(counter.End(), 12u);
  counter.Acknowledge(12);
  EXPECT_EQ(counter.End(), 13u);
}

TEST(InsertCounterTest, ManyThreadsLoseNothing) {
  constexpr int kThreads = 4;
  constexpr uint64_t kEach = 100000;  // Several times round the ring.
  InsertCounter counter(5);
  std::atomic<bool> is_ahead{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < kEach; i++) {
        const uint64_t number = counter.Next();
        if (counter.End() > number) is_ahead = true;
        counter.Acknowledge(number);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(is_ahead);
  EXPECT_EQ(counter.End(), 5 + kThreads * kEach);
}

}  // namespace
}  // namespace miodb::ycsb
