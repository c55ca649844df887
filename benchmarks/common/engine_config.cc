#include "benchmarks/common/engine_config.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <tuple>
#include <utility>

namespace miodb::bench {

namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

constexpr const char* kLogFileSection = "Log files (rocksdb, miodb with log_mode=file)";

constexpr const char* kTableFileSection = "Table files (rocksdb, miodb with ssd_path)";

// The sections that concern one engine only.
constexpr const char* kMioDbSection = "MioDB (-1: the library's default)";
constexpr const char* kLevelDbSection = "LevelDB";
constexpr const char* kRocksDbSection = "RocksDB";
constexpr std::pair<const char*, const char*> kEngineSections[] = {
    {"miodb", kMioDbSection}, {"leveldb", kLevelDbSection}, {"rocksdb", kRocksDbSection}};

void RegisterCommon(FlagSet* f, EngineConfig* c) {
  Options* const o = &c->options;
  f->Section("Every engine");
  f->Bool("sync", &c->sync, "sync each write");
  f->Bool("disable_wal", &c->disable_wal, "no log (miodb: log_mode off; leveldb cannot)");
  f->Bool("verify_checksum", &c->verify_checksum, "verify checksums on reads; off for all engines, unlike RocksDB's");
  f->Text("merge_operator", &c->merge_operator, "put, uint64add, max, stringappend or empty (leveldb: empty)");
  f->Int("num_column_families", &c->num_column_families, 1, 10000, "families that keys are spread over (leveldb: 1)");
  f->Int("write_buffer_size", &o->write_buffer_size, 4096, int64_t{64} << 30, "bytes of a memtable");
  f->Int("cache_size", &c->cache_size, -1, kMax, "block cache bytes; negative: 8 MiB");
  f->Int("bloom_bits", &c->bloom_bits, -1, 32, "filter bits per key; 0: none; -1: peers none, miodb bits_per_key");
  f->Int("open_files", &c->open_files, -1, kMaxInt, "open files; -1: rocksdb no limit, others 1000");
  f->Int("block_size", &o->block_size, 64, 1 << 30, "bytes of a table block, and of crc32c, snappycomp");
  f->Int("num_levels", &c->num_levels, -1, 64, "levels of miodb and rocksdb; -1: the engine's default");
  f->Bool("compression", &c->compression, "the same as compression_type=snappy");
  f->Text("compression_type", &c->compression_type, "none, snappy, zlib, bzip2, lz4, lz4hc or zstd");
  f->Int("zstd_compression_level", &o->zstd_compression_level, 1, 22, "of zstd");
  f->Int("perf_level", &c->perf_level, 1, 6, "2 and above: count reads of the medium (rocksdb, miodb)");
}

void RegisterFiles(FlagSet* f, EngineConfig* c) {
  Options* const o = &c->options;
  f->Section(kLogFileSection);
  f->Text("wal_dir", &o->wal_dir, "folder of log files; empty: the database directory");
  f->Option("wal_bytes_per_sync", &o->wal_bytes_per_sync, "background range sync of the log; 0: off");
  f->Option("wal_ttl_seconds", &o->wal_ttl_seconds, "archive old log files and keep them so long");
  f->Int("wal_size_limit_MB", &o->wal_size_limit_mb, 0, kMax >> 20, "archive old log files and keep so many MiB");
  f->Option("max_total_wal_size", &o->max_total_wal_size, "bytes of log files that force a flush; 0: no limit");

  f->Section(kTableFileSection);
  f->Bool("use_direct_reads", &o->use_direct_reads, "read tables past the page cache");
  f->Bool("use_direct_io_for_flush_and_compaction", &o->use_direct_io_for_flush_and_compaction, "and write them so");
  f->Option("compaction_readahead_size", &o->compaction_readahead_size,
            "bytes that compactions read ahead; not given: rocksdb's own default");
  f->Int("readahead_size", &c->readahead_size, 0, 64 << 20, "bytes that iterators read ahead; 0: the engine's choice");
}

void RegisterMioDb(FlagSet* f, EngineConfig* c) {
  Options* const o = &c->options;
  f->Section(kMioDbSection);
  f->Text("pool_path", &o->pool_path, "pool file; empty: in the database directory");
  f->Option("pool_size", &o->pool_size, "limit of the pool in bytes; 0: the file system's");
  f->Word("persist_mode", &o->persist_mode,
          {{"auto", kPersistAuto}, {"pmem", kPersistPmem}, {"emulated", kPersistEmulated}, {"file", kPersistFile}},
          "auto, pmem, emulated or file");
  f->Word("file_access", &o->file_access,
          {{"owner", FileAccess::kOwner},
           {"group_reads", FileAccess::kGroupReads},
           {"group_writes", FileAccess::kGroupWrites}},
          "who may use the files besides their owner: owner, group_reads, group_writes");
  f->Word("log_mode", &o->log_mode, {{"pmem", kLogPmem}, {"file", kLogFile}, {"off", kLogOff}}, "pmem, file or off");
  f->Option("log_chunk_size", &o->log_chunk_size, "bytes of a prepared piece of log; 0: the library's choice");
  f->Option("keep_log_bytes", &o->keep_log_bytes, "bytes of flushed log that stay for the update stream");
  f->Option("wal_block_size", &o->wal_block_size, "bytes of a block of a log file, a power of two");
  f->Bool("wal_padding", &o->wal_padding, "pad blocks of log files so that no small record is split");
  f->Option("level_trigger", &o->level_trigger, "runs that start a merge of a level");
  f->Option("partition_size", &o->partition_size, "bytes at which a repository partition splits");
  f->Option("max_background_merges", &o->max_background_merges, "merges at once; 0: by the number of CPUs");
  f->Option("settle_after_idle_ms", &o->settle_after_idle_ms, "silence after which the buffer is settled; 0: never");
  f->Option("lifetime_seconds", &o->lifetime_seconds, "how long values live (miodb); 0: for ever");
  f->Option("lazy_copy_limit", &o->lazy_copy_limit, "largest record in bytes that lazy copy moves");
  f->Int("perf_sampling", &c->perf_sampling, 0, kMax,
         "take the times of the stages of every Nth put and get; stats shows them; 0: of none");
  f->Option("space_amplification_percent", &o->space_amplification_percent, "where collection starts");
  f->Option("bits_per_key", &o->filter_bits_per_key, "filter bits per key when bloom_bits is not given");
  f->Option("keys_per_datatable", &c->keys_per_datatable, "no effect: filters are sized by their tables");
  f->Option("keys_per_pmtable", &c->keys_per_datatable, "another name of keys_per_datatable");
  f->Option("dram_node", &o->dram_node, "NUMA node of memtables, filters, background threads; -1: any");
  f->Option("nvm_node", &o->nvm_node, "NUMA node of the pool, strictly; -1: any");
  f->Option("nvm_next_node", &o->nvm_next_node, "NUMA node for when nvm_node is full; -1: none");
  f->Text("nvm_regions", &c->nvm_regions,
          "further regions of the pool: PATH[:SIZE[:NODE]],... with SIZE like 64m or 2g");
  f->Text("nvm_region_search", &c->nvm_region_search, "folders to look for regions in: FOLDER,...");
  f->Bool("nvm_huge_pages", &o->nvm_huge_pages, "ask for huge pages where the pool may have them");
  f->Option("pool_growth", &o->pool_growth, "bytes by which the pool's files grow");
  f->Text("ssd_path", &o->ssd_path, "directory of the SSD tier; empty: none");
  f->Option("nvm_budget", &o->nvm_budget, "bytes in the pool above which it drains; 0: 9/16 of the pool");
  f->Option("ssd_levels", &o->ssd_levels, "levels on SSD");
  f->Option("ssd_level_size", &o->ssd_level_size, "bytes of the first of them; 0: by what there is");
  f->Option("ssd_level_multiplier", &o->ssd_level_multiplier, "each further one has so many times more");
  f->Option("ssd_file_size", &o->ssd_file_size, "bytes of a table file");
  f->Option("max_background_ssd_jobs", &o->max_background_ssd_jobs, "drains and compactions at once");
  f->Option("ssd_rate_limit", &o->ssd_rate_limit, "bytes a second that they may write; 0: no limit");
  f->Bool("multi_get_io_uring", &o->multi_get_io_uring, "read table files for one multireadrandom with io_uring");
  f->Option("multi_get_threads", &o->multi_get_threads, "that read table files for one multireadrandom without it");
  f->Bool("statistics", &o->statistics, "keep histograms of the times of calls and of background work");
  f->Word("info_log_level", &o->info_log_level,
          {{"info", InfoLogLevel::kInfo},
           {"warning", InfoLogLevel::kWarning},
           {"error", InfoLogLevel::kError},
           {"none", InfoLogLevel::kNone}},
          "info, warning, error or none");
  f->Option("max_log_file_size", &o->max_log_file_size, "bytes at which LOG becomes LOG.old; 0: at every open only");
  f->Option("keep_log_file_num", &o->keep_log_file_num, "files of the info log that are kept");
  f->Text("nvm_model", &o->nvm_model, "slow the pool down: none, optane, cxl, cxl-switch, cmm-h, count or a file");
}

void RegisterPeers(FlagSet* f, EngineConfig* c) {
  f->Section(kLevelDbSection);
  f->Int("max_file_size", &c->options.max_file_size, 1 << 20, 1 << 30, "bytes of a table file");
  f->Bool("reuse_logs", &c->options.reuse_logs, "go on with the old log after a reopen");

  f->Section(kRocksDbSection);
  f->Int("max_background_jobs", &c->max_background_jobs, 1, 1024, "flushes and compactions at once");
  f->Int("subcompactions", &c->subcompactions, 1, 1024, "threads of one compaction");
  f->Int("max_write_buffer_number", &c->max_write_buffer_number, 1, 1024, "memtables");
  f->Int("min_write_buffer_number_to_merge", &c->min_write_buffer_number_to_merge, 1, 1024, "memtables per flush");
  f->Int("level0_file_num_compaction_trigger", &c->level0_file_num_compaction_trigger, 1, kMaxInt, "L0 files");
  f->Int("level0_slowdown_writes_trigger", &c->level0_slowdown_writes_trigger, 1, kMaxInt, "L0 files");
  f->Int("level0_stop_writes_trigger", &c->level0_stop_writes_trigger, 1, kMaxInt, "L0 files");
  f->Int("target_file_size_base", &c->target_file_size_base, 1 << 16, kMax, "bytes of a table file");
  f->Int("max_bytes_for_level_base", &c->max_bytes_for_level_base, 1 << 16, kMax, "bytes of L1");
  f->Bool("level_compaction_dynamic_level_bytes", &c->level_compaction_dynamic_level_bytes,
          "sizes from the last level");
  f->Bool("disable_auto_compactions", &c->disable_auto_compactions, "no compaction but the manual one");
  f->Bool("enable_pipelined_write", &c->enable_pipelined_write, "log and memtable as two stages");
  f->Bool("mmap_read", &c->mmap_read, "map tables for reading");
  f->Bool("mmap_write", &c->mmap_write, "map files for writing");
  f->Int("bytes_per_sync", &c->bytes_per_sync, 0, kMax, "background range sync of tables; 0: off");
}

// Knows more spellings of compression types: RocksDB's, YCSB-cpp's, and those of a switch.
std::string PlainCompressionName(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name == "true") return "snappy";
  for (const char* none : {"", "no", "nocompression", "disable", "false"}) {
    if (name == none) return "none";
  }
  return name;
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// A number of bytes with k, m, g or t behind it, or none. False if it is no such thing.
bool ParseBytes(const std::string& text, uint64_t* bytes) {
  const size_t digits = text.find_first_not_of("0123456789");
  const std::string number = text.substr(0, digits);
  if (number.empty() || number.size() > 15) return false;
  *bytes = std::stoull(number);
  if (digits == std::string::npos) return true;
  const size_t unit =
      std::string("kmgt").find(static_cast<char>(std::tolower(static_cast<unsigned char>(text[digits]))));
  if (unit == std::string::npos || digits + 1 != text.size() || *bytes > (uint64_t{1} << 63) >> (10 * (unit + 1))) {
    return false;
  }
  *bytes <<= 10 * (unit + 1);
  return true;
}

// Takes nvm_regions and nvm_region_search apart. Returns what is wrong with them, or nothing.
std::string ParseRegions(EngineConfig* config) {
  if (!config->nvm_region_search.empty()) config->options.nvm_region_search = Split(config->nvm_region_search, ',');
  if (config->nvm_regions.empty()) return "";
  for (const std::string& text : Split(config->nvm_regions, ',')) {
    const std::vector<std::string> parts = Split(text, ':');
    NvmRegion region;
    region.path = parts[0];
    uint64_t node = 0;
    const bool good = !region.path.empty() && parts.size() <= 3 &&
                      (parts.size() < 2 || parts[1].empty() || ParseBytes(parts[1], &region.limit)) &&
                      (parts.size() < 3 || parts[2] == "-1" || (ParseBytes(parts[2], &node) && node <= 1023));
    if (!good) return "Invalid flag '--nvm_regions': \"" + text + "\" is not PATH[:SIZE[:NODE]]";
    if (parts.size() == 3 && parts[2] != "-1") region.node = static_cast<int>(node);
    config->options.nvm_regions.push_back(region);
  }
  return "";
}

}  // namespace

