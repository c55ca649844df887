// db_bench as its users call it: every flag and every name that published command lines hold is accepted, files of the
// log are what the flags ask for, and Ctrl-C ends it.

#include "tests/common/program.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace miodb::bench {
namespace {

const std::string kProgram = test::BinaryDir() + "/db_bench";
const std::string kBenchLib = test::SourceDir() + "/test_sh/";

class ProgramTest : public test::ProgramTestBase {
 protected:
  ProgramTest() : ProgramTestBase("db_bench_program_test") {}

  // Runs the program on a small database.
  int Call(const std::string& words) { return Run(kProgram + " --db=" + Path("db") + " --num=100 " + words); }

  std::string Path(const std::string& name) const { return Inside(name); }
  bool Printed(const std::string& part) const { return out_.find(part) != std::string::npos; }

  // Names in a folder of the database.
  std::set<std::string> Files(const std::string& folder) const {
    std::set<std::string> names;
    if (!std::filesystem::exists(Path(folder))) return names;
    for (const auto& entry : std::filesystem::directory_iterator(Path(folder))) names.insert(entry.path().filename());
    return names;
  }

  // How many files of a folder have names that end so.
  int64_t Ending(const std::string& folder, const std::string& end) const {
    const std::set<std::string> names = Files(folder);
    return std::count_if(names.begin(), names.end(), [&](const std::string& name) { return name.ends_with(end); });
  }

