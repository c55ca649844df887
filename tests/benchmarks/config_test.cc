// The flags of db_bench: names, defaults and the checks that concern more than one of them.

#include "benchmarks/db_bench/config/config.h"

#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/db_bench/benchmarks.h"
#include "tests/common/paths.h"

namespace miodb::bench {
namespace {

struct Parsed {
  Config config;
  FlagSet flags;
  FlagSet::Result result;
  std::string problem;
  std::string notes;

  explicit Parsed(std::initializer_list<const char*> words) {
    RegisterFlags(&flags, &config);
    std::vector<const char*> argv = {"db_bench"};
    argv.insert(argv.end(), words);
    result = flags.Parse(static_cast<int>(argv.size()), argv.data());
    problem = result.error.empty() ? FinishConfig(flags, &config) : result.error;
    notes = FlagNotes(flags, config);
  }
};

TEST(ConfigTest, DefaultsArePublished) {
  const Parsed parsed({});
  EXPECT_EQ(parsed.problem, "");
  EXPECT_EQ(parsed.notes, "");
  const Config& config = parsed.config;
  EXPECT_EQ(config.engine, "miodb");
  EXPECT_EQ(config.num, 1000000);
  EXPECT_EQ(config.Reads(), 1000000);
  EXPECT_EQ(config.value_size, 100);
  EXPECT_EQ(config.key_size, 16);
  EXPECT_EQ(config.options.write_buffer_size, 67108864u);
  EXPECT_EQ(config.Compression(), "none");
  EXPECT_EQ(config.db.substr(config.db.rfind('/')), "/dbbench");
}

TEST(ConfigTest, TheCommandLineOfMioDbsScriptsRuns) {
  const Parsed parsed({"--num=20000000", "--value_size=4096", "--benchmarks=fillrandom,stats,readrandom,stats",
                       "--reads=1000000", "--compression_ratio=1", "--db=/x", "--keys_per_datatable=2097152",
                       "--dram_node=0", "--nvm_node=2", "--nvm_next_node=-1", "--write_buffer_size=67108864"});
  EXPECT_EQ(parsed.problem, "");
  EXPECT_EQ(parsed.config.Reads(), 1000000);
  EXPECT_EQ(parsed.notes, "no effect on miodb: --keys_per_datatable\n");
}

TEST(ConfigTest, ARocksDbCommandLineRuns) {
  const Parsed parsed({"-benchmarks=fillrandom", "-use_direct_io_for_flush_and_compaction=true", "-use_direct_reads",
                       "-perf_level=2", "-compression_type=NoCompression", "-cache_size", "268435456", "-key_size=48",
                       "-max_background_jobs=8", "-statistics", "-use_fsync"});
  EXPECT_EQ(parsed.problem, "");
  EXPECT_TRUE(parsed.result.warnings.empty());
  EXPECT_NE(parsed.notes.find(" --use_fsync"), std::string::npos) << parsed.notes;
  EXPECT_EQ(parsed.config.Compression(), "none");
  EXPECT_EQ(parsed.config.cache_size, 268435456);
}

// Flags that are options of RocksDB reach RocksDB's parser, or end the program with an error.
TEST(ConfigTest, AnOptionOfTheChosenPeerIsAppliedOrAnError) {
  const Parsed parsed({"--engine=rocksdb", "--mmap_read", "--use_fsync=false", "--subcompactions=3",
                       "--cache_index_and_filter_blocks", "--rocksdb_options=a=b;"});
  EXPECT_EQ(parsed.problem, "");
  EXPECT_EQ(parsed.notes, "");
  EXPECT_EQ(parsed.config.peer.RocksDbText(),
            "max_subcompactions=3;use_fsync=false;allow_mmap_reads=true;"
            "block_based_table_factory={cache_index_and_filter_blocks=true;};");
  EXPECT_EQ(parsed.config.peer.rocksdb_options, "a=b;");
  EXPECT_EQ(Parsed({"--engine=rocksdb", "--hard_rate_limit=2"}).problem,
            "Invalid flag '--hard_rate_limit': give RocksDB's option itself, with --rocksdb_options");
  EXPECT_EQ(Parsed({"--hard_rate_limit=2"}).problem, "");
}

TEST(ConfigTest, PresetsAreOfTheirEngine) {
  EXPECT_EQ(Parsed({"--engine=rocksdb", "--preset=plain"}).problem, "");
  EXPECT_EQ(Parsed({"--engine=leveldb", "--preset=64m"}).config.options.max_file_size, uint64_t{64} << 20);
  EXPECT_EQ(Parsed({"--engine=leveldb", "--preset=plain"}).problem.rfind("Invalid flag '--preset=plain': not of ", 0),
            0u);
}

// Of the prototype's SSD branch users know --db on an SSD as where its table files go.
TEST(ConfigTest, APoolThatHasBecomeAFileOnADiskIsNotedUnlessItWasAskedFor) {
  const std::string note = FileModeNote(Parsed({"--db=/mnt/ssd/x"}).config, "file");
  for (const char* part : {"note: /mnt/ssd/x is on a disk", "pool_path", "ssd_path", "docs/experiments.md"}) {
    EXPECT_NE(note.find(part), std::string::npos) << part << " in " << note;
  }
  EXPECT_EQ(note.find('\n'), note.size() - 1);
  EXPECT_EQ(FileModeNote(Parsed({"--db=/mnt/ssd/x"}).config, "file, all figures MODELLED: optane"), note);
  for (const char* mode : {"pmem", "emulated", "volatile", "", "emulated, all figures MODELLED: file"}) {
    EXPECT_EQ(FileModeNote(Parsed({"--db=/mnt/ssd/x"}).config, mode), "") << mode;
  }
  for (const char* asked : {"--persist_mode=file", "--pool_path=/mnt/ssd/pool", "--ssd_path=/mnt/ssd/x/ssd"}) {
    EXPECT_EQ(FileModeNote(Parsed({"--db=/mnt/ssd/x", asked}).config, "file"), "") << asked;
  }
}

TEST(ConfigTest, IntervalFilesAndHdrLogsHaveTheNamesOfYcsb) {
  const Parsed parsed({"--intervalfile=/x.csv", "--hdrhistogram.fileoutput", "--hdrhistogram.output.path=/x_",
                       "--report_interval_seconds=1", "--report_file="});
  EXPECT_EQ(parsed.problem, "");
  EXPECT_EQ(parsed.config.intervalfile, "/x.csv");
  EXPECT_TRUE(parsed.config.hdrhistogram_fileoutput);
  EXPECT_EQ(parsed.config.hdrhistogram_output_path, "/x_");
  EXPECT_EQ(Parsed({"--hdrhistogram.output.path=/x_"}).problem,
            "--hdrhistogram.output.path needs --hdrhistogram.fileoutput");
}

TEST(ConfigTest, NodesAreMioDbsAndAnywhereByDefault) {
  const Parsed parsed({"--nvm_node=1", "--nvm_next_node=5"});
  EXPECT_EQ(parsed.notes, "");
  EXPECT_EQ(parsed.config.options.dram_node, -1);
  EXPECT_EQ(parsed.config.options.nvm_node, 1);
  EXPECT_EQ(parsed.config.options.nvm_next_node, 5);
  EXPECT_EQ(Parsed({"--nvm_node=1", "--engine=leveldb"}).notes, "no effect on leveldb: --nvm_node\n");
  EXPECT_NE(Parsed({"--nvm_node=-2"}).problem, "");
}

TEST(ConfigTest, FlagsOfOptionsHaveTheLibrarysDefaults) {
  const Options options = Parsed({"--lazy_copy_limit=-1", "--ssd_levels=2"}).config.options;
  EXPECT_EQ(options.lazy_copy_limit, Options().lazy_copy_limit);
  EXPECT_EQ(options.ssd_levels, 2);
  const std::string help = Parsed({}).flags.Help();
  const std::string limit = std::to_string(Options().lazy_copy_limit);
  EXPECT_NE(help.find("--lazy_copy_limit=" + limit + " "), std::string::npos);
}

TEST(ConfigTest, AnOptionOutOfItsRangeIsRefusedWithTheRange) {
  EXPECT_EQ(Parsed({"--level_trigger=1"}).problem, "Invalid flag '--level_trigger=1': allowed: 2 to 64");
  EXPECT_EQ(Parsed({"--persist_mode=safe"}).problem,
            "Invalid flag '--persist_mode=safe': one of auto, pmem, emulated, file");
  EXPECT_EQ(Parsed({"--zstd_compression_level=-1"}).config.options.zstd_compression_level, -1);
}

TEST(ConfigTest, ConfigurationsAreEqualIfAllFlagsOfTheEngineAre) {
  const Config plain = Parsed({}).config;
  EXPECT_TRUE(Parsed({"--num=5", "--lazy_copy_limit=-1"}).config == plain);
  for (const char* other : {"--lazy_copy_limit=5", "--persist_mode=emulated", "--nvm_regions=/a", "--db=/x", "--sync",
                            "--compaction_readahead_size=1048576", "--mmap_read", "--pinned_get", "--engine=leveldb"}) {
    EXPECT_FALSE(Parsed({other}).config == plain) << other;
  }
}

TEST(ConfigTest, RegionsAreTakenApart) {
  const Parsed parsed({"--nvm_regions=/a:64m:1,/b,/c::2,/d:5", "--nvm_region_search=/x,/y"});
  EXPECT_EQ(parsed.problem, "");
  const std::vector<NvmRegion>& regions = parsed.config.options.nvm_regions;
  ASSERT_EQ(regions.size(), 4u);
  EXPECT_EQ(regions[0].path, "/a");
  EXPECT_EQ(regions[0].limit, uint64_t{64} << 20);
  EXPECT_EQ(regions[0].node, 1);
  EXPECT_EQ(regions[1].path, "/b");
  EXPECT_EQ(regions[1].limit, 0u);
  EXPECT_EQ(regions[1].node, -1);
  EXPECT_EQ(regions[2].node, 2);
  EXPECT_EQ(regions[3].limit, 5u);
  EXPECT_EQ(parsed.config.options.nvm_region_search, (std::vector<std::string>{"/x", "/y"}));
  for (const char* bad : {"/a:", ":5", "/a:5x", "/a:5:", "/a:5:1024", "/a:5:1:2", "/a,,/b", "/a:9999999999999t"}) {
    const bool empty_size = std::string(bad) == "/a:";
    const std::string flag = std::string("--nvm_regions=") + bad;
    EXPECT_EQ(Parsed({flag.c_str()}).problem.empty(), empty_size) << bad;
  }
}

TEST(ConfigTest, LogFilesAreRocksDbsAndMioDbsInItsFileMode) {
  EXPECT_EQ(Parsed({"--wal_dir=/x", "--wal_padding"}).notes,
            "no effect on miodb without --log_mode=file: --wal_dir --wal_padding\n");
  EXPECT_EQ(Parsed({"--wal_dir=/x", "--wal_padding", "--log_mode=file"}).notes, "");
  EXPECT_EQ(Parsed({"--wal_ttl_seconds=5", "--engine=rocksdb"}).notes, "");
  EXPECT_EQ(Parsed({"--wal_ttl_seconds=5", "--engine=leveldb"}).notes, "no effect on leveldb: --wal_ttl_seconds\n");
}

TEST(ConfigTest, FlagsOfAnotherEngineAreAnnounced) {
  EXPECT_EQ(Parsed({"--use_direct_reads", "--reuse_logs=1"}).notes,
            "no effect on miodb: --reuse_logs\nno effect on miodb without --ssd_path: --use_direct_reads\n");
  EXPECT_EQ(Parsed({"--use_direct_reads", "--engine=rocksdb"}).notes, "");
  EXPECT_EQ(Parsed({"--pool_size=0", "--pinned_get", "--engine=leveldb"}).notes,
            "no effect on leveldb: --pool_size --pinned_get\n");
  EXPECT_EQ(Parsed({"--compression=1"}).notes, "no effect on miodb without --ssd_path: --compression_type\n");
  EXPECT_EQ(Parsed({"--library=/x.so", "--questions=0"}).notes, "no effect on miodb: --library --questions\n");
  EXPECT_EQ(Parsed({"--library=/x.so", "--questions=0", "--merge_operator=max", "--engine=leveldb"}).notes,
            "no effect on leveldb: --merge_operator\n");
}

TEST(ConfigTest, BothCompressionFlagsMeanTheSame) {
  EXPECT_EQ(Parsed({"--compression=1"}).config.Compression(), "snappy");
  EXPECT_EQ(Parsed({"--compression=1", "--compression_type=zstd"}).config.Compression(), "zstd");
  EXPECT_EQ(Parsed({"--compression_type=none"}).config.Compression(), "none");
  EXPECT_NE(Parsed({"--compression_type=best"}).problem, "");
}

TEST(ConfigTest, WordsOutsideTheirSetAreErrors) {
  EXPECT_EQ(Parsed({"--engine=mysql"}).problem,
            "Invalid flag '--engine=mysql': one of miodb, leveldb, rocksdb, lmdb, wiredtiger");
  EXPECT_NE(Parsed({"--report_style=xml"}).problem, "");
  EXPECT_NE(Parsed({"--persist_mode=safe"}).problem, "");
  EXPECT_NE(Parsed({"--log_mode=disk"}).problem, "");
  EXPECT_NE(Parsed({"--key_format=hex"}).problem, "");
  EXPECT_NE(Parsed({"--value_size_distribution_type=zipf"}).problem, "");
}

TEST(ConfigTest, KeysThatCannotHoldTheirNumbersAreAnError) {
  EXPECT_EQ(Parsed({"--key_size=4", "--num=10000"}).problem, "");
  EXPECT_NE(Parsed({"--key_size=4", "--num=10001"}).problem, "");
  EXPECT_EQ(Parsed({"--key_size=2", "--num=65536", "--key_format=binary"}).problem, "");
  EXPECT_NE(Parsed({"--key_size=2", "--num=65537", "--key_format=binary"}).problem, "");
  EXPECT_NE(Parsed({"--key_size=8", "--key_format=binary", "--prefix_size=8", "--keys_per_prefix=10"}).problem, "");
}

TEST(ConfigTest, TheLeastValueIsNotAboveTheLargest) {
  EXPECT_NE(Parsed({"--value_size_distribution_type=uniform", "--value_size_min=9", "--value_size_max=8"}).problem, "");
  EXPECT_EQ(Parsed({"--value_size_min=9", "--value_size_max=8"}).problem, "");
}

TEST(ConfigTest, CountsFollowNumUnlessGiven) {
  const Parsed parsed({"--num=50", "--writes=20"});
  EXPECT_EQ(parsed.config.Reads(), 50);
  EXPECT_EQ(parsed.config.Writes(), 20);
  EXPECT_EQ(parsed.config.Deletes(), 50);
  EXPECT_EQ(parsed.config.ReadWrites(), 20);
  EXPECT_EQ(Parsed({"--num=50"}).config.ReadWrites(), 50);
}

TEST(ConfigTest, WithoutALogMioDbsLogModeIsOff) {
  EXPECT_EQ(Parsed({"--disable_wal"}).config.options.log_mode, kLogOff);
  EXPECT_EQ(Parsed({"--log_mode=off"}).config.options.log_mode, kLogOff);
  EXPECT_EQ(Parsed({}).config.options.log_mode, kLogPmem);
}

TEST(ConfigTest, EveryEngineHasItsOwnDefaultDirectory) {
  EXPECT_NE(Parsed({"--engine=leveldb"}).config.db, Parsed({"--engine=rocksdb"}).config.db);
  EXPECT_EQ(Parsed({"--engine=leveldb", "--db=/x"}).config.db, "/x");
}

// Flags that are options of the database are named by the page of options.
std::string Manual() {
  std::string text;
  for (const char* page : {"db_bench", "options"}) {
    std::ifstream file(test::SourceDir() + "/docs/" + page + ".md");
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  return text;
}

// Whether the text has the word, bounded by anything that names do not contain.
bool HasWord(const std::string& text, const std::string& word) {
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_name(text[at - 1])) && (end == text.size() || !is_name(text[end]))) return true;
  }
  return false;
}

TEST(ManualTest, NamesEveryFlagAndEveryBenchmark) {
  const std::string manual = Manual();
  ASSERT_GT(manual.size(), 1000u);
  std::istringstream help(Parsed({}).flags.Help());
  int flags = 0;
  for (std::string line; std::getline(help, line);) {
    if (line.rfind("  --", 0) != 0) continue;
    flags++;
    const std::string name = line.substr(4, line.find('=') - 4);
    EXPECT_TRUE(HasWord(manual, name)) << name;
  }
  EXPECT_GT(flags, 70);
  std::istringstream names(BenchmarkNames());
  for (std::string name; names >> name;) EXPECT_TRUE(HasWord(manual, name)) << name;
}

}  // namespace
}  // namespace miodb::bench
