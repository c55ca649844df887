// Everything the command line of db_bench decides, in one plain struct.
//
// Threads: filled by main before the first thread starts, read-only afterwards.
// Units: sizes are bytes, times seconds, unless the name says otherwise. A count of -1 means "as --num".

#ifndef MIODB_BENCHMARKS_CONFIG_H_
#define MIODB_BENCHMARKS_CONFIG_H_

#include <cstdint>
#include <string>

#include "benchmarks/flags.h"

namespace miodb::bench {

struct Config {
  // ---- What runs ---------------------------------------------------------------------------------------------------
  std::string engine = "miodb";
  std::string benchmarks =
      "fillseq,fillsync,fillrandom,overwrite,readrandom,readrandom,readseq,readreverse,compact,readrandom,readseq,"
      "readreverse,fill100K,crc32c,snappycomp,snappyuncomp";
  std::string db;
  bool use_existing_db = false;
  int64_t num = 1000000;
  int64_t reads = -1;
  int64_t writes = -1;
  int64_t deletes = -1;
  int64_t threads = 1;
  int64_t duration = 0;
  int64_t seed = 0;
  int64_t batch_size = 1;
  int64_t seek_nexts = 0;
  bool reverse_iterator = false;
  int64_t readwritepercent = 90;
  bool pinned_get = false;
  bool touch_values = false;

  // ---- Keys and values ---------------------------------------------------------------------------------------------
  std::string key_format = "decimal";
  int64_t key_size = 16;
  int64_t key_prefix = 0;
  int64_t prefix_size = 0;
  int64_t keys_per_prefix = 0;
  int64_t value_size = 100;
  double compression_ratio = 0.5;

  // ---- What is printed ---------------------------------------------------------------------------------------------
  std::string report_style = "rocksdb";
  bool histogram = false;
  bool latency = true;
  bool comparisons = false;
  bool progress_reports = true;
  int64_t stats_interval = 0;
  int64_t stats_interval_seconds = 0;
  int64_t slow_usecs = -1;

  // ---- Every engine ------------------------------------------------------------------------------------------------
  bool sync = false;
  bool disable_wal = false;
  bool verify_checksum = false;
  int64_t write_buffer_size = 64 << 20;
  int64_t cache_size = -1;
  int64_t bloom_bits = -1;
  int64_t open_files = -1;
  int64_t block_size = 4096;
  int64_t num_levels = -1;
  bool compression = false;
  std::string compression_type = "none";
  int64_t zstd_compression_level = 1;

  // ---- MioDB -------------------------------------------------------------------------------------------------------
  std::string pool_path;
  int64_t pool_size = 0;
  std::string persist_mode = "auto";
  std::string log_mode = "pmem";
  int64_t log_chunk_size = 0;
  int64_t level_trigger = -1;
  int64_t partition_size = -1;
  int64_t max_background_merges = 0;
  int64_t lazy_copy_limit = -1;
  int64_t space_amplification_percent = -1;
  int64_t bits_per_key = -1;
  int64_t keys_per_datatable = 2097152;
  int64_t keys_per_pmtable = 2097152;
  int64_t dram_node = 0;
  int64_t nvm_node = 2;
  int64_t nvm_next_node = -1;

  // ---- LevelDB -----------------------------------------------------------------------------------------------------
  int64_t max_file_size = 2 << 20;
  bool reuse_logs = false;

  // ---- RocksDB -----------------------------------------------------------------------------------------------------
  int64_t max_background_jobs = 2;
  int64_t subcompactions = 1;
  int64_t max_write_buffer_number = 2;
  int64_t min_write_buffer_number_to_merge = 1;
  int64_t level0_file_num_compaction_trigger = 4;
  int64_t level0_slowdown_writes_trigger = 20;
  int64_t level0_stop_writes_trigger = 36;
  int64_t target_file_size_base = 64 << 20;
  int64_t max_bytes_for_level_base = 256 << 20;
  bool level_compaction_dynamic_level_bytes = true;
  bool disable_auto_compactions = false;
  bool enable_pipelined_write = false;
  bool mmap_read = false;
  bool mmap_write = false;
  bool use_direct_reads = false;
  bool use_direct_io_for_flush_and_compaction = false;
  int64_t bytes_per_sync = 0;
  int64_t wal_bytes_per_sync = 0;

  // ---- Derived -----------------------------------------------------------------------------------------------------
  int64_t Reads() const { return reads < 0 ? num : reads; }
  int64_t Writes() const { return writes < 0 ? num : writes; }
  int64_t Deletes() const { return deletes < 0 ? num : deletes; }
  // Operations of a benchmark that mixes reads and writes.
  int64_t ReadWrites() const;
  // Bytes of a key, prefix included.
  int64_t KeyBytes() const { return key_size + key_prefix; }
  // "none" or the algorithm asked for by --compression_type or --compression.
  std::string Compression() const;
  bool LeveldbStyle() const { return report_style == "leveldb"; }
  // Operations that take at least this many microseconds are reported with --histogram.
  double SlowMicros() const;
};

// Binds every field above to the flag of the same name, and the names that are recognised without effect.
void RegisterFlags(FlagSet* flags, Config* config);

// Checks what one flag alone cannot and fills in the default path. Returns what is wrong, or nothing.
std::string FinishConfig(const FlagSet& flags, Config* config);

// A line for the user that names the flags that were given and change nothing for this engine (or nothing yet, like the
// NUMA nodes at other values than their defaults), or nothing.
std::string FlagNotes(const FlagSet& flags, const Config& config);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_CONFIG_H_