  // The number behind a label of the output, of its last line; -1: there is none.
  int64_t Number(const std::string& label) const {
    const size_t at = out_.rfind("\n" + label + ": ");
    return at == std::string::npos ? -1 : std::atoll(out_.c_str() + at + label.size() + 3);
  }
};

TEST_F(ProgramTest, ACompressedLogIsRefused) {
  EXPECT_EQ(1, Call("--benchmarks=fillseq --wal_compression=kZSTD"));
  EXPECT_TRUE(err_.find("miodb does not compress its log (docs/decisions/0060-") != std::string::npos) << err_;
  EXPECT_FALSE(std::filesystem::exists(Path("db")));
  EXPECT_EQ(0, Call("--benchmarks=fillseq --wal_compression=kNoCompression"));
}

// Flags of the programs of LevelDB, MioDB's prototype and RocksDB, with a value each, in every way of writing.
constexpr const char* kFlags[] = {
    // LevelDB and the prototype
    "--num=50", "--reads=10", "--threads=1", "--value_size=10", "--compression_ratio=0.5", "--histogram=1",
    "--comparisons=1", "--write_buffer_size=1048576", "--max_file_size=2097152", "--block_size=4096", "--key_prefix=3",
    "--cache_size=1000000", "--open_files=100", "--bloom_bits=10", "--use_existing_db=0", "--reuse_logs=0",
    "--compression=0", "--zstd_compression_level=1", "--bits_per_key=16", "--keys_per_datatable=2097152",
    "--keys_per_pmtable=2097152", "--dram_node=-1", "--nvm_node=-1", "--nvm_next_node=-1", "--benchmarks=fillseq",
    // RocksDB
    "-writes=10", "-deletes=10", "-duration=0", "-ops_between_duration_checks=1000", "-seed=7", "-key_size=20",
    "-value_size_distribution_type=uniform -value_size_min=1 -value_size_max=20", "-batch_size=2",
    "-compression_type=none", "-compression_type=NoCompression", "-row_cache_size=0", "-max_write_buffer_number=2",
    "-min_write_buffer_number_to_merge=1", "-max_background_jobs=2", "-num_levels=7",
    "-level0_file_num_compaction_trigger=4", "-level0_slowdown_writes_trigger=20", "-level0_stop_writes_trigger=36",
    "-target_file_size_base=67108864", "-max_bytes_for_level_base=268435456", "-disable_auto_compactions=false",
    "-sync=false", "-nosync", "-disable_wal=true", "-disable_wal", "-max_total_wal_size=0", "-wal_bytes_per_sync=0",
    "-wal_ttl_seconds=0", "-wal_size_limit_MB=0", "-manual_wal_flush=false", "-wal_compression=none",
    "-bytes_per_sync=0", "-use_fsync=false", "-use_direct_reads=true", "-use_direct_io_for_flush_and_compaction=true",
    "-mmap_read=false", "-mmap_write=false", "-num_column_families=3", "-perf_level=2", "-statistics=false",
    "-stats_interval=10", "-stats_interval_seconds=1", "-stats_per_interval=1", "-report_interval_seconds=0",
    "-report_file=report.csv", "-progress_reports=false", "-slow_usecs=1000000", "-seek_nexts=3",
    "-reverse_iterator=true", "-max_scan_distance=5", "-readwritepercent=50", "-mergereadpercent=70",
    "-readwritepercent=50 -deletepercent=50", "-merge_operator=put", "-merge_keys=10",
    "-key_format=binary -prefix_size=4 -keys_per_prefix=10", "-read_random_exp_range=1.5", "-multiread_batched=true",
    "-multiread_stride=2", "-overwrite_probability=0.5", "-overwrite_window_size=5",
    "-benchmark_write_rate_limit=100000000", "-benchmark_read_rate_limit=1000000", "-sine_write_rate=true -sine_d=1e9",
    "-sine_write_rate_interval_milliseconds=100", "-finish_after_writes=true", "-rate_limiter_bytes_per_sec=0",
    "-memtablerep=skip_list", "-enable_numa=false", "-confidence_interval_only=true", "-trace_replay_fast_forward=2",
    "-trace_replay_threads=2", "-block_cache_trace_file=x", "-block_cache_trace_sampling_frequency=1",
    "-block_cache_trace_max_trace_file_size_in_bytes=100", "-keyrange_dist_a=14.18 -keyrange_dist_b=-2.917",
    "-keyrange_dist_c=0.0164 -keyrange_dist_d=-0.08082", "-keyrange_num=30", "-key_dist_a=0.002312 -key_dist_b=0.3467",
    "-value_k=0.2615 -value_sigma=25.45 -value_theta=0", "-iter_k=2.517 -iter_sigma=14.236 -iter_theta=0",
    "-mix_get_ratio=0.83 -mix_put_ratio=0.14 -mix_seek_ratio=0.03", "-sine_mix_rate_interval_milliseconds=5000",
    "-sine_a=1000 -sine_b=0.000073 -sine_c=0 -sine_d=4500", "-sine_mix_rate", "-sine_mix_rate_noise=0.1",
    "-mix_max_scan_len=10000", "-mix_max_value_size=1024", "-mix_accesses=1", "-mix_ave_kv_size=512",
    "--log_mode=file --wal_dir=@/wal"};

TEST_F(ProgramTest, PublishedFlagsAreAccepted) {
  constexpr size_t kAtOnce = 12;
  const size_t count = std::size(kFlags);
  EXPECT_GT(count, 100u);
  for (size_t begin = 0; begin < count; begin += kAtOnce) {
    std::string flags;
    for (size_t i = begin; i < std::min(count, begin + kAtOnce); i++) flags += std::string(" ") + kFlags[i];
    if (const size_t at = flags.find('@'); at != std::string::npos) flags.replace(at, 1, folder_);
    EXPECT_EQ(Call("--benchmarks=fillseq" + flags), 0) << flags << "\n" << err_;
    EXPECT_TRUE(Printed("\nfillseq ")) << flags;
  }
  EXPECT_EQ(Call("--benchmarks=fillseq --fill_somehow=1"), 1);
  EXPECT_EQ(err_, "Invalid flag '--fill_somehow=1'\n");
  // The next flags need a database.
  ASSERT_EQ(Call("--benchmarks=fillseq"), 0) << err_;
  for (const std::string flag : {"--use_existing_db=1", "-use_existing_keys -use_existing_db", "-readonly"}) {
    EXPECT_EQ(Call("--benchmarks=readrandom " + flag), 0) << flag << "\n" << err_;
    EXPECT_TRUE(Printed("(100 of 100 found)")) << flag << "\n" << out_;
  }
}

TEST_F(ProgramTest, TheCommandLineOfThePrototypesScriptRuns) {
  EXPECT_EQ(Call("--value_size=4096 --benchmarks=fillrandom,stats,readrandom,stats --reads=10 --compression_ratio=1 "
                 "--keys_per_datatable=2097152 --dram_node=-1 --nvm_node=-1 --nvm_next_node=-1 "
                 "--write_buffer_size=67108864"),
            0)
      << err_;
  EXPECT_TRUE(Printed("\nwa: "));
  EXPECT_TRUE(Printed("\nfillrandom   : ")) << out_;
}

TEST_F(ProgramTest, PublishedBenchmarksAreAccepted) {
  EXPECT_EQ(
      Call("--benchmarks=fillseq,fillbatch,fillrandom,filluniquerandom,overwrite,fillsync,fill100K,readseq,readreverse,"
           "readtocache,readrandom,readrandomsmall,readmissing,readhot,seekrandom,seekordered,deleteseq,deleterandom,"
           "readwhilewriting,readwhilemerging,readwhilescanning,seekrandomwhilewriting,seekrandomwhilemerging,"
           "readrandomwriterandom,updaterandom,appendrandom,mergerandom,readrandommergerandom,multireadrandom,"
           "newiterator,mixgraph,open,compact,compactall,compact0,compact1,flush,waitforcompaction,wait,stats,"
           "levelstats,memstats,resetstats,stats_history,sstables,heapprofile,randomwithverify,fillseqdeterministic,"
           "fillseq[X2],fillseq[W1],readrandom[X2-W1],acquireload"),
      0)
      << err_;
  EXPECT_TRUE(Printed("\nfillseqdeterministic : not available\n")) << out_;
  EXPECT_TRUE(Printed("\nacquireload  : "));
  // Names are judged before anything runs, so of these that go over a gigabyte none does.
  EXPECT_EQ(Call("--benchmarks=crc32c,xxhash,xxhash64,xxh3,snappycomp,snappyuncomp,zstdcomp,zstduncomp,compress,"
                 "uncompress,spin,replay,fillsomehow"),
            1);
  EXPECT_EQ(err_, "unknown benchmark 'fillsomehow'\n");
  EXPECT_EQ(out_, "");
  ASSERT_EQ(Call("--benchmarks=fillseq"), 0);
  EXPECT_EQ(Call("--benchmarks=replay --use_existing_db --trace_file=" + Path("none")), 1);
  EXPECT_NE(err_.find(Path("none")), std::string::npos) << err_;
}

TEST_F(ProgramTest, LogFilesAreWhatTheFlagsAskFor) {
  const std::string load = "--num=4000 --benchmarks=fillrandom,stats --log_mode=file --write_buffer_size=65536 ";
  ASSERT_EQ(Call(load), 0) << err_;
  EXPECT_GT(Ending("db", ".log"), 0);
  EXPECT_EQ(Ending("db", "-8192.log"), 0);
  EXPECT_EQ(Files("db/archive").size(), 0u);
  const int64_t bytes = Number("log file bytes");
  EXPECT_GT(bytes, 4000 * 116);
  EXPECT_EQ(Number("log file bytes padding"), -1);
  EXPECT_EQ(Number("log file syncs"), -1);

  ASSERT_EQ(Call(load + "--wal_block_size=8192 --wal_padding --sync --writes=500"), 0) << err_;
  EXPECT_GT(Ending("db", "-8192.log"), 0);
  EXPECT_GT(Number("log file bytes padding"), 0);
  EXPECT_GE(Number("log file syncs"), 500);

  ASSERT_EQ(Call(load + "--wal_dir=" + Path("logs") + " --wal_bytes_per_sync=4096"), 0) << err_;
  EXPECT_EQ(Ending("db", ".log"), 0);
  EXPECT_GT(Ending("logs", ".log"), 0);
  EXPECT_NEAR(static_cast<double>(Number("log file bytes")), static_cast<double>(bytes), 1000);

  ASSERT_EQ(Call(load + "--benchmarks=fillrandom,wait,stats --wal_ttl_seconds=1000"), 0) << err_;
  EXPECT_GT(Files("db/archive").size(), 2u);
  const std::string check = "bash -c 'set -e; . " + kBenchLib + "lib.sh; . " + kBenchLib + "bench_lib.sh; ";
  EXPECT_EQ(std::system((check + "check_database_folder " + Path("db") + "'").c_str()), 0);

  ASSERT_EQ(Call(load + "--benchmarks=fillrandom,wait,stats --wal_size_limit_MB=1"), 0) << err_;
  EXPECT_GT(Files("db/archive").size(), 2u);

  // A limit below the memtable's size ends memtables early.
  ASSERT_EQ(Call(load + "--benchmarks=fillrandom,wait,stats --write_buffer_size=1048576"), 0) << err_;
  const int64_t flushes = Number("flushes");
  ASSERT_EQ(Call(load + "--benchmarks=fillrandom,wait,stats --write_buffer_size=1048576 --max_total_wal_size=65536"), 0)
      << err_;
  EXPECT_GT(Number("flushes"), flushes);

  ASSERT_EQ(Call(load + "--disable_wal"), 0) << err_;
  EXPECT_EQ(Ending("db", ".log"), 0);
  EXPECT_EQ(Call(load + "--wal_block_size=1000"), 1);
  EXPECT_NE(err_.find("wal_block_size"), std::string::npos) << err_;
}

TEST_F(ProgramTest, ADatabaseThatIsNotThereIsNeitherMadeNorMeasured) {
  for (const std::string engine : {"miodb", "leveldb", "rocksdb"}) {
    for (const std::string use : {"--use_existing_db", "--readonly"}) {
      const std::string words = " --num=100 --engine=" + engine + " " + use + " --db=" + Path("typo/db");
      EXPECT_EQ(Run(kProgram + words + " --benchmarks=readrandom"), 1) << words << out_;
      EXPECT_NE(err_.find("readrandom: open error: "), std::string::npos) << err_;
      EXPECT_NE(err_.find(Path("typo/db")), std::string::npos) << err_;
      EXPECT_FALSE(Printed("readrandom")) << out_;
      EXPECT_FALSE(std::filesystem::exists(Path("typo"))) << words;
    }
  }
  EXPECT_EQ(Call("--use_existing_db --benchmarks=recover"), 1);
  // A pool of another name is not made for a database that is there.
  ASSERT_EQ(Call("--benchmarks=fillseq"), 0) << err_;
  EXPECT_EQ(Call("--use_existing_db --benchmarks=readrandom --pool_path=" + Path("typo")), 1) << out_;
  EXPECT_FALSE(std::filesystem::exists(Path("typo")));
}

TEST_F(ProgramTest, APeerIsWhatItsLibrarySays) {
  const std::string words = " --num=100 --db=" + Path("db") + " --benchmarks=fillseq --engine=";
  for (const std::string engine : {"leveldb", "rocksdb"}) {
    EXPECT_EQ(Run(kProgram + words + engine + " --library=/nonexistent.so"), 1);
    EXPECT_NE(err_.find("--library=PATH"), std::string::npos) << err_;
    EXPECT_EQ(Run(kProgram + words + engine + " --library=libm.so.6"), 1);
    EXPECT_NE(err_.find("has no function " + engine + "_"), std::string::npos) << err_;
  }
  EXPECT_EQ(Run(kProgram + words + "rocksdb --rocksdb_options=no_such_option=1"), 1);
  EXPECT_NE(err_.find("no_such_option"), std::string::npos) << err_;
  EXPECT_EQ(Run(kProgram + words + "leveldb --reuse_logs"), 1);
  EXPECT_NE(err_.find("reuse_logs"), std::string::npos) << err_;
  EXPECT_FALSE(std::filesystem::exists(Path("db")));
  for (const std::string preset : {"plain", "blob", "universal", "unordered"}) {
    EXPECT_EQ(Run(kProgram + words + "rocksdb --benchmarks=fillseq,flush,readseq --preset=" + preset), 0) << err_;
  }
  // A file of options as RocksDB itself writes it, with a flag over it.
  std::string written;
  for (const auto& file : std::filesystem::directory_iterator(Path("db"))) {
    if (file.path().filename().string().starts_with("OPTIONS-")) written = file.path().string();
  }
  ASSERT_NE(written, "");
  std::filesystem::copy_file(written, Path("options"));
  const std::string by_file = "rocksdb --rocksdb_options_file=" + Path("options") + " --write_buffer_size=33333333";
  ASSERT_EQ(Run(kProgram + words + by_file), 0) << err_;
  bool is_found = false;
  for (const auto& file : std::filesystem::directory_iterator(Path("db"))) {
    const std::string text = test::FileContents(file.path().string());
    is_found = is_found || text.find("\n  write_buffer_size=33333333\n") != std::string::npos;
  }
  EXPECT_TRUE(is_found);
}

TEST_F(ProgramTest, TheMergeOperatorOfRocksDbIsTheOneThatWasAskedFor) {
  const std::string words = kProgram + " --num=10 --benchmarks=fillseq --engine=rocksdb --db=" + Path("db") + " ";
  // The newest file of options that the database has after a run with these flags.
  const auto options_after = [&](const std::string& flags) {
    EXPECT_EQ(Run(words + flags), 0) << flags << "\n" << err_;
    std::string newest;
    for (const std::string& name : Files("db")) {
      if (name.starts_with("OPTIONS-")) newest = std::max(newest, name);
    }
    return Path("db/" + newest);
  };
  const auto expect_operator = [&](const std::string& flags, const std::string& name) {
    const std::string text = test::FileContents(options_after(flags));
    const size_t begin = text.find("  merge_operator=");
    const std::string line = begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
    EXPECT_NE(line.find(name), std::string::npos) << flags << ": " << line;
  };
  expect_operator("", "PutOperator");
  expect_operator("--merge_operator=max", "MaxOperator");
  expect_operator("--rocksdb_options=merge_operator=stringappend", "StringAppendOperator");
  // A file of options names an operator too, and the flag goes over it.
  std::filesystem::copy_file(options_after("--merge_operator=stringappend"), Path("options"));
  const std::string by_file = "--rocksdb_options_file=" + Path("options");
  expect_operator(by_file, "StringAppendOperator");
  expect_operator(by_file + " --merge_operator=max", "MaxOperator");
  expect_operator(by_file + " --merge_operator=", "nullptr");
  for (const std::string& with : {std::string(), by_file}) {
    EXPECT_EQ(Run(words + with + " --merge_operator=nosuch"), 1) << with;
    // By the open, or by the parser of a version that refuses the name.
    const bool is_named = err_.find("without the merge operator 'nosuch'") != std::string::npos ||
                          err_.find("merge_operator=nosuch") != std::string::npos;
    EXPECT_TRUE(is_named) << err_;
  }
}

// Starts the program on a database that takes long to settle and sends it a signal while it waits.
TEST_F(ProgramTest, CtrlCEndsAWaitEarly) {
  for (const std::string wait : {"wait", "compact"}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const std::string list = "--benchmarks=fillrandom," + wait + ",readrandom";
      const std::string words =
          "exec " + kProgram + " --db=" + Path("db") + " --num=600000 --progress_reports=0 " + list + Redirected();
      execl("/bin/sh", "sh", "-c", words.c_str(), nullptr);
      _exit(127);
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (test::FileContents(Path("out")).find("\nfillrandom") == std::string::npos &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    kill(child, SIGINT);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status;
    out_ = test::FileContents(Path("out"));
    EXPECT_TRUE(Printed("\nfillrandom   : ")) << out_;
    EXPECT_TRUE(Printed("\nwa: ")) << "it was closed in order";
    EXPECT_FALSE(Printed("Wait balance")) << out_;
    EXPECT_FALSE(Printed("\ncompact ")) << out_;
    EXPECT_FALSE(Printed("\nreadrandom")) << out_;
    std::filesystem::remove_all(Path("db"));
    std::filesystem::remove(Path("out"));
  }
}

}  // namespace
}  // namespace miodb::bench
