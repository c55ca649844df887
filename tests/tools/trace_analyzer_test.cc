// trace_analyzer: what it prints and writes for traces whose contents are known, and what it does with bad ones.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "src/api/batch/write_batch_internal.h"
#include "tests/common/program.h"
#include "tests/common/random/random.h"
#include "tests/common/test_dir.h"
#include "tests/trace/trace_files.h"

namespace miodb::test {
namespace {

constexpr uint64_t kSecond = 1000000;

class TraceAnalyzerTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(out_); }

  // At second 0 of a trace that begins there: puts of aa1, aa2, b1, gets of aa1 and b1; at second 3 more.
  std::string SmallTrace() {
    const Slice upper("c");
    const std::string batch = FromHex("0000000000000000 02000000 00 03616131 05 02 0163 03313233");  // in family 2
    const std::string records =
        BeginRecord() + Encoded([](TraceEncoder e) { e.Update(1, kBatchPut, "aa1", "12345"); }) +
        Encoded([](TraceEncoder e) { e.Update(2, kBatchPut, "aa2", "1"); }) +
        Encoded([](TraceEncoder e) { e.Update(3, kBatchPut, "b1", "1234567"); }) +
        Encoded([](TraceEncoder e) { e.Get(1003, "aa1"); }) + Encoded([](TraceEncoder e) { e.Get(2003, "b1"); }) +
        Encoded([&](TraceEncoder e) { e.Seek(3000, kTraceSeek, "aa", nullptr, &upper); }) +
        Encoded([](TraceEncoder e) { e.Scan(3001, 3000, "aa", 2, 0); }) +
        Encoded([](TraceEncoder e) { e.Get(3 * kSecond + 3, "aa1"); }) +
        Encoded([](TraceEncoder e) { e.Update(3 * kSecond + 4, kBatchPut, "aa1", "123"); }) +
        Encoded([&](TraceEncoder e) { e.Batch(3 * kSecond + 5, batch); }) +
        Encoded([](TraceEncoder e) { e.Seek(3 * kSecond + 6, kTraceSeekToFirst, "", nullptr, nullptr); });
    return Ended(records, 3 * kSecond + 9);
  }

  ProgramResult Analyze(const std::string& flags) {
    return RunTool("trace_analyzer --trace_path=" + trace_ + " --output_dir=" + out_ + " --output_prefix=t " + flags);
  }
  std::string Output(const std::string& name) { return ReadFile(out_ + "/t-" + name); }
  size_t OutputCount() {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(out_)) count += entry.exists() ? 1 : 0;
    return count;
  }

  TestDir dir_;
  const std::string trace_ = dir_ / "trace";
  const std::string out_ = dir_ / "out";
};

