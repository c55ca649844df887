#include "benchmarks/common/engine.h"

#include <cinttypes>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/common/engine_config.h"

namespace miodb::bench {

namespace {

struct Known {
  const char* name;
  std::unique_ptr<Engine> (*make)(const EngineConfig& config, std::string* error);
  bool has_families;
  bool runs_without_log;
  const char* compressions;  // nullptr: the engine judges the word by itself
};

constexpr Known kEngines[] = {
    {"miodb", NewMioDbEngine, true, true, nullptr},
    {"leveldb", NewLevelDbEngine, false, false, "none, snappy"},
    {"rocksdb", NewRocksDbEngine, true, true, nullptr},
    {"lmdb", NewLmdbEngine, false, true, "none"},
    {"wiredtiger", NewWiredTigerEngine, false, false, "none"},
};

// Names the setting of the configuration that an engine lacks; empty: none is lacking.
std::string Lack(const Known& engine, const EngineConfig& config) {
  const std::string name = engine.name, compression = config.Compression();
  if (config.num_column_families > 1 && !engine.has_families) {
    return name + " has no column families (--num_column_families)";
  }
  if (config.disable_wal && !engine.runs_without_log) return name + " cannot run without its log (--disable_wal)";
  if (engine.compressions != nullptr && std::string(engine.compressions).find(compression) == std::string::npos) {
    return name + " has no compression type '" + compression + "'; it has " + engine.compressions;
  }
  return "";
}

}  // namespace

Code Session::Merge(std::string_view, std::string_view) {
  error_ = "this store has no merges";
  return Code::kError;
}

Code Session::BatchWriteTwice(const std::function<void()>&) {
  error_ = "this store writes no batch twice";
  return Code::kError;
}

Code Session::MultiGet(std::span<const std::string_view> keys, const FoundFunction& found) {
  std::string_view value;
  for (size_t i = 0; i < keys.size(); i++) {
    const Code code = Get(keys[i], &value);
    if (code == Code::kError) return code;
    if (code == Code::kOk) found(i, value);
  }
  return Code::kOk;
}

Outcome Engine::StartTrace(const std::string&, const TraceSettings&) {
  return Outcome::Error(Name() + " cannot trace its calls");
}

std::unique_ptr<Engine> NewEngine(const EngineConfig& config, std::string* error) {
  for (const Known& known : kEngines) {
    if (config.engine != known.name) continue;
    *error = Lack(known, config);
    return error->empty() ? known.make(config, error) : nullptr;
  }
  *error = "there is no engine '" + config.engine + "'";
  return nullptr;
}

std::string EngineVersions() {
  const EngineConfig plain;
  std::string text;
  std::string ignored;
  for (const Known& known : kEngines) {
    const std::unique_ptr<Engine> engine = known.make(plain, &ignored);
    if (engine != nullptr) text += (text.empty() ? "" : ", ") + std::string(known.name) + " " + engine->Version();
  }
  return text;
}

bool DescribeByProperties(const std::function<bool(const char* name, std::string* text)>& property, Engine::Text which,
                          int levels, std::string* text) {
  if (which == Engine::Text::kSstables) return property("leveldb.sstables", text);
  if (which == Engine::Text::kMemory) {
    if (!property("leveldb.approximate-memory-usage", text)) return false;
    *text = "memory bytes: " + *text + "\n";
    return true;
  }
  if (!property("leveldb.stats", text)) return false;
  if (which == Engine::Text::kLevelStats) *text = LevelStatsFromTable(*text, levels);
  return true;
}

std::string LevelStatsFromTable(const std::string& stats, int levels) {
  struct Level {
    int64_t files = 0;
    double megabytes = 0;
  };
  std::vector<Level> found(static_cast<size_t>(levels));
  std::istringstream lines(stats);
  bool in_table = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("-----", 0) == 0) {
      in_table = true;
      continue;
    }
    if (!in_table) continue;
    int level = 0;
    Level values;
    if (!(std::istringstream(line) >> level >> values.files >> values.megabytes)) break;
    if (level >= 0 && level < levels) found[static_cast<size_t>(level)] = values;
  }
  std::string text = "Level Files Size(MB)\n--------------------\n";
  for (int level = 0; level < levels; level++) {
    char row[80];
    const Level& values = found[static_cast<size_t>(level)];
    std::snprintf(row, sizeof(row), "%3d %8" PRId64 " %8.0f\n", level, values.files, values.megabytes);
    text += row;
  }
  return text;
}

}  // namespace miodb::bench
