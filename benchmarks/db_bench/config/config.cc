#include "benchmarks/db_bench/config/config.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "benchmarks/db_bench/config/generator.h"
#include "benchmarks/db_bench/config/mixgraph_presets.h"

namespace miodb::bench {

namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxValueBytes = int64_t{1} << 30;
constexpr int64_t kMaxKeyBytes = 16 << 20;

void RegisterRun(FlagSet* f, Config* c) {
  f->Section("What runs");
  f->Text("engine", &c->engine, "miodb, leveldb, rocksdb, lmdb or wiredtiger");
  f->Text("benchmarks", &c->benchmarks, "comma list, run in order");
  f->Text("db", &c->db, "database directory; empty: dbbench under $TEST_TMPDIR or /tmp/miodbtest-<uid>");
  f->Bool("use_existing_db", &c->use_existing_db, "keep the database; benchmarks that need a fresh one are skipped");
  f->Bool("use_existing_keys", &c->use_existing_keys, "random keys are those that the database has");
  f->Bool("readonly", &c->readonly, "implies use_existing_db; benchmarks that write are errors");
  f->Int("num", &c->num, 1, int64_t{1} << 48, "entries, and the key space of random keys");
  f->Int("reads", &c->reads, -1, kNoBound, "reads per thread; negative: num");
  f->Int("writes", &c->writes, -1, kNoBound, "writes per thread; negative: num");
  f->Int("deletes", &c->deletes, -1, kNoBound, "deletes per thread; negative: num");
  f->Int("threads", &c->threads, 1, 4096, "client threads; each does the full count");
  f->Int("duration", &c->duration, 0, kMaxInt, "seconds; above 0 replaces the count of random-order benchmarks");
  f->Int("seed", &c->seed, 0, kNoBound, "of all random numbers; the same seed gives the same work to every engine");
  f->Int("batch_size", &c->batch_size, 1, 1 << 24, "entries per write batch, keys per read of multireadrandom");
  f->Int("multiread_stride", &c->multiread_stride, 0, kNoBound, "between keys of one multireadrandom; 0: random keys");
  f->Int("seek_nexts", &c->seek_nexts, 0, kNoBound, "steps after each seek of seekrandom");
  f->Real("pause_seconds", &c->pause_seconds, 0, 1e6, "how long a pause takes");
  f->Int("max_scan_distance", &c->max_scan_distance, 0, int64_t{1} << 48,
         "a scan of seekrandom ends so many key numbers from its start; 0: no limit");
  f->Bool("reverse_iterator", &c->reverse_iterator, "step backwards after a seek");
  f->Int("readwritepercent", &c->readwritepercent, 0, 100, "share of reads in readrandomwriterandom");
  f->Int("merge_keys", &c->merge_keys, -1, int64_t{1} << 48, "keys of mergerandom, readrandommergerandom; -1: num");
  f->Int("mergereadpercent", &c->mergereadpercent, 0, 100, "share of reads in readrandommergerandom");
  f->Bool("use_single_deletes", &c->use_single_deletes, "deleteseq and deleterandom use single deletions");
  f->Int("deletepercent", &c->deletepercent, 0, 100, "share of deletes in randomwithverify");
  f->Real("read_random_exp_range", &c->read_random_exp_range, 0, 1000,
          "random reads follow num*e^-r with r uniform up to this; 0: all keys alike");
  f->Real("zipf_theta", &c->zipf_theta, 0.0001, 0.9999, "exponent of the distribution of keys in readzipfian");
  f->Real("overwrite_probability", &c->overwrite_probability, 0, 1, "filluniquerandom: share of repeated keys");
  f->Int("overwrite_window_size", &c->overwrite_window_size, 1, kMaxInt, "filluniquerandom: how far back those lie");
  f->Int("benchmark_write_rate_limit", &c->benchmark_write_rate_limit, 0, kNoBound,
         "bytes a second of all writers together; 0: no limit");
  f->Int("benchmark_read_rate_limit", &c->benchmark_read_rate_limit, 0, kNoBound,
         "operations a second of all readers together; 0: no limit");
  f->Bool("finish_after_writes", &c->finish_after_writes, "background writers do --writes puts, no more and no less");
  f->Bool("pinned_get", &c->pinned_get, "read without a copy where the engine can (miodb, rocksdb)");
  f->Text("engine_output", &c->engine_output, "file for what the engine itself prints; empty: the streams of db_bench");
  f->Bool("questions", &c->questions, "ask a peer first, in processes of their own, whether it answers right");
  f->Bool("touch_values", &c->touch_values, "load one byte of every cache line of each value read");

  f->Section("Keys and values");
  f->Text("key_format", &c->key_format, "decimal (LevelDB, MioDB) or binary (RocksDB)");
  f->Int("key_size", &c->key_size, 1, kMaxKeyBytes, "bytes of a key, without key_prefix");
  f->Int("second_key_size", &c->second_key_size, 0, kMaxKeyBytes, "bytes of the other keys; 0: there are none");
  f->Real("second_key_share", &c->second_key_share, 0, 1, "how many keys those are");
  f->Int("key_prefix", &c->key_prefix, 0, kMaxKeyBytes, "that many 'a' before each key");
  f->Int("prefix_size", &c->prefix_size, 0, kMaxKeyBytes, "binary keys: bytes of the prefix");
  f->Int("keys_per_prefix", &c->keys_per_prefix, 0, kNoBound, "binary keys: keys that share a prefix; 0: no prefix");
  f->Int("value_size", &c->value_size, 0, kMaxValueBytes, "bytes of a value");
  f->Text("value_size_distribution_type", &c->value_size_distribution_type, "fixed, uniform or normal");
  f->Int("value_size_min", &c->value_size_min, 0, kMaxValueBytes, "least bytes of a value, unless fixed");
  f->Int("value_size_max", &c->value_size_max, 0, kMaxValueBytes, "most bytes of a value, unless fixed");
  f->Real("compression_ratio", &c->compression_ratio, 0.01, 1, "values are built to compress to this fraction");
}

void RegisterReport(FlagSet* f, Config* c) {
  f->Section("What is printed");
  f->Text("report_style", &c->report_style, "result lines and histograms of rocksdb (7.x) or leveldb");
  f->Bool("latency", &c->latency, "time every operation and print percentiles");
  f->Bool("histogram", &c->histogram, "print the histogram of operation times");
  f->Bool("comparisons", &c->comparisons, "count and print comparator calls; slows every engine down");
  f->Bool("progress_reports", &c->progress_reports, "show progress on stderr");
  f->Int("stats_interval", &c->stats_interval, 0, kNoBound, "report on stderr each that many operations");
  f->Int("stats_interval_seconds", &c->stats_interval_seconds, 0, kMaxInt, "report on stderr each that many seconds");
  f->Int("slow_usecs", &c->slow_usecs, -1, kNoBound, "report slower operations; -1: 20000 or 1000000 by report_style");
  f->Int("report_interval_seconds", &c->report_interval_seconds, 0, kMaxInt,
         "seconds of an interval of report_file (0: none), intervalfile and HDR logs (0: one for each benchmark)");
  f->Text("report_file", &c->report_file, "CSV of operations in each interval; empty: none");
  f->Text("intervalfile", &c->intervalfile, "CSV of latency percentiles in each interval, as ycsbc writes it");
  f->Bool("hdrhistogram.fileoutput", &c->hdrhistogram_fileoutput,
          "write <path><operation>.hdr, logs of HdrHistogram with the latencies of each interval");
  f->Text("hdrhistogram.output.path", &c->hdrhistogram_output_path, "what those names begin with");
  f->Bool("confidence_interval_only", &c->confidence_interval_only, "of repeated benchmarks print 95 % intervals");
}

// Options of RocksDB that its db_bench has flags for and that differ from version to version.
constexpr const char* kRocksDbOwn[] = {"cache_numshardbits", "hard_rate_limit", "min_level_to_compress",
                                       "rate_limiter_bytes_per_sec", "soft_rate_limit"};

// Flags of RocksDB's db_bench that change nothing here.
void RegisterIgnored(FlagSet* f) {
  for (const char* name : {"enable_numa", "multiread_batched"}) f->IgnoreBool(name);
  for (const char* name : kRocksDbOwn) f->IgnoreValue(name);
  for (const char* name : {"block_cache_trace_max_trace_file_size_in_bytes", "num_hot_column_families", "num_multi_db",
                           "ops_between_duration_checks", "stats_per_interval"}) {
    f->IgnoreValue(name);
  }
}

// Returns which flag would be an option of the engine and is not applied, or nothing.
std::string NotApplied(const FlagSet& flags, const Config& config) {
  for (const char* name : kRocksDbOwn) {
    if (config.engine == "rocksdb" && flags.IsSet(name)) {
      return std::string("Invalid flag '--") + name + "': give RocksDB's option itself, with --rocksdb_options";
    }
  }
  return "";
}

}  // namespace

