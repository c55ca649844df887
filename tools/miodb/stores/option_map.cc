#include "tools/miodb/stores/option_map.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "tools/miodb/terminal/files.h"

namespace miodb::tool {

namespace {

constexpr bool kBoth = true;
constexpr bool kRocksDb = false;

constexpr MappedOption kMap[] = {
    {"create_if_missing", "create_if_missing", "the same", kBoth},
    {"error_if_exists", "error_if_exists", "the same", kBoth},
    {"paranoid_checks", "paranoid_checks", "verifies every record that is read as well", kBoth},
    {"comparator", "comparator", "the bytewise one alone has the fast paths and the filters", kBoth},
    {"merge_operator", "merge_operator", "merge_operator.h has the operators that are there already", kRocksDb},
    {"write_buffer_size", "write_buffer_size", "bytes of a memtable; its payload is in the pool, its index in DRAM",
     kBoth},
    {"max_write_buffer_number", "max_immutable_memtables", "one less: the memtable that is written to does not count",
     kRocksDb},
    {"max_open_files", "max_open_files", "of table files on SSD; tables in the pool need none", kBoth},
    {"block_cache", "block_cache", "of table files on SSD; the pool is memory and is not cached", kBoth},
    {"block_size", "block_size", "of table files on SSD", kBoth},
    {"block_restart_interval", "block_restart_interval", "of table files on SSD", kBoth},
    {"compression", "compression", "none, snappy or zstd, of table files on SSD; the pool holds plain bytes", kBoth},
    {"compression_opts", "zstd_compression_level", "its level, for zstd", kRocksDb},
    {"filter_policy", "filter_bits_per_key",
     "each table in the pool has a filter in DRAM; filter_policy is for table "
     "files on SSD",
     kBoth},
    {"num_levels", "num_levels", "at most so many levels in the pool, 16 by default; do not carry the number over",
     kRocksDb},
    {"level0_file_num_compaction_trigger", "level_trigger", "runs of a level in the pool that are merged together",
     kRocksDb},
    {"max_background_jobs", "max_background_merges",
     "0 takes one for every two CPUs; max_background_ssd_jobs is for "
     "the SSD tier",
     kRocksDb},
    {"target_file_size_base", "ssd_file_size", "bytes of a table file on SSD", kRocksDb},
    {"max_file_size", "ssd_file_size", "bytes of a table file on SSD; LevelDB's name is accepted and ignored", kBoth},
    {"max_bytes_for_level_base", "ssd_level_size", "0, the default, sizes the levels on SSD by what there is",
     kRocksDb},
    {"max_bytes_for_level_multiplier", "ssd_level_multiplier", "of the levels on SSD", kRocksDb},
    {"rate_limiter", "ssd_rate_limit", "bytes a second of drains and compactions on SSD", kRocksDb},
    {"wal_dir", "wal_dir", "with log_mode kLogFile; by default the log is in the pool", kRocksDb},
    {"WAL_ttl_seconds", "wal_ttl_seconds", "with log_mode kLogFile", kRocksDb},
    {"WAL_size_limit_MB", "wal_size_limit_mb", "with log_mode kLogFile; for GetUpdatesSince it is keep_log_bytes",
     kRocksDb},
    {"max_total_wal_size", "max_total_wal_size", "with log_mode kLogFile", kRocksDb},
    {"wal_bytes_per_sync", "wal_bytes_per_sync", "with log_mode kLogFile", kRocksDb},
    {"use_direct_reads", "use_direct_reads", "of table files on SSD", kRocksDb},
    {"use_direct_io_for_flush_and_compaction", "use_direct_io_for_flush_and_compaction", "of table files on SSD",
     kRocksDb},
    {"write_buffer_manager", "shared_resources", "its memory_budget, for all databases opened with it", kRocksDb},
    {"compaction_readahead_size", "compaction_readahead_size", "of table files on SSD", kRocksDb},
    {"min_blob_size", "lazy_copy_limit", "larger records stay where the log put them and are not rewritten by merges",
     kRocksDb},
    {"db_paths", "nvm_regions", "further memory for the pool; ssd_path is the tier for what the pool is too small for",
     kRocksDb},
    {"info_log_level", "info_log_level", "info, warning, error or none", kRocksDb},
    {"max_log_file_size", "max_log_file_size", "the same", kRocksDb},
    {"keep_log_file_num", "keep_log_file_num", "2 by default: LOG and LOG.old", kRocksDb},
    {"statistics", "statistics", "a switch; what is counted is read as properties", kRocksDb},
    {"listeners", "listeners", "one thread tells them, after the fact (listener.h)", kRocksDb},
    {"reuse_logs", "", "the log in the pool is never rewritten", kBoth},
    {"compaction_style", "", "there is one: merges of indexes over shared payload", kRocksDb},
    {"compaction_pri", "", "pickers go by garbage and age", kRocksDb},
    {"prefix_extractor", "", "filters are of whole keys", kRocksDb},
    {"bottommost_compression", "", "all levels on SSD have the same", kRocksDb},
    {"enable_pipelined_write", "", "writers that meet write beside one another by themselves", kRocksDb},
    {"allow_mmap_reads", "", "the pool is mapped anyway", kRocksDb},
    {"bytes_per_sync", "", "table files are synced when they are whole", kRocksDb},
    {"level_compaction_dynamic_level_bytes", "", "what ssd_level_size 0 does", kRocksDb},
    {"level0_slowdown_writes_trigger", "", "writers are slowed down by what is free in the pool", kRocksDb},
    {"level0_stop_writes_trigger", "", "as above", kRocksDb},
    {"soft_pending_compaction_bytes_limit", "", "as above", kRocksDb},
    {"hard_pending_compaction_bytes_limit", "", "as above", kRocksDb},
};

std::string Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin));
}

