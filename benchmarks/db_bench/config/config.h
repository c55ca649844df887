// Everything the command line of db_bench decides, in one plain struct; what concerns the engines comes from
// EngineConfig.
//
// Threads: filled by main before the first thread starts, read-only afterwards.
// Units: sizes are bytes, times seconds, unless the name says otherwise. A count of -1 means "as --num".

#ifndef MIODB_BENCHMARKS_DB_BENCH_CONFIG_CONFIG_H_
#define MIODB_BENCHMARKS_DB_BENCH_CONFIG_CONFIG_H_

#include <cstdint>
#include <string>

#include "benchmarks/common/engine_config.h"
#include "benchmarks/common/flags.h"
#include "benchmarks/db_bench/config/mixgraph_config.h"
#include "benchmarks/db_bench/config/trace_config.h"

namespace miodb::bench {

struct Config : EngineConfig {
  // ---- What runs ---------------------------------------------------------------------------------------------------
  std::string benchmarks =
      "fillseq,fillsync,fillrandom,overwrite,readrandom,readrandom,readseq,readreverse,compact,readrandom,readseq,"
      "readreverse,fill100K,crc32c,snappycomp,snappyuncomp";
  bool use_existing_db = false;
  bool use_existing_keys = false;
  int64_t num = 1000000;
  int64_t reads = -1;
  int64_t writes = -1;
  int64_t deletes = -1;
  int64_t threads = 1;
  int64_t duration = 0;
  int64_t seed = 0;
  int64_t batch_size = 1;
  int64_t multiread_stride = 0;
  int64_t seek_nexts = 0;
  double pause_seconds = 10;
  int64_t max_scan_distance = 0;
  bool reverse_iterator = false;
  int64_t readwritepercent = 90;
  int64_t deletepercent = 2;
  int64_t merge_keys = -1;
  int64_t mergereadpercent = 70;
  bool use_single_deletes = false;
  double read_random_exp_range = 0;
  double zipf_theta = 0.99;
  double overwrite_probability = 0;
  int64_t overwrite_window_size = 1;
  int64_t benchmark_write_rate_limit = 0;  // Bytes a second over all writers; 0: no limit.
  int64_t benchmark_read_rate_limit = 0;   // Operations a second over all readers; 0: no limit.
  bool finish_after_writes = false;
  std::string engine_output;  // file for what the store prints; empty: it goes where the program's output goes
  bool questions = true;      // for a peer; see questions.h
  bool touch_values = false;

  MixgraphConfig mixgraph;
  TraceConfig trace;

  // ---- Keys and values ---------------------------------------------------------------------------------------------
  std::string key_format = "decimal";
  int64_t key_size = 16;
  int64_t second_key_size = 0;    // 0: all keys have key_size bytes.
  double second_key_share = 0.5;  // of the keys
  int64_t key_prefix = 0;
  int64_t prefix_size = 0;
  int64_t keys_per_prefix = 0;
  int64_t value_size = 100;
  std::string value_size_distribution_type = "fixed";
  int64_t value_size_min = 100;
  int64_t value_size_max = 102400;
  double compression_ratio = 0.5;

  // ---- What is printed ---------------------------------------------------------------------------------------------
  std::string report_style = "rocksdb";
  bool histogram = false;
  bool latency = true;
  bool progress_reports = true;
  int64_t stats_interval = 0;
  int64_t stats_interval_seconds = 0;
  int64_t slow_usecs = -1;
  int64_t report_interval_seconds = 0;
  std::string report_file = "report.csv";
  std::string intervalfile;
  bool hdrhistogram_fileoutput = false;
  std::string hdrhistogram_output_path;
  bool confidence_interval_only = false;

  // ---- Derived -----------------------------------------------------------------------------------------------------
  int64_t Reads() const { return reads < 0 ? num : reads; }
  int64_t Writes() const { return writes < 0 ? num : writes; }
  int64_t Deletes() const { return deletes < 0 ? num : deletes; }
  // Operations of a benchmark that mixes reads and writes.
  int64_t ReadWrites() const;
  // Bytes of a key on average, prefix included.
  double MeanKeyBytes() const;
  bool LeveldbStyle() const { return report_style == "leveldb"; }
  // Operations that take at least this many microseconds are reported with --histogram.
  double SlowMicros() const;
};

// Binds every field to the flag of the same name, and the names that are recognised without effect.
void RegisterFlags(FlagSet* flags, Config* config);

// Checks what one flag alone cannot and fills in the default path. Returns what is wrong, or nothing.
std::string FinishConfig(const FlagSet& flags, Config* config);

// Lines for the user that name the flags that were given and change nothing for this engine, and what they would need,
// or nothing.
std::string FlagNotes(const FlagSet& flags, const Config& config);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_CONFIG_CONFIG_H_
