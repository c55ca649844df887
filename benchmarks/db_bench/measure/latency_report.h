// Latencies over time: a CSV file with percentiles of each interval (--intervalfile), HdrHistogram logs
// (--hdrhistogram.fileoutput), or both. Benchmarks with client threads are recorded, without their background threads.
//
// Threads: one begins and ends benchmarks; each client thread has a recorder of its own; a thread of the report writes.

#ifndef MIODB_BENCHMARKS_DB_BENCH_MEASURE_LATENCY_REPORT_H_
#define MIODB_BENCHMARKS_DB_BENCH_MEASURE_LATENCY_REPORT_H_

#include <array>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/common/figures/hdr_log.h"
#include "benchmarks/common/figures/histogram.h"
#include "benchmarks/db_bench/measure/stats.h"

namespace miodb::bench {

struct Config;

// Latencies by kind of operation; nullptr where there was none.
using LatenciesByType = std::array<std::unique_ptr<FineLatencyHistogram>, kOpTypes>;

// The measurements of a thread since the last Take.
class LatencyRecorder {
 public:
  void Record(OpType type, uint64_t nanos);

  // Adds it to *total. Any thread.
  void Take(LatenciesByType* total);

 private:
  std::mutex mutex_;           // Uncontended but for one call an interval.
  LatenciesByType latencies_;  // Guarded by mutex_.
};

class LatencyReport {
 public:
  // nullptr if the config asks for none, or with *error set if the files cannot be made.
  static std::unique_ptr<LatencyReport> Start(const Config& config, std::string* error);
  ~LatencyReport();

  // From now on recorders belong to this benchmark, until End. A name that comes again gets a number: "readrandom#2".
  void Begin(const std::string& benchmark);
  LatencyRecorder* NewRecorder();

  // REQUIRES: the threads of the benchmark are done. Writes what is left, and returns what went wrong, or nothing.
  std::string End();

 private:
  explicit LatencyReport(const Config& config);

  void Run();
  enum class Interval { kWhole, kLast };
  void WriteInterval(Interval interval);
  std::string WriteRow(OpType type, double seconds, double rate, uint64_t now, const FineLatencyHistogram& latencies);

  const Config& config_;
  std::unique_ptr<HdrLogs> hdr_logs_;  // nullptr: none
  std::map<std::string, int> runs_;    // of each name
  std::string phase_;
  uint64_t begin_nanos_ = 0;              // of the benchmark
  uint64_t taken_nanos_ = 0;              // when the last interval ended
  std::array<bool, kOpTypes> seen_ = {};  // kinds of operations of the benchmark
  std::string error_;                     // the first

  std::mutex mutex_;  // of all of it while writer_ runs
  std::condition_variable stop_signal_;
  bool is_stopped_ = false;
  std::vector<std::unique_ptr<LatencyRecorder>> recorders_;
  std::thread writer_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_MEASURE_LATENCY_REPORT_H_