// The newest file OPTIONS-<number>; empty: there is none.
std::string OptionsFile(const std::string& directory) {
  std::string newest;
  for (const std::string& name : NamesIn(directory)) {
    if (!name.starts_with("OPTIONS-") || name.ends_with(".dbtmp")) continue;
    if (newest.empty() || name.size() > newest.size() || (name.size() == newest.size() && name > newest)) newest = name;
  }
  return newest.empty() ? "" : directory + "/" + newest;
}

// Names and values. Sections are not told apart: of several column families the first counts.
std::map<std::string, std::string> ReadOptionsFile(const std::string& directory) {
  std::map<std::string, std::string> values;
  const std::string path = OptionsFile(directory);
  if (path.empty()) return values;
  Input in(path);
  std::string_view line;
  while (in.ReadLine(&line)) {
    const size_t equals = line.find('=');
    const std::string name = Trimmed(line.substr(0, equals));
    if (equals == std::string_view::npos || name.starts_with('[') || name.starts_with('#')) continue;
    values.emplace(name, Trimmed(line.substr(equals + 1)));
  }
  values.erase("rocksdb_version");
  values.erase("options_file_version");
  return values;
}

}  // namespace

std::span<const MappedOption> OptionMap() { return kMap; }

std::string DescribeOptions(const std::string& directory) {
  std::map<std::string, std::string> values = ReadOptionsFile(directory);
  if (values.empty()) return "";
  std::string with, without;
  for (const MappedOption& option : kMap) {
    const auto found = values.find(option.theirs);
    if (found == values.end()) continue;
    const bool has_counterpart = *option.ours != '\0';
    (has_counterpart ? with : without) += "  " + found->first + "=" + found->second + "  ->  " +
                                          (has_counterpart ? option.ours : "none") + ": " + option.why + "\n";
    values.erase(found);
  }
  return "options that have a counterpart:\n" + with + "options that have none:\n" + without + "  and " +
         std::to_string(values.size()) + " more that mean nothing here\n";
}

std::string WalDirectoryOf(const std::string& directory) {
  const std::map<std::string, std::string> values = ReadOptionsFile(directory);
  const auto found = values.find("wal_dir");
  return found == values.end() || !IsDirectory(found->second) ? "" : found->second;
}

std::string OptionMapText() {
  std::string text = "| there | LevelDB's, too | here | why |\n|---|---|---|---|\n";
  for (const MappedOption& option : kMap) {
    text += std::string("| `") + option.theirs + "` | " + (option.of_leveldb ? "yes" : "") + " | " +
            (*option.ours == '\0' ? "none" : "`" + std::string(option.ours) + "`") + " | " + option.why + " |\n";
  }
  return text;
}

}  // namespace miodb::tool