std::string EngineConfig::Compression() const {
  if (compression_type != "none") return compression_type;
  return compression ? "snappy" : "none";
}

bool EngineConfig::operator==(const EngineConfig& other) const {
  const auto settings = [](EngineConfig config) {
    FlagSet flags;
    RegisterEngineFlags(&flags, &config);  // whose defaults are the values
    return std::tuple(config.engine, config.db, config.pinned_get, config.comparisons, config.readonly,
                      config.create_if_missing, config.table_flags, flags.Help());
  };
  return settings(*this) == settings(other);
}

void RegisterEngineFlags(FlagSet* flags, EngineConfig* config) {
  RegisterCommon(flags, config);
  RegisterFiles(flags, config);
  RegisterMioDb(flags, config);
  RegisterPeers(flags, config);
}

std::string OneOf(const std::string& name, const std::string& value, std::initializer_list<const char*> allowed) {
  std::string list;
  for (const char* word : allowed) {
    if (value == word) return "";
    list += (list.empty() ? "" : ", ") + std::string(word);
  }
  return "Invalid flag '--" + name + "=" + value + "': one of " + list;
}

std::string FinishEngineConfig(const FlagSet& flags, EngineConfig* config) {
  config->table_flags = flags.SetInSection(kTableFileSection);
  config->compression_type = PlainCompressionName(config->compression_type);
  const std::string problem =
      OneOf("compression_type", config->compression_type, {"none", "snappy", "zlib", "bzip2", "lz4", "lz4hc", "zstd"});
  if (!problem.empty()) return problem;
  if (config->disable_wal) config->options.log_mode = kLogOff;
  return ParseRegions(config);
}

