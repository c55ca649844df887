// The whole loop, as in the study that the tools follow: a workload is generated and traced, the trace is analysed,
// what is found is compared with the distributions that the workload was drawn from, and a model is fitted to it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/common/program.h"
#include "tests/common/test_dir.h"
#include "tests/trace/trace_files.h"

namespace miodb::test {
namespace {

constexpr int kKeys = 60000;
constexpr int kOperations = 200000;
constexpr int kRanges = 30;

// Pearson's test: the sum of (seen - expected)^2 / expected is about as large as there are cells; five standard
// deviations more mean that the sample is not of this distribution.
void ExpectDrawnFrom(const std::vector<double>& seen, const std::vector<double>& shares, const char* what) {
  double total = 0, sum = 0;
  for (double count : seen) total += count;
  double cells = 0;
  for (size_t i = 0; i < seen.size(); i++) {
    const double expected = total * shares[i];
    if (expected < 5) continue;
    sum += (seen[i] - expected) * (seen[i] - expected) / expected;
    cells++;
  }
  EXPECT_GT(cells, 10) << what;
  EXPECT_LT(sum, cells + 5 * std::sqrt(2 * cells)) << what;
}

double ParetoUpTo(double x, double k, double sigma) { return x <= 0 ? 0 : 1 - std::pow(1 + k * x / sigma, -1 / k); }

class WorkloadLoopTest : public testing::Test {
 protected:
  // Made once for all tests: the files of the analysis in out_.
  static void SetUpTestSuite() {
    dir_ = new TestDir;
    out_ = *dir_ / "out";
    const std::string keys = *dir_ / "keys", db = *dir_ / "db", trace = *dir_ / "trace";
    std::filesystem::create_directory(out_);
    std::filesystem::create_directory(keys);
    const std::string bench = "db_bench --db=" + db + " --num=" + std::to_string(kKeys) + " --key_size=24" +
                              " --progress_reports=false --pool_size=268435456 --benchmarks=";
    Do(bench + "fillseq --value_size=20");
    Do("key_space " + db + " > " + keys + "/0.txt");
    Do(bench + "mixgraph --use_existing_db --reads=" + std::to_string(kOperations) +
       " --keyrange_num=30 --keyrange_dist_a=14.18 --keyrange_dist_b=-2.917 --keyrange_dist_c=0.0164"
       " --keyrange_dist_d=-0.08082 --key_dist_a=0.05 --key_dist_b=0.25 --mix_get_ratio=0.5 --mix_put_ratio=0.3"
       " --mix_seek_ratio=0.2 --mix_max_scan_len=100 --trace_file=" +
       trace);
    Do("trace_analyzer --trace_path=" + trace + " --output_dir=" + out_ + " --key_space_dir=" + keys +
       " -analyze_get -analyze_put -analyze_iterator -output_access_count_stats -output_key_stats -output_qps_stats"
       " -output_value_distribution -output_key_distribution -output_time_series -output_prefix_cut=20"
       " -value_interval=1 -no_print");
  }
  static void TearDownTestSuite() {
    delete dir_;
    dir_ = nullptr;
  }

  static void Do(const std::string& command) {
    const ProgramResult result = RunTool(command);
    EXPECT_EQ(0, result.code) << command << "\n" << result.text;
  }
  static std::string File(const std::string& name) { return out_ + "/trace-" + name; }

