// Runs the list of benchmarks of one command line against one engine and prints what they measured.

#ifndef MIODB_BENCHMARKS_DB_BENCH_DRIVER_H_
#define MIODB_BENCHMARKS_DB_BENCH_DRIVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/common/engine.h"
#include "benchmarks/db_bench/benchmarks.h"
#include "benchmarks/db_bench/measure/interval_report.h"
#include "benchmarks/db_bench/measure/latency_report.h"
#include "benchmarks/db_bench/repeats.h"

namespace miodb::bench {

struct Config;
class Stats;

// The names of a comma list; empty elements are skipped.
std::vector<std::string> SplitList(std::string_view list);

class Driver {
 public:
  // REQUIRES: both outlive the driver; the engine is closed.
  Driver(const Config& config, Engine* engine) : config_(config), engine_(engine) {}

  // Returns the exit status of the process: 0, 1 after an error, 128 + the signal after an interruption.
  int Run();

 private:
  // Each returns false after an error, which it has put into error_.
  bool StartReports();
  bool RunTask(const Task& task);
  bool RunOne(const Benchmark& benchmark);
  bool RunWorkload(const Benchmark& benchmark);
  bool RunAction(const Benchmark& benchmark);
  bool RunTimed(const Benchmark& benchmark, const std::function<Outcome()>& call);
  bool RunOpen(const Benchmark& benchmark);
  bool RunRecover(const Benchmark& benchmark);
  bool WaitForIdle(Action action);
  bool RunReplay(const Benchmark& benchmark);
  bool LoadExistingKeys();
  std::string ProblemOf(const Task& task) const;
  bool StartTrace();
  void EndTrace();
  bool EnsureOpen();
  bool Fresh();
  bool Succeed(const Outcome& outcome, const std::string& what);

  void PrintText(Engine::Text which);
  void PrintResult(const Benchmark& benchmark, const Stats& stats);
  void PrintReads();
  void BeginLatencies(const Benchmark& benchmark);
  // Keeps what went wrong as the error, if there is none yet.
  void EndLatencies();
  // Closes the store. Prints the closing lines unless nothing was done with it since it was opened.
  void Close(bool is_last);

  const Config& config_;
  Engine* const engine_;
  bool is_open_ = false;
  bool was_file_mode_noted_ = false;             // If there was something to note.
  bool is_used_ = false;                         // A benchmark ran since the store was opened.
  bool was_prepared_ = false;                    // An old store was removed, if it had to be.
  uint64_t started_ = 0;                         // Benchmarks, each run of a repeated one counted.
  uint64_t comparisons_ = 0;                     // Reported so far.
  Engine::ReadCounts reads_;                     // When the benchmark began.
  bool traces_ = false;                          // Calls are to be traced; a list with replay only reads the trace.
  bool is_traced_ = false;                       // A trace of the open store runs.
  int trace_count_ = 0;                          // Traces begun.
  Totals totals_;                                // Of the last workload.
  std::unique_ptr<ExistingKeys> existing_keys_;  // With --use_existing_keys, once they were read.
  int64_t user_bytes_ = 0;                       // Put since the store was opened.
  uint64_t io_bytes_ = 0;                        // What the process had written when the store was opened.
  std::unique_ptr<IntervalReport> interval_report_;
  std::unique_ptr<LatencyReport> latency_report_;
  std::string error_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_DRIVER_H_
