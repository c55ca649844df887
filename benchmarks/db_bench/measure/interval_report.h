// The CSV file of --report_file: how many operations ended in each interval. The clock runs over the whole list of
// benchmarks, and rows are written while nothing runs too, so that the rows add up to the time that passed.
//
//   secs_elapsed,interval_qps
//   1,812345
//
// Threads: one starts and stops it; counter() may be added to by any; a thread of its own writes.

#ifndef MIODB_BENCHMARKS_DB_BENCH_MEASURE_INTERVAL_REPORT_H_
#define MIODB_BENCHMARKS_DB_BENCH_MEASURE_INTERVAL_REPORT_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace miodb::bench {

class IntervalReport {
 public:
  // Replaces the file. nullptr with *error set if it cannot be written. REQUIRES: interval_seconds > 0.
  static std::unique_ptr<IntervalReport> Start(const std::string& path, int64_t interval_seconds, std::string* error);

  // Writes what ended since the last row as one more, if there is any: it stands for less time than its interval.
  ~IntervalReport();

  // Operations that ended so far. Relaxed: a row may miss what ended at its very end.
  std::atomic<int64_t>* counter() { return &done_; }

 private:
  IntervalReport(std::FILE* file, int64_t interval_seconds);

  void Run();
  void WriteRow(int64_t seconds);

  std::FILE* const file_;
  const int64_t interval_seconds_;
  std::atomic<int64_t> done_{0};
  int64_t reported_ = 0;
  std::mutex mutex_;
  std::condition_variable stop_signal_;
  bool is_stopped_ = false;
  std::thread writer_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_MEASURE_INTERVAL_REPORT_H_
