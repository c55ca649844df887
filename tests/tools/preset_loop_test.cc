// The presets of mixgraph, end to end: a workload of each service is generated, traced and analysed, and what the
// analyser counts has the shares that the study publishes, within three hundredths.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/common/program.h"
#include "tests/common/test_dir.h"
#include "tests/trace/trace_files.h"

namespace miodb::test {
namespace {

constexpr double kWithin = 0.03;
constexpr uint64_t kKeys = 60000;
constexpr uint64_t kOperations = 120000;

// The figures that the study gives for a service.
struct Service {
  const char* name;
  std::map<std::string, double> kinds;           // shares of the calls
  std::map<uint64_t, double> key_sizes;          // of the different keys
  const char* written;                           // the kind that has values
  std::map<uint64_t, double> value_sizes_up_to;  // shares of the values that have at most so many bytes
  double hottest_range;                          // share of the gets
};

const Service kServices[] = {
    {"udb",
     {{"get", 0.806}, {"put", 0.159}, {"iterator_Seek", 0.035}},
     {{28, 0.9}, {32, 0.1}},
     "put",
     {{9, 0}, {10, 0.025}, {50, 0.64}, {200, 1}},
     0.79},
    {"zippydb",
     {{"get", 0.78}, {"put", 0.13}, {"delete", 0.06}, {"iterator_Seek", 0.03}},
     {{48, 1}},
     "put",
     {{20, 0.5}, {81, 0.9}, {228, 0.99}, {1024, 1}},
     0.79},
    {"up2x",
     {{"merge", 0.9253}, {"get", 0.0746}, {"put", 0.0001}},
     {{17, 0.94}, {9, 0.06}},
     "merge",
     {{9, 0.4}, {63, 0.48}, {64, 1}},
     0.79},
};

class PresetLoopTest : public testing::TestWithParam<Service> {
 protected:
  void Do(const std::string& command) {
    const ProgramResult result = RunTool(command);
    ASSERT_EQ(0, result.code) << command << "\n" << result.text;
  }

  // First number of each line of a file of the analyser -> the number in this place, counted from 0.
  std::map<uint64_t, double> Counts(const std::string& file, size_t place) {
    std::map<uint64_t, double> counts;
    for (const std::vector<double>& row : Table(out_ + "/trace-" + file)) {
      if (row.size() > place) counts[static_cast<uint64_t>(row[0])] += row[place];
    }
    EXPECT_FALSE(counts.empty()) << file;
    return counts;
  }

  TestDir dir_;
  const std::string out_ = dir_ / "out";
};

INSTANTIATE_TEST_SUITE_P(Services, PresetLoopTest, testing::ValuesIn(kServices),
                         [](const auto& service) { return std::string(service.param.name); });

double Sum(const std::map<uint64_t, double>& counts, uint64_t up_to = UINT64_MAX) {
  double sum = 0;
  for (const auto& [at, count] : counts) {
    if (at <= up_to) sum += count;
  }
  return sum;
}

// "kind,column family" -> calls.
std::map<std::string, double> Composition(const std::string& folder) {
  std::map<std::string, double> calls;
  std::istringstream lines(ReadFile(folder + "/trace-composition.csv"));
  for (std::string line; std::getline(lines, line);) {
    const size_t second = line.find(',', line.find(',') + 1);
    if (second == std::string::npos || !std::isdigit(static_cast<unsigned char>(line[second + 1]))) continue;
    calls[line.substr(0, second)] += std::stod(line.substr(second + 1));
  }
  return calls;
}

TEST_P(PresetLoopTest, TheAnalyserCountsThePublishedShares) {
  const Service& service = GetParam();
  const std::string bench =
      "db_bench --db=" + dir_ / "db" + " --num=" + std::to_string(kKeys) +
      " --progress_reports=false --pool_size=268435456 --merge_operator=put --mixgraph_preset=" + service.name +
      " --benchmarks=";
  const std::string trace = dir_ / "trace", keys = dir_ / "keys";
  std::filesystem::create_directory(keys);
  Do(bench + "fillseq");
  Do("key_space " + dir_ / "db" + " > " + keys + "/0.txt");
  Do(bench + "mixgraph --use_existing_db --reads=" + std::to_string(kOperations) + " --trace_file=" + trace);
  Do("trace_analyzer --trace_path=" + trace + " --output_dir=" + out_ + " --key_space_dir=" + keys +
     " -analyze_get -analyze_put -analyze_merge -analyze_delete -analyze_iterator -output_key_stats"
     " -output_value_distribution -output_key_distribution -value_interval=1 -no_print");
  if (HasFatalFailure()) return;

  std::map<std::string, double> kinds = Composition(out_);
  for (const auto& [kind, share] : service.kinds) {
    EXPECT_NEAR(kinds[kind + ",0"] / kOperations, share, kWithin) << kind;
  }

  const std::map<uint64_t, double> key_sizes = Counts("get-0-accessed_key_size_distribution.txt", 1);
  for (const auto& [size, share] : service.key_sizes) {
    EXPECT_NEAR((key_sizes.count(size) > 0 ? key_sizes.at(size) : 0) / Sum(key_sizes), share, kWithin) << size;
  }
  const std::map<uint64_t, double> values =
      Counts(service.written + std::string("-0-accessed_value_size_distribution.txt"), 2);
  for (const auto& [size, share] : service.value_sizes_up_to) {
    EXPECT_NEAR(Sum(values, size) / Sum(values), share, kWithin) << size;
  }

  // The hottest of the 30 ranges has this share; each has as many keys.
  const std::map<uint64_t, double> accesses = Counts("get-0-whole_key_stats.txt", 1);
  std::vector<double> ranges(30);
  for (const auto& [number, count] : accesses) ranges[std::min<size_t>(number / (kKeys / 30), 29)] += count;
  EXPECT_NEAR(*std::max_element(ranges.begin(), ranges.end()) / Sum(accesses), service.hottest_range, kWithin);
}

// Scans, too, are of the family of their key.
TEST(FamilyMixLoopTest, TheAnalyserCountsTheMixOfEachFamily) {
  const TestDir dir;
  const std::string trace = dir / "trace", out = dir / "out";
  const std::string bench = "db_bench --db=" + dir / "db" +
                            " --num=3000 --progress_reports=false --pool_size=268435456 --num_column_families=2";
  for (const std::string& command : {bench + " --benchmarks=fillseq",
                                     bench + " --benchmarks=mixgraph --use_existing_db --reads=20000 --trace_file=" +
                                         trace + " --mix_column_families=3:0.8:0.2:0:0:0,1:0:0.25:0.5:0:0.25",
                                     "trace_analyzer --trace_path=" + trace + " --output_dir=" + out +
                                         " -analyze_get -analyze_put -analyze_delete -analyze_iterator -no_print"}) {
    const ProgramResult result = RunTool(command);
    ASSERT_EQ(0, result.code) << command << "\n" << result.text;
  }
  std::map<std::string, double> calls = Composition(out);
  const std::map<std::string, double> shares = {
      {"get,0", 0.6}, {"put,0", 0.15}, {"put,1", 0.0625}, {"iterator_Seek,1", 0.125}, {"delete,1", 0.0625}};
  for (const auto& [call, share] : shares) EXPECT_NEAR(calls[call] / 20000, share, kWithin) << call;
  EXPECT_EQ(calls["get,1"], 0);
  EXPECT_EQ(calls["iterator_Seek,0"], 0);
}

}  // namespace
}  // namespace miodb::test
