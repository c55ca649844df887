// Which engine a program drives, where its database lies, and how the engine is set up. The programs bind the fields to
// their own command lines; names, ranges and help texts of the options are the same in all of them.
//
// Threads: filled before the first thread starts, read-only afterwards.
// Units: sizes are bytes unless the name says otherwise.

#ifndef MIODB_BENCHMARKS_COMMON_ENGINE_CONFIG_H_
#define MIODB_BENCHMARKS_COMMON_ENGINE_CONFIG_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "benchmarks/common/flags.h"

namespace miodb::bench {

struct EngineConfig {
  std::string engine = "miodb";
  std::string db;
  bool pinned_get = false;
  bool comparisons = false;
  bool readonly = false;          // The program makes no updates, and the engine is opened so if it can be.
  bool create_if_missing = true;  // The program may begin with an empty database.
  int64_t perf_sampling = 0;

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

  // ---- Log files of RocksDB, and of MioDB with log_mode file ------------------------------------------------------
  std::string wal_dir;
  int64_t wal_bytes_per_sync = 0;
  int64_t wal_ttl_seconds = 0;
  int64_t wal_size_limit_mb = 0;
  int64_t max_total_wal_size = 0;

  // ---- Table files of RocksDB, and of MioDB with an SSD tier ------------------------------------------------------
  bool use_direct_reads = false;
  bool use_direct_io_for_flush_and_compaction = false;
  int64_t compaction_readahead_size = -1;
  int64_t readahead_size = 0;

  // ---- MioDB -------------------------------------------------------------------------------------------------------
  std::string pool_path;
  int64_t pool_size = 0;
  std::string persist_mode = "auto";
  std::string file_access = "owner";
  std::string log_mode = "pmem";
  int64_t log_chunk_size = 0;
  int64_t wal_block_size = 32768;
  bool wal_padding = false;
  int64_t level_trigger = -1;
  int64_t partition_size = -1;
  int64_t max_background_merges = 0;
  int64_t lazy_copy_limit = -1;
  int64_t space_amplification_percent = -1;
  int64_t bits_per_key = -1;
  int64_t keys_per_datatable = 2097152;
  int64_t keys_per_pmtable = 2097152;
  int64_t dram_node = -1;
  int64_t nvm_node = -1;
  int64_t nvm_next_node = -1;
  std::string nvm_regions;        // as given
  std::string nvm_region_search;  // as given
  bool nvm_huge_pages = true;
  int64_t pool_growth = -1;

  struct Region {
    std::string path;
    uint64_t limit = 0;
    int node = -1;

    bool operator==(const Region&) const = default;
  };
  std::vector<Region> regions;  // of nvm_regions, by FinishEngineConfig
  std::vector<std::string> region_search;
  std::string ssd_path;
  int64_t nvm_budget = 0;
  int64_t ssd_levels = -1;
  int64_t ssd_level_size = -1;
  int64_t ssd_level_multiplier = -1;
  int64_t ssd_file_size = -1;
  int64_t max_background_ssd_jobs = -1;
  int64_t ssd_rate_limit = 0;
  bool multi_get_io_uring = true;
  int64_t multi_get_threads = -1;
  std::string nvm_model = "none";

  // ---- LevelDB -----------------------------------------------------------------------------------------------------
  int64_t max_file_size = 2 << 20;
  bool reuse_logs = false;

  // ---- RocksDB -----------------------------------------------------------------------------------------------------
  int64_t max_background_jobs = 2;
  int64_t perf_level = 1;
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
  int64_t bytes_per_sync = 0;

  // ---- Derived -----------------------------------------------------------------------------------------------------
  // "none" or the algorithm asked for by compression_type or compression.
  std::string Compression() const;

  bool operator==(const EngineConfig&) const = default;
};

// Binds the fields from "Every engine" on to flags of the same names, under headings of their own. The first five
// fields are named differently by each program.
void RegisterEngineFlags(FlagSet* flags, EngineConfig* config);

// Checks what one flag alone cannot, and brings names to one spelling. Returns what is wrong, or nothing.
std::string FinishEngineConfig(EngineConfig* config);

struct IdleFlag {
  std::string name;
  std::string needs;  // With this flag besides it would mean something; empty: not to this engine.
};

// The flags that were given and change nothing for this engine.
std::vector<IdleFlag> IdleEngineFlags(const FlagSet& flags, const EngineConfig& config);

// For the user, if the pool has become a file on a disk (by what Engine::PersistMode says) and nobody asked for that:
// what that means, and what to give who expected a tier there. A line with its newline, or nothing.
std::string FileModeNote(const EngineConfig& config, const std::string& persist_mode);

// Returns what is wrong with a flag that has to be one of these words, or nothing.
std::string OneOf(const std::string& name, const std::string& value, std::initializer_list<const char*> allowed);

// "<parent>/<name>" for miodb, "<parent>/<name>-<engine>" for the others, whose file names are alike. The parent is
// $TEST_TMPDIR or /tmp/miodbtest-<uid>.
std::string DefaultDatabasePath(const std::string& name, const std::string& engine);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_ENGINE_CONFIG_H_
