// The output has the lines that scripts written for YCSB, YCSB-cpp and MioDB's driver look for.

#include "ycsbc/run/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "benchmarks/common/figures/interval_file.h"
#include "tests/ycsbc/read_settings.h"
#include "ycsbc/run/status.h"

namespace miodb::ycsb {
namespace {

// 100 reads of 1..100 us, 2 reads that found nothing, 50 updates of 2 ms; half a second.
PhaseResult Sample(const Settings& settings) {
  PhaseResult result;
  result.kind = PhaseKind::kRun;
  result.seconds = 0.5;
  result.operations = 152;
  Recorder recorder(settings, false, bench::Ticks::MonotonicNanos());
  // Until Ticks is calibrated a tick is a nanosecond.
  for (uint64_t i = 1; i <= 100; i++) recorder.Record(Op::kRead, Result::kOk, 0, i * 1000, 5000);
  for (int i = 0; i < 2; i++) recorder.Record(Op::kRead, Result::kNotFound, 0, 7000, 0);
  for (int i = 0; i < 50; i++) recorder.Record(Op::kUpdate, Result::kOk, 0, 2000000, 0);
  result.summary.Merge(recorder.summary());
  return result;
}

std::string Text(const Values& values, const std::string& exporter = "text") {
  const Settings settings = ReadSettings(values);
  return ExportText(exporter, Measure(settings, Sample(settings)));
}

bool Has(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(ReportTest, JavaLines) {
  const std::string text = Text({});
  for (const char* line :
       {"[OVERALL], RunTime(ms), 500", "[OVERALL], Throughput(ops/sec), 304.000", "[READ], Operations, 100",
        "[READ], AverageLatency(us), 50.500", "[READ], MinLatency(us), 1.000", "[READ], MaxLatency(us), 100.000",
        "[READ], Return=OK, 100", "[READ], Return=NOT_FOUND, 2", "[READ-FAILED], Operations, 2",
        "[READ-FAILED], AverageLatency(us), 7.000", "[UPDATE], Operations, 50",
        "[UPDATE], AverageLatency(us), 2000.000"}) {
    EXPECT_TRUE(Has(text, line)) << line << "\n" << text;
  }
  EXPECT_NE(text.find("[READ], 99.9PercentileLatency(us), "), std::string::npos);
  EXPECT_EQ(text.find("Intended"), std::string::npos);
  EXPECT_EQ(text.find("[INSERT]"), std::string::npos);
}

TEST(ReportTest, PercentilesHaveThreeDigits) {
  const Settings settings = ReadSettings({{"hdrhistogram.percentiles", "1,2,3,11,50,99.5,100"}});
  const auto measured = Measure(settings, Sample(settings));
  const std::map<std::string, double> kExpected = {
      {"1stPercentileLatency(us)", 1},    {"2ndPercentileLatency(us)", 2},   {"3rdPercentileLatency(us)", 3},
      {"11thPercentileLatency(us)", 11},  {"50thPercentileLatency(us)", 50}, {"99.5PercentileLatency(us)", 100},
      {"100thPercentileLatency(us)", 100}};
  size_t seen = 0;
  for (const Measurement& m : measured) {
    if (m.metric != "READ" || kExpected.count(m.name) == 0) continue;
    seen++;
    EXPECT_NEAR(std::stod(m.value), kExpected.at(m.name), kExpected.at(m.name) * 0.001 + 0.0011) << m.name;
  }
  EXPECT_EQ(seen, kExpected.size());
}

TEST(ReportTest, OrdinalsOfTheReference) {
  const std::pair<double, const char*> kCases[] = {
      {1, "1st"},   {2, "2nd"},   {3, "3rd"},   {4, "4th"},   {11, "11th"},   {12, "12th"},     {13, "13th"},
      {21, "21st"}, {95, "95th"}, {92, "92nd"}, {93, "93rd"}, {99.9, "99.9"}, {99.99, "99.99"}, {100, "100th"}};
  for (const auto& [percent, text] : kCases) EXPECT_EQ(OrdinalText(percent), text);
}

TEST(ReportTest, IntendedLatenciesAreASectionOfTheirOwn) {
  const std::string text = Text({{"measurement.interval", "both"}});
  EXPECT_TRUE(Has(text, "[READ], AverageLatency(us), 50.500"));
  EXPECT_TRUE(Has(text, "[Intended-READ], AverageLatency(us), 55.500"));
  const std::string only = Text({{"measurement.interval", "intended"}});
  EXPECT_EQ(only.find("[READ]"), std::string::npos);
  EXPECT_TRUE(Has(only, "[Intended-READ], Return=NOT_FOUND, 2"));
}

TEST(ReportTest, ErrorsApartWhereAskedFor) {
  EXPECT_TRUE(Has(Text({{"reportlatencyforeacherror", "true"}}), "[READ-NOT_FOUND], Operations, 2"));
  EXPECT_TRUE(Has(Text({{"latencytrackederrors", "ERROR,NOT_FOUND"}}), "[READ-NOT_FOUND], Operations, 2"));
  EXPECT_TRUE(Has(Text({{"latencytrackederrors", "ERROR"}}), "[READ-FAILED], Operations, 2"));
}

TEST(ReportTest, Exporters) {
  EXPECT_TRUE(Has(Text({}, "csv"), "READ,Operations,100"));
  EXPECT_EQ(Text({}, "csv").rfind("metric,measurement,value\n", 0), 0u);
  EXPECT_TRUE(Has(Text({}, "json"), R"({"metric":"READ","measurement":"Operations","value":100})"));
  const std::string array = Text({}, "jsonarray");
  const std::string first = R"j([{"metric":"OVERALL","measurement":"RunTime(ms)","value":500},)j";
  EXPECT_EQ(array.substr(0, first.size()), first);
  EXPECT_EQ(array.substr(array.size() - 3), "}]\n");
}

TEST(ReportTest, TheClassicHistogramKnowsMilliseconds) {
  const std::string text =
      Text({{"measurementtype", "histogram"}, {"histogram.buckets", "3"}, {"measurement.histogram.verbose", "true"}});
  EXPECT_TRUE(Has(text, "[UPDATE], 95thPercentileLatency(us), 2000")) << text;
  EXPECT_TRUE(Has(text, "[READ], 99thPercentileLatency(us), 0"));
  EXPECT_TRUE(Has(text, "[READ], LatencyVariance(us), 833.250"));
  EXPECT_TRUE(Has(text, "[UPDATE], 2, 50"));
  EXPECT_TRUE(Has(text, "[UPDATE], >3, 0"));
  EXPECT_TRUE(Has(text, "[READ], 0, 100"));
}

TEST(ReportTest, TheTimeSeriesHasASliceOfTheStart) {
  EXPECT_TRUE(
      Has(Text({{"measurementtype", "timeseries"}, {"timeseries.granularity", "3600000"}}), "[READ], 0, 50.500"));
}

TEST(ReportTest, RawLinesAreOneForEachOperation) {
  const Settings settings = ReadSettings({{"measurementtype", "raw"}, {"measurement.raw.no_summary", "true"}});
  const PhaseResult result = Sample(settings);
  const std::string text = RawText(result);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 153);
  EXPECT_EQ(text.rfind("operation, timestamp(ms), latency(us)\nREAD,", 0), 0u);
  EXPECT_NE(text.find(",100.000\n"), std::string::npos);
  EXPECT_EQ(Measure(settings, result).size(), 2u);
}

TEST(ReportTest, PercentileTablesEndAtTheMaximum) {
  const Settings settings = ReadSettings({});
  const PhaseResult result = Sample(settings);
  const std::string text = PercentileTable(*result.summary.Find(Op::kRead, Result::kOk));
  EXPECT_EQ(text.rfind("       Value     Percentile TotalCount 1/(1-Percentile)\n\n", 0), 0u);
  EXPECT_NE(text.find("     100.000 1.000000000000        100\n"), std::string::npos) << text;
  EXPECT_NE(text.find("#[Mean    =       50.500]"), std::string::npos) << text;
}

TEST(ReportTest, CppLines) {
  PhaseResult result = Sample(ReadSettings({}));
  EXPECT_EQ(CppText(result), "Run runtime(sec): 0.5\nRun operations(ops): 152\nRun throughput(ops/sec): 304\n");
  result.kind = PhaseKind::kLoad;
  EXPECT_EQ(CppText(result).rfind("Load runtime(sec): 0.5\n", 0), 0u);
}

TEST(ReportTest, MioDbLines) {
  EXPECT_EQ(MioDbText(Sample(ReadSettings({{"outputstyle", "miodb"}}))),
            "********** run result **********\n"
            "all opeartion records:152  use time:0.500 s  IOPS:304.00 iops\n"
            "\n"
            "read ops  :    102  use time:  0.005 s  IOPS:20142.18 iops\n"
            "update ops:     50  use time:  0.100 s  IOPS: 500.00 iops\n"
            "********************************\n");
  PhaseResult load;
  load.seconds = 2;
  Recorder recorder(ReadSettings({}), false, 0);
  for (int i = 0; i < 10; i++) recorder.Record(Op::kInsert, Result::kOk, 0, 10, 0);
  recorder.Record(Op::kInsert, Result::kError, 0, 10, 0);
  load.summary.Merge(recorder.summary());
  EXPECT_EQ(MioDbText(load),
            "********** load result **********\n"
            "loading records:10  use time:2.000 s  IOPS:5.00 iops\n"
            "*********************************\n");
}

TEST(ReportTest, MioDbHeadListsTheProperties) {
  Properties properties;
  for (const char* text : {"recordcount=10", "db=miodb", "dbpath=/p"}) properties.Add(text);
  Settings settings;
  ASSERT_EQ(settings.Read(properties), "");
  EXPECT_EQ(MioDbHead(settings, properties),
            "---- dbname:miodb  dbpath:/p ----\n"
            "db:miodb\n"
            "dbpath:/p\n"
            "recordcount:10\n"
            "----------------------------------------\n");
}

TEST(ReportTest, MioDbStatisticsStandInABlock) {
  EXPECT_EQ(MioDbStatistics(Sample(ReadSettings({})), "levels"),
            "-------------- db statistics --------------\n"
            "read not found:2\n"
            "levels\n"
            "-------------------------------------------\n");
}

TEST(StatusTest, EstimatesAreWords) {
  EXPECT_EQ(RemainingText(0.2), "1 second");
  EXPECT_EQ(RemainingText(59), "59 seconds");
  EXPECT_EQ(RemainingText(60), "1 minute");
  EXPECT_EQ(RemainingText(3 * 3600 + 5 * 60), "3 hours 5 minutes");
  EXPECT_EQ(RemainingText(26 * 3600), "1 day 2 hours");
}

IntervalSummary Interval(uint64_t nanos) {
  IntervalSummary interval;
  auto& pair = interval.ops[static_cast<size_t>(Op::kRead)];
  pair = std::make_unique<IntervalSummary::Pair>();
  for (int i = 0; i < 10; i++) pair->ok.Record(nanos);
  pair->failed.Record(50);
  return interval;
}

TEST(StatusTest, JavaLinesTellTheInterval) {
  const Settings settings = ReadSettings({{"status", "true"}, {"label", "mine "}});
  StatusReporter status(settings, PhaseKind::kRun);
  testing::internal::CaptureStderr();
  status.Report(10000000000, 500, 1500, Interval(1000), false);
  status.Report(20000000000, 1500, 1500, Interval(2000), true);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.rfind("mine 20", 0), 0u) << text;
  EXPECT_NE(text.find(" 10 sec: 500 operations; 50.0 current ops/sec; est completion in 20 seconds "
                      "[READ: Count=10, Max=1.00, Min=1.00, Avg=1.00, 50=1.00, 90=1.00, 99=1.00, 99.9=1.00, "
                      "99.99=1.00] [READ-FAILED: Count=1, "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" 20 sec: 1500 operations; 100.0 current ops/sec; [READ: Count=10, Max=2.00"), std::string::npos)
      << text;
}

TEST(StatusTest, CppLinesAddUp) {
  const Settings settings = ReadSettings({{"status", "true"}, {"outputstyle", "cpp"}});
  StatusReporter status(settings, PhaseKind::kRun);
  testing::internal::CaptureStdout();
  status.Report(10000000000, 500, 1500, Interval(1000), false);
  status.Report(20000000000, 1500, 1500, Interval(2000), true);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find(" 10 sec: 500 operations; [READ: Count=10 Max=1.00 Min=1.00 Avg=1.00 90=1.00 99="),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" 20 sec: 1500 operations; [READ: Count=20 Max=2.00 Min=1.00 Avg=1.50 90="), std::string::npos)
      << text;
}