TEST_F(TraceAnalyzerTest, WritesEveryFile) {
  WriteFile(trace_, SmallTrace());
  const std::string keys = dir_ / "keys";
  std::filesystem::create_directory(keys);
  WriteFile(keys + "/0.txt", "0x61\n0x616131\n0x616132\n0x6231\n0x63\n");
  WriteFile(keys + "/2.txt", "0x63\n");
  const ProgramResult result = Analyze(
      "-analyze_get -analyze_put -analyze_delete -analyze_iterator -output_key_stats -output_access_count_stats"
      " -output_time_series -output_qps_stats -output_key_distribution -output_value_distribution -value_interval=2"
      " -output_prefix_cut=2 -convert_to_human_readable_trace -print_top_k_access=2 -key_space_dir=" +
      keys);
  ASSERT_EQ(0, result.code) << result.text;
  EXPECT_EQ("0 5 0 2 1.000000\n0 1 1 1 1.000000\n0 7 2 1 1.000000\n", Output("put-0-accessed_key_stats.txt"));
  EXPECT_EQ("2 3 0 1 1.000000\n", Output("put-2-accessed_key_stats.txt"));
  EXPECT_EQ("0 0 0 2 1.000000\n0 0 1 1 1.000000\n", Output("get-0-accessed_key_stats.txt"));
  EXPECT_EQ("1 2\n3 1\n", Output("get-0-whole_key_stats.txt"));
  EXPECT_EQ("0 0x61\n1 0x6161\n3 0x6231\n4 0x63\n", Output("get-0-whole_key_prefix_cut.txt"));
  EXPECT_EQ("access_count: 1 num: 2\naccess_count: 2 num: 1\n", Output("put-0-accessed_key_count_distribution.txt"));
  EXPECT_EQ("2 1\n3 2\n", Output("put-0-accessed_key_size_distribution.txt"));
  EXPECT_EQ(
      "Number_of_value_size_between 0 and 2 is: 1\nNumber_of_value_size_between 2 and 4 is: 1\n"
      "Number_of_value_size_between 4 and 6 is: 1\nNumber_of_value_size_between 6 and 8 is: 1\n",
      Output("put-0-accessed_value_size_distribution.txt"));
  EXPECT_EQ("0 0 0\n0 0 1\n0 3 0\n", Output("get-0-time_series.txt"));
  EXPECT_EQ("2\n0\n0\n1\n", Output("get-0-qps_stats.txt"));
  EXPECT_EQ("2 3 0 0 0 0 1 0 0 6\n0 0 0 0 0 0 0 0 0 0\n0 0 0 0 0 0 0 0 0 0\n1 2 1 0 0 0 0 0 0 4\n",
            Output("qps_stats.txt"));
  EXPECT_EQ("# cf_0 cf_2\n6 0\n0 0\n0 0\n3 1\n", Output("cf_qps_stats.txt"));
  EXPECT_EQ("0 0.000000000000\n0 0.000000000000\n0 0.000000000000\n1 1.000000000000\n",
            Output("delete-0-accessed_unique_key_num_change.txt"));
  EXPECT_EQ("0 3 2 1.500000 1.000000 0x6161\n2 1 1 1.000000 1.000000 0x6231\n",
            Output("put-0-accessed_key_prefix_cut.txt"));
  EXPECT_EQ(
      "At time: 0 with QPS: 2\nThe prefix: 0x6161 Access count: 1\nThe prefix: 0x6231 Access count: 1\n"
      "At time: 3 with QPS: 1\nThe prefix: 0x6161 Access count: 1\n",
      Output("get-0-accessed_top_k_qps_prefix_cut.txt"));
  EXPECT_EQ("2 1\n", Output("iterator-0-scan_length_distribution.txt"));
  EXPECT_EQ(
      "0x616131 1 0 5 1\n0x616132 1 0 1 2\n0x6231 1 0 7 3\n0x616131 0 0 0 1003\n0x6231 0 0 0 2003\n"
      "0x6161 6 0 0 3000\n0x616131 0 0 0 3000003\n0x616131 1 0 3 3000004\n0x616131 2 0 0 3000005\n"
      "0x63 1 2 3 3000005\n",
      Output("human_readable_trace.txt"));
  EXPECT_EQ(
      "type,cf,queries,share,unique_keys\nget,0,3,0.300000,2\nput,0,4,0.400000,3\nput,2,1,0.100000,1\n"
      "delete,0,1,0.100000,1\niterator_Seek,0,1,0.100000,1\n",
      Output("composition.csv"));
}

