// The printed lines have the shape that published scripts read.

#include "benchmarks/db_bench/report.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "benchmarks/common/counters.h"
#include "benchmarks/db_bench/config/config.h"
#include "benchmarks/db_bench/measure/stats.h"

namespace miodb::bench {
namespace {

Config LevelDbStyle() {
  Config config;
  config.report_style = "leveldb";
  return config;
}

// 20 million values of 4 KiB written in 10.3 us each: MioDB's published sample.
Totals Sample() {
  Totals totals;
  totals.done = 20000000;
  totals.bytes = uint64_t{20000000} * 4112;
  totals.thread_seconds = 206;
  totals.wall_seconds = 206;
  return totals;
}

TEST(ReportTest, TheResultLineInBothStyles) {
  EXPECT_EQ(ResultLine(LevelDbStyle(), "fillrandom", Sample(), ""),
            "fillrandom   :      10.300 micros/op;  380.7 MB/s\n");
  EXPECT_EQ(ResultLine(Config(), "fillrandom", Sample(), ""),
            "fillrandom   :      10.300 micros/op 97087 ops/sec 206.000 seconds 20000000 operations;  380.7 MB/s\n");
}

TEST(ReportTest, TheMessageFollowsTheRate) {
  EXPECT_EQ(ResultLine(LevelDbStyle(), "readrandom", Sample(), "(1 of 2 found)"),
            "readrandom   :      10.300 micros/op;  380.7 MB/s (1 of 2 found)\n");
  Totals no_bytes = Sample();
  no_bytes.bytes = 0;
  EXPECT_EQ(ResultLine(LevelDbStyle(), "readmissing", no_bytes, "(0 of 2 found)"),
            "readmissing  :      10.300 micros/op; (0 of 2 found)\n");
  EXPECT_EQ(ResultLine(LevelDbStyle(), "deleteseq", no_bytes, ""), "deleteseq    :      10.300 micros/op;\n");
}

TEST(ReportTest, MicrosPerOpSumThreadsAndRatesUseWallTime) {
  Totals totals;
  totals.done = 1000;
  totals.thread_seconds = 4;
  totals.wall_seconds = 1;
  EXPECT_EQ(ResultLine(Config(), "readseq", totals, ""),
            "readseq      :    4000.000 micros/op 1000 ops/sec 1.000 seconds 1000 operations;\n");
}

TEST(ReportTest, NothingDoneIsOneOperationAndDividesByNothing) {
  EXPECT_EQ(ResultLine(Config(), "readseq", Totals(), ""),
            "readseq      :       0.000 micros/op 0 ops/sec 0.000 seconds 1 operations;\n");
}

TEST(ReportTest, SkippedBenchmarksSayWhy) {
  EXPECT_EQ(SkippedLine("fillseq", "--use_existing_db is true"),
            "fillseq      : skipped (--use_existing_db is true)\n");
}

class NamedEngine : public Engine {
 public:
  std::string Name() const override { return "TestDB"; }
  std::string Version() const override { return "3.2"; }
  Outcome Open() override { return {}; }
  void Close() override {}
  Outcome Destroy() override { return {}; }
  std::unique_ptr<Session> NewSession(const SessionOptions&) override { return nullptr; }
  Outcome Flush() override { return {}; }
  Outcome CompactAll() override { return {}; }
  Outcome WaitForIdle() override { return {}; }
  bool Describe(Text, std::string*) override { return false; }
};

TEST(ReportTest, TheHeaderEstimatesSizes) {
  Config config = LevelDbStyle();
  config.num = 20000000;
  config.value_size = 4096;
  config.engine = "rocksdb";
  config.compression = true;
  const std::string header = WorkloadHeader(config, NamedEngine());
  EXPECT_EQ(header.rfind("Keys:       16 bytes each\n"
                         "Values:     4096 bytes each (2048 bytes after compression)\n"
                         "Entries:    20000000\n"
                         "RawSize:    78430.2 MB (estimated)\n"
                         "FileSize:   39367.7 MB (estimated)\n",
                         0),
            0u)
      << header;
  EXPECT_EQ(header.substr(header.size() - 50), "\n" + std::string(48, '-') + "\n");
  EXPECT_EQ(EnvironmentHeader(NamedEngine()).rfind("TestDB:     version 3.2\nDate:       ", 0), 0u);
}

TEST(ReportTest, TheHeaderHasNoCompressedSizesWhereValuesAreStoredAsPut) {
  Config not_compressed = LevelDbStyle();
  not_compressed.engine = "rocksdb";
  Config table_files_alone = LevelDbStyle();
  table_files_alone.compression = true;
  for (const Config& config : {not_compressed, table_files_alone}) {
    const std::string header = WorkloadHeader(config, NamedEngine());
    EXPECT_NE(header.find("\nValues:     100 bytes each\nEntries:    1000000\nRawSize:    110.6 MB (estimated)\n"),
              std::string::npos)
        << header;
    for (const char* words : {"after compression", "FileSize"}) EXPECT_EQ(header.find(words), std::string::npos);
  }
}

TEST(ReportTest, RocksDbsHeaderNamesTheEngineAndTheSeed) {
  const std::string header = WorkloadHeader(Config(), NamedEngine());
  for (const char* line : {"\nPrefix:    0 bytes\n", "\nKeys per prefix:    0\n", "\nCompression: none\n",
                           "\nEngine:     TestDB 3.2\n", "\nSeed:       0\n"}) {
    EXPECT_NE(header.find(line), std::string::npos) << line;
  }
}

Engine::Counters SampleCounters() {
  return {{"user-bytes-written", 1000}, {"stall-micros", 27854350},  {"flush-micros", 14296363},
          {"nvm-bytes-log", 1100},      {"nvm-bytes-flush", 10},     {"nvm-bytes-merge", 20},
          {"nvm-bytes-lazy-copy", 900}, {"nvm-bytes-evacuation", 5}, {"nvm-bytes-manifest", 2},
          {"nvm-bytes-total", 2037}};
}

TEST(ReportTest, TheClosingLinesLeaveTheLogOut) {
  EXPECT_EQ(ClosingLines(SampleCounters()), "stall time: 27854350\ndump time:  14296363\nwa: 937\n");
  EXPECT_EQ(ClosingLines({}), "");
}

TEST(ReportTest, StallTimeCountsEveryWait) {
  EXPECT_EQ(ClosingLines({{"stall-micros", 5}, {"throttle-micros", 70}}), "stall time: 75\ndump time:  0\nwa: 0\n");
}

TEST(ReportTest, WriteAmplificationCountsEverythingWithTheLog) {
  const std::string text = CountersText(SampleCounters(), "emulated");
  EXPECT_NE(text.find("user bytes: 1000\n"), std::string::npos) << text;
  EXPECT_NE(text.find("NVM bytes log: 1100\n"), std::string::npos);
  EXPECT_NE(text.find("NVM bytes lazy copy: 900\n"), std::string::npos);
  EXPECT_NE(text.find("\nwrite amplification: 2.037\n"), std::string::npos);
  EXPECT_NE(text.find("\npersist mode: emulated\n"), std::string::npos);
  EXPECT_EQ(CountersText({}, ""), "");
}

TEST(ReportTest, WriteAmplificationCountsFiles) {
  Engine::Counters counters = {{"user-bytes-written", 1000}, {"nvm-bytes-total", 500}};
  EXPECT_EQ(CountersText(counters, "file").find(" file bytes"), std::string::npos);
  counters["log-file-bytes"] = 1000;
  counters["log-file-bytes-padding"] = 50;
  counters["ssd-bytes-written"] = 100;
  const std::string text = CountersText(counters, "file");
  EXPECT_NE(text.find("\nlog file bytes: 1000\nlog file bytes padding: 50\nSSD bytes: 100\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\nwrite amplification: 1.600\n"), std::string::npos);
}

TEST(ReportTest, StoresWithoutCountersShowWhatTheProcessWrote) {
  EXPECT_EQ(FileBytesText(1000, 3500), "user bytes: 1000\nfile bytes: 3500\nwrite amplification: 3.500\n");
  EXPECT_EQ(FileBytesText(0, 3500), "");
}

TEST(ReportTest, BytesThatTheProcessWritesAreCounted) {
  const uint64_t before = ProcessBytesWritten();
  std::FILE* file = std::fopen((testing::TempDir() + "/bytes_written").c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fwrite(std::string(50000, 'x').data(), 1, 50000, file);
  std::fclose(file);
  EXPECT_GE(ProcessBytesWritten(), before + 50000);
}

TEST(ReportTest, NoCounterLineLooksLikeAClosingLineToTheScripts) {
  const std::string text = CountersText(SampleCounters(), "emulated");
  for (const char* word : {"stall", "dump", "wa"}) EXPECT_EQ(text.find(word), std::string::npos) << word;
}

TEST(StatsTest, ProgressIsShownInGrowingSteps) {
  EXPECT_EQ(NextProgress(0), 100);
  EXPECT_EQ(NextProgress(900), 1000);
  EXPECT_EQ(NextProgress(1000), 1500);
  EXPECT_EQ(NextProgress(5000), 6000);
  EXPECT_EQ(NextProgress(10000), 15000);
  EXPECT_EQ(NextProgress(50000), 60000);
  EXPECT_EQ(NextProgress(100000), 150000);
  EXPECT_EQ(NextProgress(500000), 600000);
  EXPECT_EQ(NextProgress(7000000000), 7000100000);
}

TEST(StatsTest, MergingAddsThreadTimeAndSpansWallTime) {
  const Config config;
  Stats total(config, 0, false);
  Stats first(config, 0, false);
  Stats second(config, 1, false);
  first.Start();
  second.Start();
  first.FinishedOp(OpType::kRead, 3);
  second.FinishedOp(OpType::kRead);
  first.counts.found = 2;
  second.counts.found = 1;
  second.AddBytes(10);
  first.Stop();
  second.Stop();
  total.Merge(first);
  total.Merge(second);
  EXPECT_EQ(total.done(), 4);
  EXPECT_EQ(total.counts.found, 3);
  EXPECT_EQ(total.bytes(), 10u);
  EXPECT_EQ(total.latency().count(), 2u);
  const Totals totals = total.totals();
  EXPECT_NEAR(totals.thread_seconds, first.totals().thread_seconds + second.totals().thread_seconds, 1e-9);
  EXPECT_GE(totals.wall_seconds, first.totals().wall_seconds);
}

TEST(StatsTest, TimesAreKeptOnlyWhenWanted) {
  Config config;
  config.latency = false;
  Stats stats(config, 0, false);
  stats.Start();
  stats.FinishedOp(OpType::kWrite);
  stats.Stop();
  EXPECT_EQ(stats.done(), 1);
  EXPECT_EQ(LatencyText(config, stats), "");
}

TEST(StatsTest, AWaitWithinAnOperationIsNotInItsTime) {
  constexpr uint64_t kWork = 200000, kWait = 50000000;
  const auto spin = [](uint64_t nanos) {
    const uint64_t begin = Ticks::Now();
    while (Ticks::NanosBetween(begin, Ticks::Now()) < nanos) {
    }
  };
  Config config;
  config.latency = true;
  Stats stats(config, 0, false);
  const uint64_t start = Ticks::Now();
  stats.Start();
  spin(kWork);
  const uint64_t wait = Ticks::Now();
  spin(kWait);
  stats.SkipTime(wait);
  spin(kWork);
  stats.FinishedOp(OpType::kUpdate);
  const uint64_t all = Ticks::NanosBetween(start, Ticks::Now());
  EXPECT_GE(stats.latency().max(), 2 * kWork);
  EXPECT_LE(stats.latency().max() + kWait, all);
}

TEST(StatsTest, HistogramsAreByOperationInRocksDbsStyleOnly) {
  for (const char* style : {"rocksdb", "leveldb"}) {
    Config config;
    config.histogram = true;
    config.report_style = style;
    Stats stats(config, 0, false);
    stats.Start();
    stats.FinishedOp(OpType::kWrite);
    stats.FinishedOp(OpType::kRead);
    stats.Stop();
    const std::string text = LatencyText(config, stats);
    EXPECT_EQ(text.rfind("Percentiles: P50: ", 0), 0u);
    const bool by_type = std::string(style) == "rocksdb";
    EXPECT_EQ(text.find("Microseconds per write:\n") != std::string::npos, by_type) << text;
    EXPECT_EQ(text.find("Microseconds per op:\n") != std::string::npos, !by_type) << text;
  }
}

TEST(LevelStatsTest, MadeFromLevelDbsTable) {
  const std::string stats =
      "                               Compactions\n"
      "Level  Files Size(MB) Time(sec) Read(MB) Write(MB)\n"
      "--------------------------------------------------\n"
      "  0        3      134         0        0       134\n"
      "  2        1       63         0        0        63\n"
      "some lines of our own: 7 8 9\n";
  EXPECT_EQ(LevelStatsFromTable(stats, 3),
            "Level Files Size(MB)\n"
            "--------------------\n"
            "  0        3      134\n"
            "  1        0        0\n"
            "  2        1       63\n");
}

}  // namespace
}  // namespace miodb::bench
