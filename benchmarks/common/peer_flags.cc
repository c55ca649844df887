#include "benchmarks/common/peer_flags.h"

#include <algorithm>
#include <cstring>

namespace miodb::bench {

namespace {

// An option of RocksDB that has the name of a flag of its db_bench.
struct RocksDbFlag {
  const char* name;
  const char* option;   // in its parser's words; empty: the same
  const char* initial;  // true or false: a switch
  const char* help;
};

constexpr RocksDbFlag kRocksDbFlags[] = {
    {"max_background_jobs", "", "2", "flushes and compactions at once"},
    {"subcompactions", "max_subcompactions", "1", "threads of one compaction"},
    {"max_write_buffer_number", "", "2", "memtables"},
    {"min_write_buffer_number_to_merge", "", "1", "memtables per flush"},
    {"level0_file_num_compaction_trigger", "", "4", "L0 files"},
    {"level0_slowdown_writes_trigger", "", "20", "L0 files"},
    {"level0_stop_writes_trigger", "", "36", "L0 files"},
    {"target_file_size_base", "", "67108864", "bytes of a table file"},
    {"max_bytes_for_level_base", "", "268435456", "bytes of L1"},
    {"level_compaction_dynamic_level_bytes", "", "true", "sizes from the last level"},
    {"disable_auto_compactions", "", "false", "no compaction but the manual one"},
    {"enable_pipelined_write", "", "false", "log and memtable as two stages"},
    {"unordered_write", "", "false", "memtables are written in any order"},
    {"allow_concurrent_memtable_write", "", "true", "writers write into a memtable at once"},
    {"manual_wal_flush", "", "false", "the log stays in the process until it is asked for"},
    {"use_fsync", "", "false", "fsync instead of fdatasync"},
    {"mmap_read", "allow_mmap_reads", "false", "map tables for reading"},
    {"mmap_write", "allow_mmap_writes", "false", "map files for writing"},
    {"bytes_per_sync", "", "0", "background range sync of tables; 0: off"},
    {"delayed_write_rate", "", "0", "bytes a second of writers that are slowed down"},
    {"row_cache_size", "row_cache", "0", "bytes of the cache of rows"},
    {"stats_dump_period_sec", "", "600", "seconds between statistics in its info log"},
    {"memtablerep", "memtable", "skip_list", "its memtable, in its parser's words"},
    {"wal_compression", "", "kNoCompression", "of its log, in its parser's words"},
    {"cache_index_and_filter_blocks", "block_based_table_factory.", "false", "indexes are in the cache, too"},
    {"pin_l0_filter_and_index_blocks_in_cache", "block_based_table_factory.", "false", "those of L0 stay there"},
};

constexpr PeerPreset kPresets[] = {
    {"rocksdb", "plain",
     "allow_mmap_reads=true;table_factory={id=PlainTable;user_key_len=0;bloom_bits_per_key=10;hash_table_ratio=0;"
     "index_sparseness=16};",
     "RocksDB's wiki, PlainTable Format: for data in memory, with mmap; in total order, so that scans work"},
    {"rocksdb", "blob", "enable_blob_files=true;enable_blob_garbage_collection=true;",
     "RocksDB's wiki, BlobDB: values in files of their own, with collection of garbage"},
    {"rocksdb", "universal", "compaction_style=kCompactionStyleUniversal;level_compaction_dynamic_level_bytes=false;",
     "RocksDB's wiki, Universal Compaction: fewer bytes written for more space and more runs to read"},
    {"rocksdb", "unordered", "unordered_write=true;allow_concurrent_memtable_write=true;",
     "RocksDB's blog, Higher write throughput with unordered_write: snapshots are no longer repeatable"},
    {"leveldb", "64m", "max_file_size=67108864", "the file size that RocksDB has by default"},
};

bool IsSwitch(const RocksDbFlag& flag) {
  return std::strcmp(flag.initial, "true") == 0 || std::strcmp(flag.initial, "false") == 0;
}

}  // namespace

bool PeerSettings::Given(const std::string& flag) const { return std::count(given.begin(), given.end(), flag) > 0; }

std::string PeerSettings::RocksDbText() const {
  std::string text;
  for (const RocksDbFlag& flag : kRocksDbFlags) {
    if (!Given(flag.name)) continue;
    const std::string value = IsSwitch(flag) ? (switches.at(flag.name) ? "true" : "false") : values.at(flag.name);
    const std::string option = *flag.option == '\0' ? flag.name : flag.option;
    text += option.ends_with('.') ? option.substr(0, option.size() - 1) + "={" + flag.name + "=" + value + ";};"
                                  : option + "=" + value + ";";
  }
  return text;
}

void RegisterRocksDbFlags(FlagSet* flags, PeerSettings* settings) {
  for (const RocksDbFlag& flag : kRocksDbFlags) {
    if (IsSwitch(flag)) {
      const bool is_on = std::strcmp(flag.initial, "true") == 0;
      flags->Bool(flag.name, &settings->switches.emplace(flag.name, is_on).first->second, flag.help);
    } else {
      flags->Text(flag.name, &settings->values.emplace(flag.name, flag.initial).first->second, flag.help);
    }
  }
  flags->Text("rocksdb_options", &settings->rocksdb_options,
              "any of its options for its own parser: NAME=VALUE;...; they go over all others");
  flags->Text("rocksdb_options_file", &settings->rocksdb_options_file,
              "a file of options as it writes them, instead of the settings here; flags that are given go over it");
}

const PeerPreset* FindPeerPreset(const std::string& engine, const std::string& name) {
  for (const PeerPreset& preset : kPresets) {
    if (engine == preset.engine && name == preset.name) return &preset;
  }
  return nullptr;
}

std::string PeerPresetNames() {
  std::string text, engine;
  for (const PeerPreset& preset : kPresets) {
    text += engine == preset.engine ? ", " : (text.empty() ? "" : "; ") + std::string(preset.engine) + ": ";
    text += preset.name;
    engine = preset.engine;
  }
  return text;
}

}  // namespace miodb::bench