TEST(StatusTest, TheIntervalFileHasARowForEachIntervalAndOperation) {
  const std::string path = testing::TempDir() + "/report_test.csv";
  const Settings settings = ReadSettings({{"intervalfile", path}});
  ASSERT_EQ(bench::StartIntervalFiles("intervalfile", {path}), "");
  StatusReporter status(settings, PhaseKind::kRun);
  EXPECT_TRUE(status.is_on());
  status.Report(2000000000, 500, 1500, Interval(1000), false);
  status.Report(4000000000, 500, 1500, IntervalSummary(), false);
  status.Report(4100000000, 500, 1500, IntervalSummary(), true);
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text,
            "phase,seconds,ops_per_sec,operation,count,avg_us,p50_us,p90_us,p99_us,p99.9_us,p99.99_us,max_us\n"
            "run,2.000,250.0,READ,10,1.000,1.000,1.000,1.000,1.000,1.000,1.000\n"
            "run,2.000,250.0,READ-FAILED,1,0.050,0.050,0.050,0.050,0.050,0.050,0.050\n"
            "run,4.000,0.0,READ,0,0.000,0.000,0.000,0.000,0.000,0.000,0.000\n"
            "run,4.000,0.0,READ-FAILED,0,0.000,0.000,0.000,0.000,0.000,0.000,0.000\n");
  EXPECT_EQ(bench::StartIntervalFiles("intervalfile", {"/nowhere/x.csv"}),
            "cannot write intervalfile /nowhere/x.csv: No such file or directory");
}

