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

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

constexpr const char* kEverySection = "Every engine";

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
  f->Section(kEverySection);
  RegisterOptions(f, OptionHeading::kEveryEngine, &c->options);
  f->Text("library", &c->library, "file of the peer's shared library; empty: peers/ beside the program, the system's");
  f->Text("preset", &c->peer.preset, "settings that the peer's project names: " + PeerPresetNames());
  f->Bool("sync", &c->sync, "sync each write");
  f->Bool("disable_wal", &c->disable_wal, "no log (miodb: log_mode off; leveldb cannot)");
  f->Bool("verify_checksum", &c->verify_checksum, "verify checksums on reads; off for all engines, unlike RocksDB's");
  f->Text("merge_operator", &c->merge_operator, "put, uint64add, max, stringappend or empty (leveldb: empty)");
  f->Int("num_column_families", &c->num_column_families, 1, 10000, "families that keys are spread over (leveldb: 1)");
  f->Int("cache_size", &c->cache_size, -1, kNoBound, "block cache bytes; negative: 8 MiB");
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
  f->Int("perf_sampling", &c->perf_sampling, 0, kNoBound,
         "take the times of the stages of every Nth put and get; stats shows them; 0: of none");
  for (const char* name : {"keys_per_datatable", "keys_per_pmtable"}) {  // two names of one flag of the prototype
    f->Int(name, &c->keys_per_datatable, -1, kNoBound, "no effect: filters are sized by their tables");
  }
}

void RegisterPeers(FlagSet* f, EngineConfig* c) {
  f->Section(kLevelDbSection);
  RegisterOptions(f, OptionHeading::kLevelDb, &c->options);

  f->Section(kRocksDbSection);
  RegisterRocksDbFlags(f, &c->peer);
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

// A run that was to compress its log would have figures of another one. Returns what is wrong, or nothing.
std::string RefuseLogCompression(const EngineConfig& config) {
  const auto flag = config.peer.values.find("wal_compression");
  if (config.engine != "miodb" || flag == config.peer.values.end()) return "";
  const std::string name = PlainCompressionName(flag->second);
  if (name == "none" || name == "knocompression") return "";
  return "Invalid flag '--wal_compression=" + flag->second +
         "': miodb does not compress its log (docs/decisions/0060-the-log-is-not-compressed.md)";
}

// Puts the values of a preset into the fields that it is about. Returns what is wrong with its name, or nothing.
std::string UsePreset(EngineConfig* config) {
  const std::string& name = config->peer.preset;
  if (name.empty()) return "";
  const PeerPreset* const preset = FindPeerPreset(config->engine, name);
  if (preset == nullptr) {
    return "Invalid flag '--preset=" + name + "': not of " + config->engine + "; there are " + PeerPresetNames();
  }
  constexpr std::string_view kFileSize = "max_file_size=";
  if (std::string_view(preset->options).starts_with(kFileSize)) {
    config->options.max_file_size = std::strtoull(preset->options + kFileSize.size(), nullptr, 10);
    config->peer.given.emplace_back("max_file_size");
  }
  return "";
}

}  // namespace

std::string EngineConfig::Compression() const {
  if (compression_type != "none") return compression_type;
  return compression ? "snappy" : "none";
}

bool EngineConfig::GivenOption(const std::string& option) const {
  for (const auto& [name, flag] : kFlagNames) {
    if (option == name) return Given(flag);
  }
  return Given(option);
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
  for (const char* section : {kEverySection, kLogFileSection, kTableFileSection, kLevelDbSection, kRocksDbSection}) {
    for (const std::string& name : flags.SetInSection(section)) config->peer.given.push_back(name);
  }
  config->table_flags = flags.SetInSection(kTableFileSection);
  if (const std::string problem = UsePreset(config); !problem.empty()) return problem;
  config->compression_type = PlainCompressionName(config->compression_type);
  const std::string problem =
      OneOf("compression_type", config->compression_type, {"none", "snappy", "zlib", "bzip2", "lz4", "lz4hc", "zstd"});
  if (!problem.empty()) return problem;
  if (const std::string refused = RefuseLogCompression(*config); !refused.empty()) return refused;
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
    for (const char* name : {"keys_per_datatable", "keys_per_pmtable", "library", "questions"}) add(name, "");
    if (config.options.log_mode != kLogFile) add_options(OptionNeeds::kLogInFiles, kLogInFiles);
  }
  if (config.engine == "lmdb") add("cache_size", "");
  if (config.engine == "lmdb" || config.engine == "wiredtiger") {
    for (const char* section : {kLogFileSection, kTableFileSection}) add_section(section, "");
    for (const char* name : {"write_buffer_size", "bloom_bits", "open_files", "block_size", "num_levels",
                             "block_restart_interval", "disable_wal", "verify_checksum", "merge_operator", "pinned_get",
                             "perf_level", "comparisons", "zstd_compression_level"}) {
      add(name, "");
    }
  }
  if (config.engine == "leveldb") {
    for (const char* section : {kLogFileSection, kTableFileSection}) add_section(section, "");
    for (const char* name : {"num_levels", "pinned_get", "zstd_compression_level", "perf_level", "merge_operator"}) {
      add(name, "");
    }
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
