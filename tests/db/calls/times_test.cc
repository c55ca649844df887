// Options::statistics: what "miodb.times" and "miodb.prometheus" say of calls and background work.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "src/db/stats/op_times.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/program.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

class TimesTest : public DbTestBase {
 protected:
  std::string Property(const std::string& name) {
    std::string value;
    EXPECT_TRUE(db_->GetProperty(name, &value)) << name;
    return value;
  }

  // "get: count 3 ..."; 0 if there is no such line.
  uint64_t CountOf(const std::string& op) {
    const std::string text = Property("miodb.times"), start = op + ": count ";
    const size_t at = text.find(start);
    return at == std::string::npos ? 0 : strtoull(text.c_str() + at + start.size(), nullptr, 10);
  }
};

TEST(OpTimesTest, BucketsFollowOneAnotherAndAreNarrow) {
  uint64_t next = 0;
  for (size_t i = 0; i < ThreadHistogram::kBuckets; i++) {
    EXPECT_EQ(next, ThreadHistogram::BucketStart(i));
    EXPECT_EQ(i, ThreadHistogram::BucketOf(next));
    const uint64_t span = ThreadHistogram::BucketSpan(i);
    EXPECT_EQ(i, ThreadHistogram::BucketOf(next + span - 1));
    EXPECT_TRUE(span == 1 || span * ThreadHistogram::kLinear <= next);
    next += span;
  }
  EXPECT_EQ(0u, next) << "all numbers of 64 bits have one";
  EXPECT_EQ(uint64_t{1} << 63, ThreadHistogram::BucketStart(ThreadHistogram::kNegative));
}

// Against all values themselves, sorted.
TEST(OpTimesTest, PercentilesAreWithinABucketOfTheTruth) {
  Random random(Seeds(1)[0]);
  OpTimes times;
  std::vector<double> micros;
  for (int i = 0; i < 20000; i++) {
    micros.push_back(static_cast<double>(1 + random.Skewed(28)));
    OpTimes::AddMicros(&times, TimedOp::kMerge, static_cast<uint64_t>(micros.back()));
  }
  std::sort(micros.begin(), micros.end());
  const TimeSummary summary = times.Sum(TimedOp::kMerge);
  EXPECT_EQ(micros.size(), summary.count);
  for (const double percent : {1.0, 50.0, 90.0, 99.0, 99.9}) {
    const double truth = micros[static_cast<size_t>(percent / 100 * static_cast<double>(micros.size() - 1))] * 1000;
    EXPECT_NEAR(truth, summary.PercentileNanos(percent), truth * 0.04 + 1000) << percent;
  }
  uint64_t below = 0;
  for (const double value : micros) below += value <= 1000 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(below), static_cast<double>(summary.CountUpTo(1e6)), 0.03 * 20000);
}

TEST(OpTimesTest, WhatAThreadCountedStaysAndItsHistogramsAreUsedAgain) {
  OpTimes times, other;
  for (int round = 0; round < 50; round++) {
    std::thread([&] {
      for (OpTimes* const each : {&times, &other, &times}) {
        const OpTimes::Timed<TimedOp::kGet> timed(each);
      }
    }).join();
  }
  EXPECT_EQ(100u, times.Sum(TimedOp::kGet).count);
  EXPECT_EQ(50u, other.Sum(TimedOp::kGet).count);
}

// A thread that outlives a database, and a database that outlives threads.
TEST(OpTimesTest, DatabasesComeAndGoUnderAThread) {
  for (int round = 0; round < 100; round++) {
    OpTimes times;
    { const OpTimes::Timed<TimedOp::kPut> timed(&times); }
    EXPECT_EQ(1u, times.Sum(TimedOp::kPut).count);
  }
}