// No figure goes without the name of the medium that it was measured on, and nobody takes a model for it.
TEST(ReportTest, EveryStyleNamesTheMedium) {
  const Settings settings = ReadSettings({});
  PhaseResult result = Sample(settings);
  const std::string mode = "emulated, all figures MODELLED: optane";
  for (const PhaseKind kind : {PhaseKind::kLoad, PhaseKind::kRun}) {
    result.kind = kind;
    result.persist_mode = mode;
    for (const std::string& text : {CppText(result), MioDbText(result)}) {
      EXPECT_NE(text.find("\npersist mode: " + mode + "\n"), std::string::npos) << text;
    }
    const auto measured = Measure(settings, result);
    for (const auto& [exporter, line] : {std::pair<std::string, std::string>{"text", "[OVERALL], PersistMode, " + mode},
                                         {"csv", "OVERALL,PersistMode,\"" + mode + "\""},
                                         {"json", "\"PersistMode\",\"value\":\"" + mode + "\"}"}}) {
      EXPECT_NE(ExportText(exporter, measured).find(line + "\n"), std::string::npos) << exporter;
    }
    result.reads = {{"block reads", 17}};
    EXPECT_NE(ExportText("csv", Measure(settings, result)).find("\nOVERALL,block reads,17\n"), std::string::npos);
    result.reads.clear();
    result.persist_mode.clear();  // A peer does not say.
    EXPECT_EQ((CppText(result) + MioDbText(result)).find("persist mode"), std::string::npos);
    EXPECT_EQ(Measure(settings, result).size(), measured.size() - 1);
  }
}

}  // namespace
}  // namespace miodb::ycsb
