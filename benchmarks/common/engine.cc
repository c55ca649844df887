#include "benchmarks/common/engine.h"

#include <cinttypes>
#include <cstdio>
#include <sstream>
#include <utility>
#include <vector>

#include "benchmarks/common/engine_config.h"

namespace miodb::bench {

namespace {

using Factory = std::unique_ptr<Engine> (*)(const EngineConfig& config, std::string* error);

constexpr std::pair<const char*, Factory> kEngines[] = {
    {"miodb", NewMioDbEngine}, {"leveldb", NewLevelDbEngine},       {"rocksdb", NewRocksDbEngine},
    {"lmdb", NewLmdbEngine},   {"wiredtiger", NewWiredTigerEngine},
};

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
  for (const auto& [name, factory] : kEngines) {
    if (config.engine == name) return factory(config, error);
  }
  *error = "there is no engine '" + config.engine + "'";
  return nullptr;
}

std::string EngineVersions() {
  const EngineConfig plain;
  std::string text;
  std::string ignored;
  for (const auto& [name, factory] : kEngines) {
    const std::unique_ptr<Engine> engine = factory(plain, &ignored);
    if (engine != nullptr) text += (text.empty() ? "" : ", ") + std::string(name) + " " + engine->Version();
  }
  return text;
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
