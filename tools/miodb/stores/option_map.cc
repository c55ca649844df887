#include "tools/miodb/stores/option_map.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <vector>

#include "miodb/option_table.h"
#include "tools/miodb/terminal/files.h"

namespace miodb::tool {

namespace {

struct MappedOption {
  const char* theirs;
  const char* ours;  // empty: there is none
  const char* why;
  bool of_leveldb;  // LevelDB has it, too
};

constexpr bool kBoth = true;
constexpr bool kRocksDb = false;

// Options that no row of the library's table names: of objects, a second one for a row, and those without a
// counterpart.
constexpr MappedOption kOthers[] = {
    {"comparator", "comparator", "the bytewise one alone has the fast paths and the filters", kBoth},
    {"merge_operator", "merge_operator", "merge_operator.h has the operators that are there already", kRocksDb},
    {"block_cache", "block_cache", "of table files on SSD; record_cache_size is for a pool in slow memory", kBoth},
    {"max_file_size", "ssd_file_size", "bytes of a table file on SSD; LevelDB's name is accepted and ignored", kBoth},
    {"write_buffer_manager", "shared_resources", "its memory_budget, for all databases opened with it", kRocksDb},
    {"listeners", "listeners", "one thread tells them, after the fact (listener.h)", kRocksDb},
    {"reuse_logs", "", "the log in the pool is never rewritten", kBoth},
    {"compaction_pri", "", "pickers go by runs of a level, by garbage and by bytes to rewrite", kRocksDb},
    {"prefix_extractor", "", "filters are of whole keys", kRocksDb},
    {"bottommost_compression", "", "all levels on SSD have the same", kRocksDb},
    {"enable_pipelined_write", "", "writers that meet write beside one another by themselves", kRocksDb},
    {"allow_mmap_reads", "", "the pool is mapped anyway", kRocksDb},
    {"bytes_per_sync", "", "table files are synced when they are whole", kRocksDb},
    {"level_compaction_dynamic_level_bytes", "", "what ssd_level_size 0 does", kRocksDb},
    {"level0_slowdown_writes_trigger", "", "writers slow down by runs, sealed memtables and free space", kRocksDb},
    {"level0_stop_writes_trigger", "", "as above", kRocksDb},
    {"soft_pending_compaction_bytes_limit", "", "as above", kRocksDb},
    {"hard_pending_compaction_bytes_limit", "", "as above", kRocksDb},
};

// The rows of the options' table that name an option there, and the others.
std::vector<MappedOption> OptionMap() {
  std::vector<MappedOption> map;
  for (const OptionInfo& option : AllOptions()) {
    if (*option.rocksdb_name == '\0') continue;
    map.push_back({option.rocksdb_name, option.name, option.rocksdb_note, option.in_leveldb});
  }
  map.insert(map.end(), std::begin(kOthers), std::end(kOthers));
  return map;
}

std::string InCode(const std::string& text) { return "`" + text + "`"; }

// A cell with what stands for a value. Words are in code; ranges and forms are not.
std::string AllowedCell(const OptionInfo& option) {
  if (option.kind == OptionKind::kNumber || option.allowed == "any text") return option.allowed;
  return InCode(option.allowed);
}

const char* NeedsCell(const OptionInfo& option) {
  switch (option.needs) {
    case OptionNeeds::kSsdTier:
      return "`ssd_path`";
    case OptionNeeds::kLogInFiles:
      return "`log_mode` `file`";
    case OptionNeeds::kNothing:
      break;
  }
  return "";
}

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
Status ReadOptionsFile(const std::string& directory, std::map<std::string, std::string>* options) {
  std::map<std::string, std::string>& values = *options;
  const std::string path = OptionsFile(directory);
  if (path.empty()) return Status::OK();
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
  return in.status();
}

// A text of the file OPTIONS, in which some characters stand behind a backslash.
std::string Unescaped(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); i++) {
    const bool is_escape = text[i] == '\\' && i + 1 < text.size();
    const char c = text[is_escape ? ++i : i];
    plain += is_escape && c == 'n' ? '\n' : is_escape && c == 'r' ? '\r' : c;
  }
  return plain;
}

}  // namespace

std::string DescribeOptions(const std::string& directory) {
  std::map<std::string, std::string> values;
  ReadOptionsFile(directory, &values).IgnoreError();  // told by WalDirectoryOf; here nothing hangs on it
  if (values.empty()) return "";
  std::string with, without;
  for (const MappedOption& option : OptionMap()) {
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

// Older versions of RocksDB name the directory itself, also after the directory was moved: a log that lies in it is all
// of the log.
Status WalDirectoryOf(const std::string& directory, std::string* wal_directory) {
  std::map<std::string, std::string> values;
  Status s = ReadOptionsFile(directory, &values);
  const auto found = values.find("wal_dir");
  wal_directory->clear();
  if (!s.ok() || found == values.end() || found->second.empty()) return s;
  *wal_directory = Unescaped(found->second);
  if (IsDirectory(*wal_directory)) return s;
  const std::vector<std::string> names = NamesIn(directory);
  const auto is_log = [](const std::string& name) { return name.ends_with(".log"); };
  if (std::none_of(names.begin(), names.end(), is_log)) {
    s = Status::NotFound(*wal_directory, "is no directory, and should have the log of " + directory +
                                             " (wal_dir); --wal names the one that has");
  }
  wal_directory->clear();
  return s;
}

std::string OptionMapText() {
  std::string text = "| there | LevelDB's, too | here | why |\n|---|---|---|---|\n";
  for (const MappedOption& option : OptionMap()) {
    text += std::string("| `") + option.theirs + "` | " + (option.of_leveldb ? "yes" : "") + " | " +
            (*option.ours == '\0' ? "none" : "`" + std::string(option.ours) + "`") + " | " + option.why + " |\n";
  }
  return text;
}

std::string OptionTableText() {
  std::string text =
      "| option | default | allowed | unit | needs | other opens | meaning |\n|---|---|---|---|---|---|---|\n";
  for (const OptionInfo& option : AllOptions()) {
    text += "| " + InCode(option.name) + " | " + (option.default_text.empty() ? "" : InCode(option.default_text)) +
            " | " + AllowedCell(option) + " | " + option.unit + " | " + NeedsCell(option) + " | " +
            (option.change == OptionChange::kOnlyByMove ? "the same" : "") + " | " + option.help + " |\n";
  }
  return text;
}

}  // namespace miodb::tool