TEST_F(TimesTest, EveryCallIsCountedOnceByWhateverThread) {
  options_.statistics = true;
  Open();
  constexpr int kThreads = 4, kCalls = 1000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      std::string value;
      for (int i = 0; i < kCalls; i++) {
        const std::string key = std::to_string(t) + "/" + std::to_string(i);
        EXPECT_OK(db_->Put(WriteOptions(), key, "value"));
        EXPECT_OK(db_->Get(ReadOptions(), key, &value));
        EXPECT_TRUE(db_->Get(ReadOptions(), "none", &value).IsNotFound());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->SeekToFirst();
  it->Seek("2");
  it->SeekToLast();
  ASSERT_OK(db_->Flush());
  EXPECT_EQ(uint64_t{kThreads} * kCalls, CountOf("put"));
  EXPECT_EQ(uint64_t{2} * kThreads * kCalls, CountOf("get"));
  EXPECT_EQ(3u, CountOf("scan"));
  EXPECT_GE(CountOf("flush"), 1u);
}

TEST_F(TimesTest, WithoutTheOptionNothingIsCounted) {
  Open();
  Put("a", "b");
  EXPECT_EQ("", Property("miodb.times"));
  EXPECT_EQ(std::string::npos, Property("miodb.prometheus").find("miodb_get_seconds"));
}

// Each line has a name of its family, a type before it, one sample of each name and labels, and buckets that grow.
TEST_F(TimesTest, ThePrometheusTextIsWellFormed) {
  options_.statistics = true;
  Open();
  Fill(2000, 100);
  Settle();
  const std::string text = Property("miodb.prometheus");
  std::set<std::string> families, samples;
  std::string family;
  uint64_t last_bucket = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(families.insert(family).second) << line;
      last_bucket = 0;
    }
    if (line.starts_with("#")) continue;
    const size_t brace = line.find('{'), space = line.rfind(' ');
    ASSERT_NE(std::string::npos, brace) << line;
    EXPECT_TRUE(line.starts_with(family)) << line;
    EXPECT_TRUE(samples.insert(line.substr(0, space)).second) << line;
    if (line.substr(0, brace).ends_with("_bucket")) {
      const uint64_t bucket = strtoull(line.c_str() + space, nullptr, 10);
      EXPECT_GE(bucket, last_bucket) << line;
      last_bucket = bucket;
    }
  }
  for (const char* const name : {"miodb_user_bytes_written_total", "miodb_pool_bytes_used", "miodb_level_tables",
                                 "miodb_put_seconds", "miodb_merge_seconds", "miodb_stall_seconds"}) {
    EXPECT_TRUE(families.contains(name)) << name;
  }
  // What goes down again is none that only grows.
  for (const char* const name : {"miodb_live_bytes", "miodb_range_deletions", "miodb_kept_log_bytes", "miodb_tables",
                                 "miodb_runs", "miodb_payload_extents"}) {
    EXPECT_NE(std::string::npos, text.find("# TYPE " + std::string(name) + " gauge\n")) << name;
  }
  EXPECT_NE(std::string::npos, text.find("miodb_put_seconds_count{database=\"" + path_ + "\"} 2000\n")) << text;
}

TEST_F(TimesTest, ACounterThatFallsIsAGauge) {
  const auto counters = [this] {
    std::map<std::string, uint64_t> figures;
    std::istringstream lines(Property("miodb.counters"));
    for (std::string line; std::getline(lines, line);) {
      const size_t colon = line.find(": ");
      figures[line.substr(0, colon)] = strtoull(line.c_str() + colon + 2, nullptr, 10);
    }
    return figures;
  };
  Open();
  Fill(2000, 100);
  Settle();
  const std::map<std::string, uint64_t> full = counters();
  for (uint64_t i = 0; i < 2000; i++) Delete(FilledKey(i));
  Settle();
  std::map<std::string, uint64_t> empty = counters();
  EXPECT_LT(empty["tables"], full.at("tables"));
  const std::string text = Property("miodb.prometheus");
  for (const auto& [name, figure] : full) {
    if (empty[name] >= figure) continue;
    std::string metric = "miodb_" + name;
    std::replace(metric.begin(), metric.end(), '-', '_');
    EXPECT_NE(std::string::npos, text.find("# TYPE " + metric + " gauge\n")) << name;
  }
}

TEST_F(TimesTest, TheReferenceParserOfPrometheusAcceptsTheText) {
  std::string python;  // one that has it: there may be another in front of the system's
  for (const char* const candidate : {"python3", "/usr/bin/python3"}) {
    const std::string import = std::string(candidate) + " -c 'import prometheus_client'";
    if (python.empty() && RunProgram(import).code == 0) python = candidate;
  }
  if (python.empty()) {
    GTEST_SKIP() << "Python's prometheus_client is not installed (Debian: python3-prometheus-client)";
  }
  options_.statistics = true;
  path_ += "/od\"d\\ pa\nth";
  ASSERT_TRUE(std::filesystem::create_directories(path_));
  Open();
  Fill(100, 100);
  Settle();
  const std::string file = dir_ / "prometheus.txt";
  std::ofstream(file) << Property("miodb.prometheus");
  Close();
  const ProgramResult parsed =
      RunProgram(python +
                 " -c '\n"
                 "import sys\n"
                 "from prometheus_client.parser import text_string_to_metric_families\n"
                 "families = list(text_string_to_metric_families(open(sys.argv[1]).read()))\n"
                 "assert len(families) > 40, len(families)\n"
                 "for family in families:\n"
                 "    assert family.type in (\"counter\", \"gauge\", \"histogram\"), family\n"
                 "    assert family.samples and family.documentation, family\n"
                 "    for sample in family.samples:\n"
                 "        assert sample.labels[\"database\"].endswith(\"od\\\"d\\\\ pa\\nth\"), sample\n"
                 "' " +
                 file);
  EXPECT_EQ(0, parsed.code) << parsed.text;
}

}  // namespace
}  // namespace miodb::test
