// The table of benchmarks: what each name stands for.

#ifndef MIODB_BENCHMARKS_DB_BENCH_BENCHMARKS_H_
#define MIODB_BENCHMARKS_DB_BENCH_BENCHMARKS_H_

#include <string>
#include <string_view>

#include "benchmarks/db_bench/workloads/workload.h"

namespace miodb::bench {

struct Config;
class Stats;

// The driver's action for a name. Everything but kWorkload and kMicro happens once, on the driver's own thread.
enum class Action {
  kWorkload,
  kMicro,  // A workload that needs no store.
  kOpen,
  kRecover,
  kKill,
  kCompact,
  kFlush,
  kWait,
  kWaitForCompaction,
  kPause,
  kStats,
  kLevelStats,
  kSstables,
  kMemoryStats,
  kReplay,
  kNotAvailable,
};

struct Benchmark {
  const char* name;
  Action action;
  bool is_fresh = false;                // The store is destroyed and reopened first.
  Work work = nullptr;                  // Of kWorkload and kMicro; the rest too.
  void (*adjust)(Workload*) = nullptr;  // Changes the command line's figures.
  std::string (*message)(const Config&, const Stats&) = nullptr;
  bool has_background_thread = false;  // See RunThreads.

  // Whether it writes to the store.
  bool Writes(const Config& config) const;
};

// nullptr if there is no benchmark of this name.
const Benchmark* FindBenchmark(std::string_view name);

// All names, blank separated, in lines for --help.
std::string BenchmarkNames();

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_BENCHMARKS_H_
