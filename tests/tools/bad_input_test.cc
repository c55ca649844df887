// The programs around traces with input that is missing, damaged or impossible: an exit status that is not 0, a message
// that names the place, and no output that could be taken for a result.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/common/program.h"
#include "tests/common/random/random.h"
#include "tests/common/test_dir.h"
#include "tests/trace/trace_files.h"

namespace miodb::test {
namespace {

// ulimit counts in blocks of 512 bytes; a write behind the limit fails as on a full disk.
constexpr char kOneBlock[] = "trap '' XFSZ; ulimit -f 1; ";

class BadInputTest : public testing::Test {
 protected:
  // A database, a trace of calls to it, and the analysis of that.
  static void SetUpTestSuite() {
    dir_ = new TestDir;
    for (const char* folder : {"keys", "out"}) std::filesystem::create_directory(*dir_ / folder);
    Do("db_bench" + Bench("fillseq"));
    Do("key_space " + *dir_ / "db" + " > " + *dir_ / "keys/0.txt");
    Do("db_bench" + Bench("mixgraph") + " --use_existing_db --reads=2000 --trace_file=" + *dir_ / "trace" +
       " --mix_get_ratio=0.5 --mix_put_ratio=0.3 --mix_seek_ratio=0.2 --mix_max_scan_len=10 --key_dist_a=0.1"
       " --key_dist_b=0.3");
    Do("trace_analyzer --output_dir=" + *dir_ / "out" + Analysis() + " --no_print --trace_path=" + *dir_ / "trace");
  }
  static void TearDownTestSuite() {
    delete dir_;
    dir_ = nullptr;
  }

  void SetUp() override {
    std::filesystem::remove_all(*dir_ / "new");
    std::filesystem::create_directory(*dir_ / "new");
  }

  static std::string Bench(const std::string& benchmarks) {
    return " --db=" + *dir_ / "db" + " --num=1000 --key_size=16 --value_size=20 --pool_size=67108864" +
           " --progress_reports=false --benchmarks=" + benchmarks;
  }
  static std::string Analysis() {
    return " --key_space_dir=" + *dir_ / "keys" +
           " -analyze_get -analyze_put -analyze_iterator -output_access_count_stats -output_key_stats"
           " -output_qps_stats -output_value_distribution -output_key_distribution -output_time_series"
           " -output_prefix_cut=8 -value_interval=1";
  }
  static void Do(const std::string& command) {
    const ProgramResult result = RunTool(command);
    ASSERT_EQ(0, result.code) << command << "\n" << result.text;
  }

  static ProgramResult Analyze(const std::string& flags, const std::string& before = "") {
    return RunProgram(before + BinaryDir() + "/trace_analyzer --output_dir=" + *dir_ / "new" + Analysis() + " " +
                      flags);
  }
  static ProgramResult Replay(const std::string& flags) {
    return RunTool("db_bench" + Bench("replay") + " --use_existing_db --trace_replay_as_fast_as_possible " + flags);
  }
  static ProgramResult Fit(const std::string& flags) { return RunFit("--input_dir=" + flags); }
  static ProgramResult Plot(const std::string& flags) {
    return RunProgram(SourceDir() + "/tools/trace_plot --output_dir=" + *dir_ / "new" + " --input_dir=" + flags);
  }
  static bool HasGnuplot() { return RunProgram("gnuplot --version").code == 0; }

  static size_t FilesIn(const std::string& folder) {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(*dir_ / folder)) count += entry.exists() ? 1 : 0;
    return count;
  }

  // Fails, and says this.
  static void ExpectRefused(const ProgramResult& result, const std::string& message, const std::string& what) {
    EXPECT_GT(result.code, 0) << what << ": " << result.text;
    EXPECT_TRUE(result.Says(message)) << what << ": " << result.text;
    EXPECT_LT(result.text.size(), 3000u) << what << ": one message, not " << result.text;
    EXPECT_FALSE(result.Says("Traceback")) << what << ": " << result.text;
  }