int64_t Config::ReadWrites() const {
  const int64_t most = std::max(reads, writes);
  return most < 0 ? num : most;
}

double Config::MeanKeyBytes() const {
  const double other = second_key_size == 0 ? 0 : second_key_share;
  return static_cast<double>(key_prefix) + static_cast<double>(key_size) * (1 - other) +
         static_cast<double>(second_key_size) * other;
}

double Config::SlowMicros() const {
  if (slow_usecs >= 0) return static_cast<double>(slow_usecs);
  return LeveldbStyle() ? 20e3 : 1e6;
}

void RegisterFlags(FlagSet* flags, Config* config) {
  RegisterRun(flags, config);
  RegisterReport(flags, config);
  RegisterMixgraphFlags(flags, &config->mixgraph);
  RegisterTraceFlags(flags, &config->trace);
  RegisterEngineFlags(flags, config);
  RegisterIgnored(flags);
}

std::string FinishConfig(const FlagSet& flags, Config* config) {
  for (const std::string& problem :
       {ApplyMixgraphPreset(flags, config),
        OneOf("engine", config->engine, {"miodb", "leveldb", "rocksdb", "lmdb", "wiredtiger"}),
        OneOf("report_style", config->report_style, {"rocksdb", "leveldb"}),
        OneOf("key_format", config->key_format, {"decimal", "binary"}),
        OneOf("value_size_distribution_type", config->value_size_distribution_type, {"fixed", "uniform", "normal"}),
        FinishEngineConfig(flags, config), NotApplied(flags, *config), KeyFormat(*config).Problem(config->num),
        FinishMixgraph(flags, config->num, config->num_column_families, &config->mixgraph)}) {
    if (!problem.empty()) return problem;
  }
  if (config->value_size_distribution_type != "fixed" && config->value_size_min > config->value_size_max) {
    return "--value_size_min=" + std::to_string(config->value_size_min) +
           " is above --value_size_max=" + std::to_string(config->value_size_max);
  }
  if (config->readwritepercent + config->deletepercent > 100 && flags.IsSet("deletepercent")) {
    return "--readwritepercent=" + std::to_string(config->readwritepercent) +
           " and --deletepercent=" + std::to_string(config->deletepercent) + " are more than 100 together";
  }
  if (flags.IsSet("second_key_share") && config->second_key_size == 0) {
    return "--second_key_share needs --second_key_size";
  }
  if (flags.IsSet("hdrhistogram.output.path") && !config->hdrhistogram_fileoutput) {
    return "--hdrhistogram.output.path needs --hdrhistogram.fileoutput";
  }
  if (config->readonly) config->use_existing_db = true;
  config->create_if_missing = !config->use_existing_db;
  if (config->use_existing_keys && !config->use_existing_db) return "--use_existing_keys needs --use_existing_db";
  if (config->stats_interval_seconds > 0) config->stats_interval = 1000;
  if (!flags.IsSet("db") || config->db.empty()) config->db = DefaultDatabasePath("dbbench", config->engine);
  return "";
}

std::string FlagNotes(const FlagSet& flags, const Config& config) {
  std::map<std::string, std::string> names;  // by what they need
  for (const IdleFlag& idle : IdleEngineFlags(flags, config)) names[idle.needs] += " --" + idle.name;
  std::string text;
  for (const auto& [needs, list] : names) {
    text += "no effect on " + config.engine + (needs.empty() ? "" : " without --" + needs) + ":" + list + "\n";
  }
  return text;
}

}  // namespace miodb::bench