TEST_F(TraceAnalyzerTest, PrintsWhatScriptsLookFor) {
  WriteFile(trace_, SmallTrace());
  const ProgramResult result = Analyze(
      "-analyze_get -analyze_put -analyze_iterator -output_qps_stats -print_top_k_access=1 -output_prefix_cut=2"
      " -print_correlation=[get,put][get,get][put,get]");
  ASSERT_EQ(0, result.code) << result.text;
  for (const char* line :
       {"\n################# Operation Type: put #####################\nPeak QPS is: 3 Average QPS is: 1.666663\n",
        "*********************************************************\ncolume family id: 0\n"
        "Total number of queries to this cf by put: 4\nTotal unique keys in this cf: 3\n"
        "Average key size: 2.666667 key size medium: 3 Key size Variation: 0.471405\n"
        "Average value size: 4.000000 Value size medium: 3 Value size variation: 2.236068\n",
        "The Top 1 keys that are accessed:\nAccess_count: 2 0x616131\n",
        "The Top 1 accessed prefix range:\nPrefix: 0x6161 Access count: 3\n",
        "The Top 1 prefix with highest access per key:\nPrefix: 0x6161 access per key: 1.500000\n",
        "The correlation statistics of 'put' after 'get' is: total numbers: 1 average time: 0.001000(ms)\n",
        "The correlation statistics of 'get' after 'get' is: total numbers: 1 average time: 2999.000000(ms)\n",
        "The correlation statistics of 'get' after 'put' is: total numbers: 3 average time: 1001.001333(ms)\n",
        "Total keys of 'put' is: 4\nTotal access is: 5\n",
        "Scan lengths in cf 0: scans: 1 average: 2.000000 median: 2\n",
        "The column family based statistics\nThe column family id: 0\nThe whole key space key numbers: 0\n"
        "The accessed key space key numbers: 4\n",
        "The statistics related to query number need to times: 1\nTotal_requests: 10 Total_accessed_keys: 5 "
        "Total_gets: 3 Total_write_batches: 5 Total_seeks: 1 Total_seek_for_prevs: 0 Total_multigets: 0\n",
        "Operation: 'get' has: 3\nOperation: 'put' has: 5\n", "Seeks to the first or last key: 1\n"}) {
    EXPECT_TRUE(result.Says(line)) << line << "\nin\n" << result.text;
  }
  EXPECT_TRUE(Analyze("-analyze_put -norocksdb_labels").Says("column family id: 0"));
  EXPECT_TRUE(Analyze("-analyze_put -norocksdb_labels").Says("key size median: 3"));
  EXPECT_EQ("", Analyze("-analyze_put -no_print").text);
}

// 60,000 accesses in random order with 1 MiB to sort in: files must be the same as with much memory.
TEST_F(TraceAnalyzerTest, SortsOnDiskWhatDoesNotFitIntoMemory) {
  Random random(5);
  std::string bytes = BeginRecord();
  std::map<std::string, int> counts;
  for (uint64_t i = 0; i < 60000; i++) {
    const std::string key = "key" + std::to_string(random.Uniform(5000) * random.Uniform(1000));
    counts[key]++;
    bytes += Encoded([&](TraceEncoder e) { e.Get(i * 100, key); });
  }
  WriteFile(trace_, bytes + Encoded([](TraceEncoder e) { e.End(6 * kSecond); }));
  std::map<std::string, std::string> small, large;
  for (const auto& [memory, files] :
       {std::pair<const char*, std::map<std::string, std::string>*>{"1", &small}, {"200", &large}}) {
    const ProgramResult result =
        Analyze(std::string("-analyze_get -output_key_stats -output_time_series -memory_mb=") + memory);
    ASSERT_EQ(0, result.code) << result.text;
    for (const auto& entry : std::filesystem::directory_iterator(out_)) {
      (*files)[entry.path().filename()] = ReadFile(entry.path());
    }
  }
  EXPECT_EQ(4u, small.size());  // nothing of the sort is left
  EXPECT_TRUE(small == large);
  std::string stats;
  size_t place = 0;
  for (const auto& [key, count] : counts) {
    stats += "0 0 " + std::to_string(place++) + " " + std::to_string(count) + " 1.000000\n";
  }
  EXPECT_TRUE(stats == large["t-get-0-accessed_key_stats.txt"]);
}

TEST_F(TraceAnalyzerTest, SampleTakesEveryNthAccessOfEachKind) {
  WriteFile(trace_, SmallTrace());
  const ProgramResult result = Analyze("-analyze_get -analyze_put -sample_ratio=0.5");
  EXPECT_TRUE(result.Says("need to times: 2\n")) << result.text;
  EXPECT_TRUE(result.Says("Operation: 'get' has: 2\nOperation: 'put' has: 3\n")) << result.text;
}

TEST_F(TraceAnalyzerTest, ATornTailIsLeftOutWithAWarning) {
  const std::string whole = SmallTrace();
  WriteFile(trace_, whole.substr(0, whole.size() - 20));
  const ProgramResult result = Analyze("-analyze_get");
  EXPECT_EQ(0, result.code);
  EXPECT_TRUE(result.Says("warning: ")) << result.text;
  EXPECT_TRUE(result.Says("cut short")) << result.text;
  EXPECT_TRUE(result.Says("Operation: 'get' has: 3\n")) << result.text;
}