  static TestDir* dir_;
};

TestDir* BadInputTest::dir_ = nullptr;

TEST_F(BadInputTest, AnalysisAndReplayRefuseWhatIsNoTrace) {
  const std::string whole = ReadFile(*dir_ / "trace");
  std::string wrong_magic = whole;
  wrong_magic[kTraceHeadBytes + 3] ^= 1;
  const std::string get = Encoded([](TraceEncoder e) { e.Get(1, "a"); });
  for (const auto& [bytes, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "offset 0: the file is empty"},
           {"no trace, but text that is long enough for a head", "offset 0: "},
           {wrong_magic, "offset 0: not the beginning of a trace"},
           {BeginRecord("0.3") + get, "trace version 0.3"},
           {BeginRecord().substr(0, 40), "offset 0: "},
           {BeginRecord() + get.substr(0, 13) + "xxxxxxxx" + get.substr(21),
            "offset " + std::to_string(BeginRecord().size()) + ": a bitmap"}}) {
    const std::string path = *dir_ / "bad";
    WriteFile(path, bytes);
    ExpectRefused(Analyze("--trace_path=" + path), message, "analyzer");
    EXPECT_TRUE(Analyze("--trace_path=" + path).Says(path));
    ExpectRefused(Replay("--trace_file=" + path), message, "replay");
  }
  EXPECT_EQ(0u, FilesIn("new"));
}

TEST_F(BadInputTest, AnalysisAndReplayFailAtEveryFlippedBit) {
  const std::string whole = ReadFile(*dir_ / "trace");
  const std::string path = *dir_ / "bad";
  Random random(91);
  for (int i = 0; i < 60; i++) {
    std::string flipped = whole;
    const size_t at = random.Uniform(whole.size());
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << random.Uniform(8)));
    WriteFile(path, flipped);
    const std::string what = "byte " + std::to_string(at);
    ExpectRefused(Analyze("--trace_path=" + path), "offset ", what);
    if (i % 4 == 0) ExpectRefused(Replay("--trace_file=" + path), "offset ", what);
  }
  EXPECT_EQ(0u, FilesIn("new"));
}

TEST_F(BadInputTest, OutputThatCannotBeWrittenIsAnErrorAndLeavesNothing) {
  const std::string trace = "--trace_path=" + *dir_ / "trace";
  ExpectRefused(Analyze(trace + " --no_print", kOneBlock), *dir_ / "new", "full disk");
  EXPECT_EQ(0u, FilesIn("new"));
  ExpectRefused(Analyze(trace + " > /dev/full)", "("), "standard output", "full output");
  EXPECT_EQ(0u, FilesIn("new"));
  ExpectRefused(Analyze(trace + " --memory_mb=1 --output_prefix=no/such"), "no/such", "missing folder");
  const std::string bin = "(" + BinaryDir() + "/";
  ExpectRefused(RunProgram(bin + "key_space " + *dir_ / "db" + " > /dev/full)"), "standard output", "key_space");
  ExpectRefused(RunTool("db_bench" + Bench("mixgraph") + " --use_existing_db --reads=10 --trace_file=/no/such/trace"),
                "/no/such/trace", "tracing");
}

// Each file that is read, as it is when something else was written, when its end is missing, or when figures are
// impossible.
TEST_F(BadInputTest, FitAndFiguresNameTheDamagedFile) {
  struct Damage {
    const char* name;
    std::string (*change)(std::string);
  };
  const std::vector<Damage> damages = {{"garbage", [](std::string text) { return text + "\xff\xfe nonsense\n"; }},
                                       {"cut", [](std::string text) { return text.substr(0, text.size() - 1); }},
                                       {"negative", [](std::string text) { return text + "-5 -5 -5 1 1\n"; }},
                                       {"not finite", [](std::string text) { return text + "nan,nan,inf 1e999 1\n"; }}};
  const bool plots = HasGnuplot(), fits = HasSciPy();
  for (const auto& [file, is_fitted] : std::map<std::string, bool>{{"composition.csv", true},
                                                                   {"qps_stats.txt", true},
                                                                   {"cf_qps_stats.txt", false},
                                                                   {"get-0-accessed_key_count_distribution.txt", true},
                                                                   {"get-0-accessed_key_size_distribution.txt", true},
                                                                   {"put-0-accessed_value_size_distribution.txt", true},
                                                                   {"iterator-0-scan_length_distribution.txt", true},
                                                                   {"get-0-whole_key_stats.txt", true},
                                                                   {"put-0-accessed_key_stats.txt", true},
                                                                   {"get-0-time_series.txt", false}}) {
    const std::string path = *dir_ / "out/trace-" + file;
    const std::string good = ReadFile(path);
    for (const Damage& damage : damages) {
      const std::string what = file + ", " + damage.name;
      WriteFile(path, damage.change(good));
      if (is_fitted && fits) {
        const ProgramResult fit = Fit(*dir_ / "out");
        ExpectRefused(fit, path + ": line ", what);
        EXPECT_FALSE(fit.Says("A workload like this")) << what;
      }
      if (plots && file != "put-0-accessed_key_stats.txt" && std::string(damage.name) != "negative") {
        ExpectRefused(Plot(*dir_ / "out"), path + ", line ", what);
        EXPECT_EQ(0u, FilesIn("new")) << what;
      }
    }
    WriteFile(path, good);
  }
  if (!fits) GTEST_SKIP() << kNeedsSciPy;
  EXPECT_EQ(0, Fit(*dir_ / "out").code);
}

