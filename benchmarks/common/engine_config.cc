#include "benchmarks/common/engine_config.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "miodb/option_table.h"

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

// Options of which the published flags have other names.
constexpr std::pair<const char*, const char*> kFlagNames[] = {{"wal_size_limit_mb", "wal_size_limit_MB"},
                                                              {"filter_bits_per_key", "bits_per_key"}};

std::string FlagName(const OptionInfo& option) {
  for (const auto& [name, flag] : kFlagNames) {
    if (option.name == std::string_view(name)) return flag;
  }
  return option.name;
}

// Returns what is wrong with the text, or nothing.
std::string Assign(Options* options, const OptionInfo& option, const std::string& text) {
  if (SetOption(options, option.name, text).ok()) return "";
  return (option.kind == OptionKind::kWord ? "one of " : "allowed: ") + option.allowed;
}

// Binds flags to the options of one heading. Their defaults are the values that the options have now.
void RegisterOptions(FlagSet* f, OptionHeading heading, Options* options) {
  for (const OptionInfo& option : AllOptions()) {
    if (option.heading != heading) continue;
    std::string initial;
    GetOption(*options, option.name, &initial).IgnoreError();  // a path that has no text form is shown as none
    const bool is_number = option.kind == OptionKind::kNumber;
    const auto assign = [=, &option](const std::string& text) {
      const bool is_default = is_number && text == "-1" && !option.may_be_negative;
      return Assign(options, option, is_default ? initial : text);
    };
    const FlagSet::Form form = option.kind == OptionKind::kSwitch ? FlagSet::Form::kSwitch
                               : is_number                        ? FlagSet::Form::kNumber
                                                                  : FlagSet::Form::kText;
    const bool has_form = form == FlagSet::Form::kText && option.allowed != "any text";
    f->Assigned(FlagName(option), form, assign, initial, option.help + (has_form ? ": " + option.allowed : ""));
  }
}

void RegisterCommon(FlagSet* f, EngineConfig* c) {
  f->Section("Every engine");
  RegisterOptions(f, OptionHeading::kEveryEngine, &c->options);
  f->Bool("sync", &c->sync, "sync each write");
  f->Bool("disable_wal", &c->disable_wal, "no log (miodb: log_mode off; leveldb cannot)");
  f->Bool("verify_checksum", &c->verify_checksum, "verify checksums on reads; off for all engines, unlike RocksDB's");
  f->Text("merge_operator", &c->merge_operator, "put, uint64add, max, stringappend or empty (leveldb: empty)");
  f->Int("num_column_families", &c->num_column_families, 1, 10000, "families that keys are spread over (leveldb: 1)");
  f->Int("cache_size", &c->cache_size, -1, kMax, "block cache bytes; negative: 8 MiB");
  f->Int("bloom_bits", &c->bloom_bits, -1, 32, "filter bits per key; 0: none; -1: peers none, miodb bits_per_key");
  f->Int("open_files", &c->open_files, -1, kMaxInt, "open files; -1: rocksdb no limit, others 1000");
  f->Int("num_levels", &c->num_levels, -1, 64, "levels of miodb and rocksdb; -1: the engine's default");
  f->Bool("compression", &c->compression, "the same as compression_type=snappy");
  f->Text("compression_type", &c->compression_type, "none, snappy, zlib, bzip2, lz4, lz4hc or zstd");
  f->Int("perf_level", &c->perf_level, 1, 6, "2 and above: count reads of the medium (rocksdb, miodb)");
}

void RegisterFiles(FlagSet* f, EngineConfig* c) {
  f->Section(kLogFileSection);
  RegisterOptions(f, OptionHeading::kLogFiles, &c->options);
  f->Section(kTableFileSection);
  RegisterOptions(f, OptionHeading::kTableFiles, &c->options);
  f->Int("readahead_size", &c->readahead_size, 0, 64 << 20, "bytes that iterators read ahead; 0: the engine's choice");
}

void RegisterMioDb(FlagSet* f, EngineConfig* c) {
  f->Section(kMioDbSection);
  RegisterOptions(f, OptionHeading::kMioDb, &c->options);
  f->Int("perf_sampling", &c->perf_sampling, 0, kMax,
         "take the times of the stages of every Nth put and get; stats shows them; 0: of none");
  for (const char* name : {"keys_per_datatable", "keys_per_pmtable"}) {  // two names of one flag of the prototype
    f->Int(name, &c->keys_per_datatable, -1, kMax, "no effect: filters are sized by their tables");
  }
}

void RegisterPeers(FlagSet* f, EngineConfig* c) {
  f->Section(kLevelDbSection);
  RegisterOptions(f, OptionHeading::kLevelDb, &c->options);

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
  return "";
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
  const auto add_options = [&](OptionNeeds which, const char* needs) {
    for (const OptionInfo& option : AllOptions()) {
      if (option.needs == which && option.heading != OptionHeading::kOther) add(FlagName(option), needs);
    }
  };
  for (const auto& [engine, title] : kEngineSections) {
    if (config.engine != engine) add_section(title, "");
  }
  if (config.engine == "miodb") {
    if (config.options.ssd_path.empty()) {                 // no table files
      if (config.perf_level < 2) add("cache_size", kSsd);  // else a modelled cache
      for (const char* name : {"open_files", "readahead_size"}) add(name, kSsd);
      add_options(OptionNeeds::kSsdTier, kSsd);
      if (config.Compression() != "none") idle.push_back({"compression_type", kSsd});
    }
    for (const char* name : {"keys_per_datatable", "keys_per_pmtable"}) add(name, "");
    if (config.options.log_mode != kLogFile) add_options(OptionNeeds::kLogInFiles, kLogInFiles);
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