TEST_F(TraceAnalyzerTest, DamageIsAnErrorAndLeavesNoFiles) {
  std::string damaged = SmallTrace();
  damaged[BeginRecord().size() + kTraceHeadBytes + 2] = 1;  // the bitmap of the first record
  WriteFile(trace_, damaged);
  const ProgramResult result = Analyze("-analyze_get -output_key_stats -convert_to_human_readable_trace");
  EXPECT_EQ(1, result.code);
  EXPECT_TRUE(result.Says("offset " + std::to_string(BeginRecord().size()) + ": ")) << result.text;
  EXPECT_EQ(0u, OutputCount());
  EXPECT_EQ(0, Analyze("-analyze_get -try_process_corrupted_trace").code);
}

TEST_F(TraceAnalyzerTest, TheOutputFolderIsMadeAndGoesAgainAfterAnError) {
  std::filesystem::remove(out_);
  WriteFile(trace_, "no trace");
  EXPECT_EQ(1, Analyze("-analyze_get -output_key_stats").code);
  EXPECT_FALSE(std::filesystem::exists(out_));
  std::string damaged = SmallTrace();
  damaged[BeginRecord().size() + kTraceHeadBytes + 2] = 1;  // the bitmap of the first record
  WriteFile(trace_, damaged);
  EXPECT_EQ(1, Analyze("-analyze_get -output_key_stats").code);
  EXPECT_FALSE(std::filesystem::exists(out_));
  WriteFile(trace_, SmallTrace());
  const ProgramResult result = Analyze("-analyze_get -output_key_stats");
  EXPECT_EQ(0, result.code) << result.text;
  EXPECT_GT(OutputCount(), 0u);
}

// A trace of three seconds has no sine, and no command line asks for one.
TEST_F(TraceAnalyzerTest, TheFitOfAShortTraceHasTheAverageRateAndSaysWhy) {
  if (!HasSciPy()) GTEST_SKIP() << kNeedsSciPy;
  WriteFile(trace_, SmallTrace());
  ASSERT_EQ(0, Analyze("-analyze_get -analyze_put -analyze_iterator -output_qps_stats").code);
  const ProgramResult fit = RunFit("--input_dir=" + out_ + " --input_prefix=t");
  EXPECT_EQ(0, fit.code) << fit.text;
  EXPECT_TRUE(fit.Says("Rate: 3 seconds\n  constant ")) << fit.text;
  EXPECT_TRUE(fit.Says("too short for a sine or a polynomial: 16 seconds at least")) << fit.text;
  EXPECT_TRUE(fit.Says(" --sine_a=0 --sine_b=0 --sine_c=0 --sine_d=2 ")) << fit.text;
}

TEST_F(TraceAnalyzerTest, BadCommandLinesAreRefused) {
  WriteFile(trace_, SmallTrace());
  for (const auto& [flags, message] : std::map<std::string, std::string>{
           {"", "nothing to analyse"},
           {"-analyze_get -no_such_flag", "Invalid flag '-no_such_flag'"},
           {"-analyze_get -print_correlation=[get,nothing]", "pairs look like"},
           {"-analyze_get -sample_ratio=0", "sample_ratio"},
           {"-analyze_get -key_space_dir=/nowhere", "--key_space_dir=/nowhere is not a folder"},
           {"-analyze_get -output_dir=/nowhere/else", "--output_dir=/nowhere/else: No such file"},
           {"-analyze_get -output_dir=" + trace_, "--output_dir=" + trace_ + ": File exists"},
           {"-analyze_get -trace_path=/nowhere/trace", "/nowhere/trace"},
           {"-analyze_get -key_space_dir=" + out_, "0.txt"}}) {
    const ProgramResult result = Analyze(flags);
    EXPECT_EQ(1, result.code) << flags;
    EXPECT_TRUE(result.Says(message)) << flags << ": " << result.text;
  }
  WriteFile(out_ + "/0.txt", "0x61\n0x60\n");
  EXPECT_TRUE(Analyze("-analyze_get -output_key_stats -key_space_dir=" + out_).Says("line 2 is not above"));
}

}  // namespace
}  // namespace miodb::test