std::vector<IdleFlag> IdleEngineFlags(const FlagSet& flags, const EngineConfig& config) {
  constexpr const char* kSsd = "ssd_path";
  constexpr const char* kLogInFiles = "log_mode=file";
  std::vector<IdleFlag> idle;
  const auto add = [&](const std::string& name, const char* needs) {
    if (flags.IsSet(name)) idle.push_back({name, needs});
  };
  const auto add_section = [&](const char* title, const char* needs) {
    for (const std::string& name : flags.SetInSection(title)) idle.push_back({name, needs});
  };
  for (const auto& [engine, title] : kEngineSections) {
    if (config.engine != engine) add_section(title, "");
  }
  if (config.engine == "miodb") {
    if (config.options.ssd_path.empty()) {                 // no table files
      if (config.perf_level < 2) add("cache_size", kSsd);  // else a modelled cache
      for (const char* name : {"open_files", "block_size", "zstd_compression_level", "nvm_budget", "ssd_levels",
                               "ssd_level_size", "ssd_level_multiplier", "ssd_file_size", "max_background_ssd_jobs",
                               "ssd_rate_limit", "multi_get_io_uring", "multi_get_threads"}) {
        add(name, kSsd);
      }
      add_section(kTableFileSection, kSsd);
      if (config.Compression() != "none") idle.push_back({"compression_type", kSsd});
    }
    for (const char* name : {"keys_per_datatable", "keys_per_pmtable"}) add(name, "");
    if (config.options.log_mode != kLogFile) {
      add_section(kLogFileSection, kLogInFiles);
      for (const char* name : {"wal_block_size", "wal_padding"}) add(name, kLogInFiles);
    }
  }
  if (config.engine == "leveldb") {
    for (const char* section : {kLogFileSection, kTableFileSection}) add_section(section, "");
    for (const char* name : {"num_levels", "pinned_get", "zstd_compression_level", "perf_level"}) add(name, "");
  }
  return idle;
}

std::string FileModeNote(const EngineConfig& config, const std::string& persist_mode) {
  const bool is_file = persist_mode == "file" || persist_mode.starts_with("file,");
  const Options& options = config.options;
  const bool asked = options.persist_mode != kPersistAuto || !options.pool_path.empty() || !options.ssd_path.empty();
  if (!is_file || asked) return "";
  return "note: " + config.db + " is on a disk, and so the pool is a file there, with msync (persist mode file; " +
         "persist_mode=file says that this is meant). Where the prototype's SSD branch is told a path on an SSD, "
         "give " +
         "pool_path on memory and ssd_path on the SSD: docs/experiments.md, \"The prototype's SSD branch\"\n";
}

std::string DefaultDatabasePath(const std::string& name, const std::string& engine) {
  const char* tmp = std::getenv("TEST_TMPDIR");
  const std::string parent = tmp != nullptr && *tmp != '\0' ? tmp : "/tmp/miodbtest-" + std::to_string(getuid());
  return parent + "/" + name + (engine == "miodb" ? "" : "-" + engine);
}

}  // namespace miodb::bench
