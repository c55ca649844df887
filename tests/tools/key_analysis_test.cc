// The pass over the keys of a trace, called as a function: what it shows while it works.

#include "tools/trace/key_analysis.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "benchmarks/common/figures/progress.h"
#include "miodb/trace.h"
#include "tests/common/test_dir.h"
#include "tests/trace/trace_files.h"
#include "tools/trace/analyzer_options.h"
#include "tools/trace/collector.h"
#include "tools/trace/external_sort.h"
#include "tools/trace/output_files.h"

namespace miodb::test {
namespace {

constexpr uint64_t kGets = 4096;

// The progress text of the analysis of a trace of kGets gets, if every look at the clock may show something.
std::string ShownByAnalysis(bool output_time_series) {
  const TestDir dir;
  std::string records = BeginRecord();
  for (uint64_t i = 0; i < kGets; i++) {
    records += Encoded([i](TraceEncoder e) { e.Get(i + 1, "key" + std::to_string(i % 100)); });
  }
  WriteFile(dir / "trace", Ended(records, kGets + 1));
  tools::AnalyzerOptions options;
  options.trace_path = dir / "trace";
  options.output_dir = dir / "out";
  options.analyze[tools::kGet] = true;
  options.output_time_series = output_time_series;
  EXPECT_EQ("", FinishAnalyzerOptions(&options));
  std::filesystem::create_directory(options.output_dir);
  std::unique_ptr<TraceReader> reader;
  EXPECT_OK(TraceReader::Open(options.trace_path, &reader));
  tools::OutputFiles files(options.output_dir, "t");
  EXPECT_OK(files.MakeFolder());
  tools::ExternalSort sort(options.output_dir, 1 << 20);
  tools::Collector collected(options, &files, &sort);
  EXPECT_OK(collected.Run(reader.get()));
  EXPECT_OK(sort.Finish());
  tools::KeyAnalysis keys(options, collected, &files);
  testing::internal::CaptureStderr();
  {
    bench::ProgressLine progress(true, 0);
    EXPECT_OK(keys.Run(&sort, &progress));
  }
  return testing::internal::GetCapturedStderr();
}

TEST(KeyAnalysisTest, ProgressGoesFromTheFirstToTheLastAccess) {
  const std::string shown = ShownByAnalysis(false);
  EXPECT_NE(shown.find("... analysed keys, 25 %, "), std::string::npos) << shown;
  EXPECT_NE(shown.find("... analysed keys, 100 %, 0 s left"), std::string::npos) << shown;
  EXPECT_LT(shown.find("25 %"), shown.find("100 %"));
}

TEST(KeyAnalysisTest, WritingTheTimeSeriesIsTheSecondHalf) {
  const std::string shown = ShownByAnalysis(true);
  for (const char* share : {"12 %", "50 %", "75 %", "100 %"}) {
    EXPECT_NE(shown.find("... analysed keys, " + std::string(share)), std::string::npos) << share << " of " << shown;
  }
}

}  // namespace
}  // namespace miodb::test