  static TestDir* dir_;
  static std::string out_;
};

TestDir* WorkloadLoopTest::dir_ = nullptr;
std::string WorkloadLoopTest::out_;

TEST_F(WorkloadLoopTest, ValueSizesAreThoseOfTheModel) {
  std::vector<double> seen(1025, 0), shares(1025, 0);
  for (const auto& row : Table(File("put-0-accessed_value_size_distribution.txt"))) {
    seen[static_cast<size_t>(row[0])] += row[2];
  }
  for (size_t size = 10; size <= 1024; size++) {
    const double x = static_cast<double>(size);
    shares[size] = ParetoUpTo(x, 0.2615, 25.45) - (size == 10 ? 0 : ParetoUpTo(x - 1, 0.2615, 25.45));
  }
  ExpectDrawnFrom(seen, shares, "value sizes");
}

TEST_F(WorkloadLoopTest, ScanLengthsAreThoseOfTheModel) {
  std::vector<double> seen(100, 0), shares(100, 0);
  for (const auto& row : Table(File("iterator-0-scan_length_distribution.txt")))
    seen[static_cast<size_t>(row[0])] += row[1];
  // Lengths from 100 on are folded; far out the distribution is so flat that an integral does.
  constexpr int kFolds = 20000;
  for (int length = 0; length < 100; length++) {
    double share = 0;
    for (int fold = 0; fold < kFolds; fold++) {
      const double x = length + 100.0 * fold;
      share += ParetoUpTo(x, 2.517, 14.236) - ParetoUpTo(x - 1, 2.517, 14.236);
    }
    shares[static_cast<size_t>(length)] = share + (1 - ParetoUpTo(100.0 * kFolds - 50, 2.517, 14.236)) / 100;
  }
  ExpectDrawnFrom(seen, shares, "scan lengths");
}

TEST_F(WorkloadLoopTest, RangesAndTheHottestKeysHaveTheirShares) {
  std::vector<double> seen(kRanges, 0);
  std::map<size_t, std::vector<double>> keys;
  for (const auto& row : Table(File("get-0-whole_key_stats.txt"))) {
    const size_t range = static_cast<size_t>(row[0]) / (kKeys / kRanges);
    seen[range] += row[1];
    keys[range].push_back(row[1]);
  }
  const size_t hottest = static_cast<size_t>(std::max_element(seen.begin(), seen.end()) - seen.begin());
  const double accesses = seen[hottest];
  std::sort(seen.rbegin(), seen.rend());
  std::vector<double> shares;
  double sum = 0;
  for (int x = 1; x <= kRanges; x++) {
    shares.push_back(14.18 * std::exp(-2.917 * x) + 0.0164 * std::exp(-0.08082 * x));
    sum += shares.back();
  }
  for (double& share : shares) share /= sum;
  ExpectDrawnFrom(seen, shares, "ranges");
  // The hottest key has 0.05 of the accesses to its range, the two hottest 0.05 * 2^0.25.
  std::vector<double>& counts = keys[hottest];
  std::sort(counts.rbegin(), counts.rend());
  EXPECT_NEAR(counts[0], accesses * 0.05, 6 * std::sqrt(accesses * 0.05));
  EXPECT_NEAR(counts[0] + counts[1], accesses * 0.05946, 6 * std::sqrt(accesses * 0.06));
}

// Within five percent of what the workload was generated with.
TEST_F(WorkloadLoopTest, TheFitFindsTheParameters) {
  if (!HasSciPy()) GTEST_SKIP() << kNeedsSciPy;
  const ProgramResult fit = RunFit("--input_dir=" + out_ + " --num=" + std::to_string(kKeys) +
                                   " --mix_max_value_size=1024 --mix_max_scan_len=100");
  ASSERT_EQ(0, fit.code) << fit.text;
  const size_t line = fit.text.find("db_bench --benchmarks=mixgraph");
  ASSERT_NE(std::string::npos, line) << fit.text;
  double hotness = 0;  // The fitted shares have a sum of 1, the given ones do not: only their relations count.
  for (int x = 1; x <= kRanges; x++) hotness += 14.18 * std::exp(-2.917 * x) + 0.0164 * std::exp(-0.08082 * x);
  for (const auto& [flag, truth] : std::map<std::string, double>{{"mix_get_ratio", 0.5},
                                                                 {"mix_put_ratio", 0.3},
                                                                 {"mix_seek_ratio", 0.2},
                                                                 {"value_k", 0.2615},
                                                                 {"value_sigma", 25.45},
                                                                 {"iter_k", 2.517},
                                                                 {"iter_sigma", 14.236},
                                                                 {"key_size", 24},
                                                                 {"keyrange_num", 30},
                                                                 {"keyrange_dist_a", 14.18 / hotness},
                                                                 {"keyrange_dist_b", -2.917},
                                                                 {"keyrange_dist_c", 0.0164 / hotness},
                                                                 {"keyrange_dist_d", -0.08082},
                                                                 {"key_dist_a", 0.05},
                                                                 {"key_dist_b", 0.25}}) {
    const size_t at = fit.text.find(" --" + flag + "=", line);
    ASSERT_NE(std::string::npos, at) << flag << "\n" << fit.text;
    const double found = std::stod(fit.text.substr(at + flag.size() + 4));
    EXPECT_NEAR(found, truth, 0.05 * std::abs(truth)) << flag;
  }
  // The printed command is one that db_bench takes.
  std::string command = fit.text.substr(line, fit.text.find('\n', line) - line);
  EXPECT_EQ(0, RunTool(command + " --db=" + (*dir_ / "db") + " --reads=100 --sine_d=1e9").code) << command;
}

TEST_F(WorkloadLoopTest, TheFitSaysWhatIsMissing) {
  if (!HasSciPy()) GTEST_SKIP() << kNeedsSciPy;
  const ProgramResult fit = RunFit("--input_dir=" + *dir_ / "keys");
  EXPECT_EQ(1, fit.code);
  EXPECT_TRUE(fit.Says("composition.csv")) << fit.text;
  EXPECT_EQ(1, RunFit("").code);
  EXPECT_TRUE(RunFit("--input_dir=" + out_ + " --num=7").Says("the files show ")) << fit.text;
}

TEST_F(WorkloadLoopTest, FiguresAreDrawn) {
  if (RunProgram("gnuplot --version").code != 0) GTEST_SKIP() << "needs gnuplot: Debian package gnuplot-nox";
  const std::string plot = SourceDir() + "/tools/trace_plot";
  const ProgramResult result = RunProgram(plot + " --input_dir=" + out_);
  EXPECT_EQ(0, result.code) << result.text;
  EXPECT_TRUE(result.Says("13 figures, 0 left out")) << result.text;
  const std::string page = ReadFile(File("report.html"));
  for (const char* title : {"Composition", "Accesses of a key", "Scan lengths", "Queries per second", "Key sizes",
                            "Value sizes", "Heat map of the key space: get, cf 0", "Time series: put, cf 0"}) {
    EXPECT_NE(std::string::npos, page.find("<h2>" + std::string(title) + "</h2>")) << title;
  }
  EXPECT_EQ(1, RunProgram(plot + " --input_dir=" + *dir_ / "keys").code);
}

// The tool draws the file of db_bench --intervalfile directly, and refuses other files.
TEST_F(WorkloadLoopTest, LatenciesOverTimeAreDrawn) {
  const TestDir dir;
  const std::string intervals = dir / "mix.csv";
  Do("db_bench --db=" + dir / "db" + " --num=2000 --progress_reports=false --pool_size=268435456 --intervalfile=" +
     intervals + " --benchmarks=fillrandom,readrandom,readrandom,readrandomwriterandom");
  const std::string plot = SourceDir() + "/tools/trace_plot --intervalfile=";
  if (RunProgram("gnuplot --version").code != 0) GTEST_SKIP() << "needs gnuplot: Debian package gnuplot-nox";
  const ProgramResult result = RunProgram(plot + intervals);
  EXPECT_EQ(0, result.code) << result.text;
  EXPECT_TRUE(result.Says("mix-report.html: 9 figures, 0 left out")) << result.text;
  const std::string page = ReadFile(dir / "mix-report.html");
  for (const char* title :
       {"fillrandom: latencies of write", "readrandom#2: latencies of read", "readrandomwriterandom: latencies of read",
        "readrandomwriterandom: latencies of write", "fillrandom: operations per second"}) {
    EXPECT_NE(std::string::npos, page.find("<h2>" + std::string(title) + "</h2>")) << title;
  }
  WriteFile(dir / "x.csv", "secs_elapsed,interval_qps\n1,2\n");
  const ProgramResult other = RunProgram(plot + dir / "x.csv");
  EXPECT_EQ(1, other.code);
  EXPECT_TRUE(other.Says("is no interval file")) << other.text;
  WriteFile(dir / "cut.csv", ReadFile(intervals) + "readseq,1.0,2");
  EXPECT_TRUE(RunProgram(plot + dir / "cut.csv").Says("line 7: 'readseq,1.0,2' is not a row")) << "torn";
}

// Every tick of an axis has a label of its own.
TEST(TracePlotTest, LabelsOfTicksTellThemApart) {
  if (RunProgram("python3 --version").code != 0) GTEST_SKIP() << "needs Python";
  const std::string script =
      "import importlib.machinery, importlib.util, re, sys; sys.dont_write_bytecode = True; "
      "loader = importlib.machinery.SourceFileLoader('trace_plot', '" +
      SourceDir() +
      "/tools/trace_plot'); "
      "module = importlib.util.module_from_spec(importlib.util.spec_from_loader('trace_plot', loader)); "
      "loader.exec_module(module); "
      "labels = [re.findall(\"'(.*?)'\", module.count_tics(n)) for n in range(1, 100000, 7)]; "
      "assert all(2 <= len(row) <= 7 and len(set(row)) == len(row) for row in labels); "
      "print(module.count_tics(3000), module.count_tics(14000), module.count_tics(9999999), sep='\\n')";
  WriteFile(testing::TempDir() + "/ticks.py", script);
  const ProgramResult result = RunProgram("python3 " + testing::TempDir() + "/ticks.py");
  EXPECT_EQ(0, result.code) << result.text;
  EXPECT_EQ(
      "set xtics ('0' 0, '500' 500, '1000' 1000, '1500' 1500, '2000' 2000, '2500' 2500, '3000' 3000)\n"
      "set xtics ('0' 0, '5000' 5000, '10k' 10000)\n"
      "set xtics ('0' 0, '2M' 2000000, '4M' 4000000, '6M' 6000000, '8M' 8000000)\n",
      result.text);
  std::filesystem::remove(testing::TempDir() + "/ticks.py");
}

}  // namespace
}  // namespace miodb::test
