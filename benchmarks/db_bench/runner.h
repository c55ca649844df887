// Runs one workload on its threads and measures it.

#ifndef MIODB_BENCHMARKS_DB_BENCH_RUNNER_H_
#define MIODB_BENCHMARKS_DB_BENCH_RUNNER_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "benchmarks/common/engine.h"
#include "benchmarks/db_bench/measure/stats.h"
#include "benchmarks/db_bench/workloads/workload.h"

namespace miodb::bench {

struct Config;
class LatencyReport;

struct RunResult {
  Stats stats;        // Merged over the threads that count.
  std::string error;  // Of the first operation that failed, or empty.
};

struct Job {
  Work work;
  bool has_background_thread;
  uint64_t stream;                // Of random numbers.
  std::atomic<int64_t>* counter;  // Of operations as they end; nullptr if nobody looks.
  LatencyReport* latencies;       // Of this benchmark, which has begun; nullptr if nobody wants them over time.
};

// Starts Workload::threads threads that do the work at the same moment, plus, if "has_background_thread", one more in
// front as thread 0, whose figures do not count but for those of Counts that say background. Returns when all are done.
// The random numbers depend only on Config::seed, the stream and the thread's index. "engine" is nullptr for work that
// needs no store, else open.
RunResult RunThreads(const Config& config, Engine* engine, const Workload& workload, const Job& job);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_RUNNER_H_
