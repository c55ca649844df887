// Latencies over time: the encoding of HdrHistogram's logs, and the files that a report writes.

#include "benchmarks/db_bench/measure/latency_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/common/figures/hdr_log.h"
#include "benchmarks/db_bench/config/config.h"
#include "tests/common/test_dir.h"

namespace miodb::bench {
namespace {

std::string FromBase64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    group = group << 6 | static_cast<uint32_t>(digits.find(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits);
  }
  return bytes;
}

std::string Hex(const std::string& bytes) {
  const char* const digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> Cells(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> cells;
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

// What an independent implementation of the format (HdrHistogram's for Python, of these values from 1 to 2^42 - 1 with
// three digits) has between its compression and its Base64.
TEST(HdrLogTest, AHistogramIsEncodedAsOtherImplementationsDo) {
  FineLatencyHistogram histogram;
  for (const uint64_t nanos : {1, 3, 100, 1000, 1000, 5000, 1000000}) histogram.Record(nanos);
  for (int i = 0; i < 300; i++) histogram.Record(70000);
  const std::string text = EncodeHdrHistogram(histogram);
  EXPECT_EQ(text.rfind("HISTFAAA", 0), 0u) << "what tools look for";
  EXPECT_EQ(text.size() % 4, 0u);
  const std::string hex = Hex(FromBase64(text));
  const std::string plain =
      "1c8493130000001400000000000000030000000000000001000003ffffffffff3ff000000000000001020102bf010285"
      "0e04f12302c33dd804b53d02";
  const size_t length = plain.size() / 2;
  ASSERT_LT(length, 256u);
  // Two words, the head of a zlib stream, one stored block that is the last, and its checksum.
  const std::string block = Hex({static_cast<char>(length), 0, static_cast<char>(~length), -1});
  EXPECT_EQ(hex.substr(0, 16), "1c849314" + Hex({0, 0, 0, static_cast<char>(length + 11)}));
  EXPECT_EQ(hex.substr(16, 14), "780101" + block);
  EXPECT_EQ(hex.substr(30, plain.size()), plain);
  EXPECT_EQ(hex.substr(30 + plain.size()), "37180cd1");
}

TEST(HdrLogTest, AnEmptyHistogramAndALargeOneAreWhole) {
  EXPECT_EQ(Hex(FromBase64(EncodeHdrHistogram(FineLatencyHistogram()))).substr(0, 8), "1c849314");
  FineLatencyHistogram large;  // Counts in every other bucket: more than a stored block holds.
  for (size_t b = 0; b < FineLatencyHistogram::kBuckets; b += 2) {
    for (int i = 0; i < 100; i++) large.Record(FineLatencyHistogram::BucketStart(b));
  }
  const std::string bytes = FromBase64(EncodeHdrHistogram(large));
  constexpr size_t kHead = 40;
  constexpr size_t kCounts = FineLatencyHistogram::kBuckets / 2 * 3 - 1;  // 100 takes two bytes, an empty bucket one
  static_assert(kHead + kCounts < 65535, "one block");
  EXPECT_EQ(bytes.size(), 8 + 2 + 5 + kHead + kCounts + 4);
}

class LatencyReportTest : public testing::Test {
 protected:
  LatencyReportTest() {
    config_.intervalfile = dir_ / "x.csv";
    config_.hdrhistogram_fileoutput = true;
    config_.hdrhistogram_output_path = dir_ / "h_";
  }

  std::unique_ptr<LatencyReport> Start() {
    std::string error;
    std::unique_ptr<LatencyReport> report = LatencyReport::Start(config_, &error);
    EXPECT_EQ(error, "");
    return report;
  }

  test::TestDir dir_;
  Config config_;
};

TEST_F(LatencyReportTest, WithoutAnIntervalThereIsARowForEachBenchmarkAndOperation) {
  const std::unique_ptr<LatencyReport> report = Start();
  ASSERT_NE(report, nullptr);
  for (int run = 0; run < 2; run++) {
    report->Begin("mixed");
    for (int thread = 0; thread < 2; thread++) {
      LatencyRecorder* const recorder = report->NewRecorder();
      for (uint64_t i = 0; i < 10; i++) recorder->Record(OpType::kRead, 1000);
      recorder->Record(OpType::kWrite, 2000);
    }
    EXPECT_EQ(report->End(), "");
  }
  const std::vector<std::string> lines = Lines(config_.intervalfile);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0],
            "phase,seconds,ops_per_sec,operation,count,avg_us,p50_us,p90_us,p99_us,p99.9_us,p99.99_us,max_us");
  const std::vector<std::string> row = Cells(lines[3]);
  ASSERT_EQ(row.size(), 12u);
  EXPECT_EQ(row[0], "mixed#2");
  EXPECT_EQ(row[3], "read");
  EXPECT_EQ(row[4], "20") << "both threads";
  EXPECT_EQ(row[5], "1.000");
  EXPECT_EQ(row[11], "1.000");
  EXPECT_EQ(Cells(lines[4])[3], "write");
  const std::vector<std::string> log = Lines(dir_ / "h_write.hdr");
  ASSERT_EQ(log.size(), 7u);
  EXPECT_EQ(log[0], "#[Histogram log format version 1.3]");
  EXPECT_EQ(log[2].rfind("#[StartTime: ", 0), 0u);
  EXPECT_EQ(log[3].rfind("#[BaseTime: ", 0), 0u);
  EXPECT_EQ(log[5].rfind("Tag=mixed,0.", 0), 0u) << log[5];
  EXPECT_EQ(log[6].rfind("Tag=mixed#2,0.", 0), 0u) << log[6];
  ASSERT_EQ(Cells(log[6]).size(), 5u);
  EXPECT_EQ(Cells(log[6])[3], "0.002") << "milliseconds";
}

TEST_F(LatencyReportTest, IntervalsAddUpToEverythingThatWasMeasured) {
  config_.report_interval_seconds = 1;
  const std::unique_ptr<LatencyReport> report = Start();
  report->Begin("readrandom");
  LatencyRecorder* const recorder = report->NewRecorder();
  // Until there are rows of two intervals; the rest is in the last.
  int64_t recorded = 0;
  while (Lines(config_.intervalfile).size() < 3) {
    recorder->Record(OpType::kRead, 1000);
    recorded++;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  recorder->Record(OpType::kRead, 3000);
  EXPECT_EQ(report->End(), "");
  int64_t counted = 0;
  double last = 0;
  const std::vector<std::string> lines = Lines(config_.intervalfile);
  for (size_t i = 1; i < lines.size(); i++) {
    const std::vector<std::string> row = Cells(lines[i]);
    counted += std::stoll(row[4]);
    EXPECT_GE(std::stod(row[1]), last);  // the run may end right behind a row
    last = std::stod(row[1]);
  }
  EXPECT_GE(lines.size(), 4u);
  EXPECT_EQ(counted, recorded + 1);
  EXPECT_EQ(Cells(lines.back())[11], "3.000");
  EXPECT_EQ(Lines(dir_ / "h_read.hdr").size() - 5, lines.size() - 1) << "a line for each row";
}

// A store that stands still for a second has a second without operations, and none that is missing.
TEST_F(LatencyReportTest, AnIntervalInWhichNothingEndedHasItsRow) {
  config_.report_interval_seconds = 1;
  const std::unique_ptr<LatencyReport> report = Start();
  report->Begin("readrandom");
  LatencyRecorder* const recorder = report->NewRecorder();
  const auto await_rows = [&](size_t rows) {
    while (Lines(config_.intervalfile).size() <= rows) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  };
  recorder->Record(OpType::kRead, 1000);
  await_rows(1);
  await_rows(2);
  recorder->Record(OpType::kRead, 1000);
  EXPECT_EQ(report->End(), "");
  const std::vector<std::string> lines = Lines(config_.intervalfile);
  EXPECT_EQ(Cells(lines[1])[4], "1");
  EXPECT_EQ(Cells(lines[2])[4], "0");
  EXPECT_EQ(Cells(lines[2])[2], "0.0") << "a second";
  EXPECT_EQ(Cells(lines.back())[4], "1");
}

TEST_F(LatencyReportTest, NothingIsWrittenUnlessAskedForAndWhatCannotBeIsSaid) {
  std::string error;
  EXPECT_EQ(LatencyReport::Start(Config(), &error), nullptr);
  EXPECT_EQ(error, "");
  config_.intervalfile = "/nowhere/x.csv";
  EXPECT_EQ(LatencyReport::Start(config_, &error), nullptr);
  EXPECT_EQ(error, "cannot write --intervalfile /nowhere/x.csv: No such file or directory");
  config_.intervalfile.clear();
  config_.hdrhistogram_output_path = "/nowhere/h_";
  const std::unique_ptr<LatencyReport> report = Start();
  report->Begin("fillseq");
  report->NewRecorder()->Record(OpType::kWrite, 1);
  EXPECT_EQ(report->End(), "cannot write /nowhere/h_write.hdr: No such file or directory");
}

}  // namespace
}  // namespace miodb::bench
