// db_bench: measures MioDB and, in the same way, the LevelDB and RocksDB libraries of the system. See docs/db_bench.md.

#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "benchmarks/common/clock/ticks.h"
#include "benchmarks/common/engine.h"
#include "benchmarks/common/flags.h"
#include "benchmarks/common/interrupt.h"
#include "benchmarks/common/output.h"
#include "benchmarks/db_bench/benchmarks.h"
#include "benchmarks/db_bench/config/config.h"
#include "benchmarks/db_bench/driver.h"
#include "src/util/files/descriptors.h"

namespace {

using miodb::bench::Config;
using miodb::bench::FlagSet;

int PrintHelp(const FlagSet& flags) {
  std::printf("db_bench: measures key-value stores. docs/db_bench.md explains flags and output.\n");
  std::printf("Engines: %s\n\nBenchmarks:\n", miodb::bench::EngineVersions().c_str());
  std::printf("%s\nFlags, with one or two dashes; the last of a name wins:\n", miodb::bench::BenchmarkNames().c_str());
  std::printf("%s", flags.Help().c_str());
  return 0;
}

int Run(const Config& config) {
  std::string error = config.engine_output.empty() ? "" : miodb::bench::KeepOutputApart(config.engine_output);
  if (!error.empty()) {
    std::fprintf(stderr, "--engine_output: %s\n", error.c_str());
    return 1;
  }
  const std::unique_ptr<miodb::bench::Engine> engine = miodb::bench::NewEngine(config, &error);
  if (engine == nullptr) {
    std::fprintf(miodb::bench::Messages(), "%s\n", error.c_str());
    return 1;
  }
  if (config.create_if_missing) {
    // Engines make the last component of the path themselves.
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(config.db).parent_path(), ignored);
  }
  miodb::bench::Ticks::Calibrate();
  miodb::bench::Interrupt::Install();
  return miodb::bench::Driver(config, engine.get()).Run();
}

}  // namespace

int main(int argc, char** argv) {
  if (!miodb::FillStandardDescriptors()) return 1;
  Config config;
  FlagSet flags;
  miodb::bench::RegisterFlags(&flags, &config);
  const FlagSet::Result parsed = flags.Parse(argc, argv);
  if (parsed.outcome == FlagSet::Outcome::kHelp) return PrintHelp(flags);
  if (parsed.outcome == FlagSet::Outcome::kVersion) {
    std::printf("db_bench: %s\n", miodb::bench::EngineVersions().c_str());
    return 0;
  }
  for (const std::string& warning : parsed.warnings) std::fprintf(stderr, "%s\n", warning.c_str());
  std::string error = parsed.error;
  if (error.empty()) error = miodb::bench::FinishConfig(flags, &config);
  if (!error.empty()) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return 1;
  }
  std::fputs(miodb::bench::FlagNotes(flags, config).c_str(), stderr);
  return Run(config);
}