TEST_F(BadInputTest, FitAndFiguresRefuseImpossibleParameters) {
  if (!HasSciPy()) GTEST_SKIP() << kNeedsSciPy;
  const std::string out = *dir_ / "out";
  for (const auto& [flags, message] :
       std::map<std::string, std::string>{{" --num=7", "the files show "},
                                          {" --access=nothing", "--access=nothing"},
                                          {" --keyrange_num=0", "keyrange_num"},
                                          {" --keyrange_num=-3", "keyrange_num"},
                                          {" --mix_max_value_size=12", "--mix_max_value_size=12"},
                                          {" --mix_max_scan_len=3", "--mix_max_scan_len=3"},
                                          {" --cf=5", "column family 5"},
                                          {" --input_prefix=other", "other-composition.csv"},
                                          {" --no_such_flag=1", "Invalid flag '--no_such_flag=1'"}}) {
    ExpectRefused(Fit(out + flags), message, flags);
  }
  ExpectRefused(Fit("/no/such/folder"), "/no/such/folder", "missing folder");
  if (!HasGnuplot()) GTEST_SKIP() << "needs gnuplot: Debian package gnuplot-nox";
  ExpectRefused(Plot("/no/such/folder"), "/no/such/folder", "missing folder");
  ExpectRefused(Plot(out + " --input_prefix=other"), "other-", "prefix");
  ExpectRefused(Plot(out + " --output_dir=/no/such/folder"), "/no/such/folder", "missing output folder");
  ExpectRefused(Plot(out + " --no_such_flag"), "no_such_flag", "flag");
  EXPECT_EQ(0u, FilesIn("new"));
}

TEST_F(BadInputTest, KeysOfADatabase) {
  ExpectRefused(RunTool("key_space /no/such/db"), "/no/such/db", "missing database");
  ExpectRefused(RunTool("key_space"), "usage: ", "no argument");
  ExpectRefused(RunTool("key_space " + *dir_ / "keys"), *dir_ / "keys", "no database");
  // The list that the analyzer reads.
  const std::string trace = "--trace_path=" + *dir_ / "trace", list = *dir_ / "keys/0.txt";
  const std::string good = ReadFile(list);
  for (const auto& [bytes, message] : std::map<std::string, std::string>{{good.substr(0, good.size() - 3), "cut short"},
                                                                         {good + "0xABC\n", "not a key"},
                                                                         {good + "key\n", "not a key"},
                                                                         {good + good, "is not above the line"}}) {
    WriteFile(list, bytes);
    ExpectRefused(Analyze(trace), message, message);
    EXPECT_TRUE(Analyze(trace).Says(list + ": line ")) << message;
  }
  WriteFile(list, good);
  EXPECT_EQ(0u, FilesIn("new"));
}

TEST_F(BadInputTest, WorkloadsThatCannotBe) {
  for (const auto& [flags, message] : std::map<std::string, std::string>{
           {" --mix_get_ratio=-0.5", "mix_get_ratio"},
           {" --mix_put_ratio=nan", "mix_put_ratio"},
           {" --keyrange_num=1001", "--keyrange_num=1001"},
           {" --key_dist_a=-1", "key_dist_a"},
           {" --value_k=1e400", "value_k"},
           {" --mix_max_value_size=0", "mix_max_value_size"},
           {" --sine_mix_rate_interval_milliseconds=0", "sine_mix_rate_interval_milliseconds"},
           {" --trace_sampling_frequency=0 --trace_file=t", "trace_sampling_frequency"}}) {
    ExpectRefused(RunTool("db_bench" + Bench("mixgraph") + " --use_existing_db --reads=10" + flags), message, flags);
  }
  for (const auto& [flags, message] :
       std::map<std::string, std::string>{{"--trace_replay_fast_forward=0", "trace_replay_fast_forward"},
                                          {"--trace_replay_fast_forward=-1", "trace_replay_fast_forward"},
                                          {"--trace_replay_threads=0", "trace_replay_threads"},
                                          {"--trace_file=/no/such/trace", "/no/such/trace"},
                                          {"", "--trace_file is missing"}}) {
    ExpectRefused(Replay(flags), message, flags);
  }
}

}  // namespace
}  // namespace miodb::test
