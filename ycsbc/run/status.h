// The lines about a phase that is still running, the CSV file with one row for each interval and kind of operation, and
// HdrHistogram logs of the same.
//
// Threads: one. Lines of the Java style tell about the last interval, those of YCSB-cpp about all since the start.

#ifndef MIODB_YCSBC_RUN_STATUS_H_
#define MIODB_YCSBC_RUN_STATUS_H_

#include <array>
#include <cstdint>
#include <string>

#include "benchmarks/common/figures/hdr_log.h"
#include "ycsbc/workload/measurements.h"
#include "ycsbc/workload/settings.h"
#include "ycsbc/workload/workload.h"

namespace miodb::ycsb {

// "2 minutes", "3 hours 5 minutes": what an estimate is worth.
std::string RemainingText(double seconds);

class StatusReporter {
 public:
  // "settings" and "hdr_logs" outlive the reporter; with nullptr no logs are written.
  StatusReporter(const Settings& settings, PhaseKind kind, bench::HdrLogs* hdr_logs = nullptr);

  // Whether anybody wants reports.
  bool is_on() const { return settings_.status || !settings_.intervalfile.empty() || hdr_logs_ != nullptr; }

  // Writes the line and the rows. "nanos" since the start, "done" operations of "total", "interval": what was measured
  // since the last report.
  void Report(uint64_t nanos, uint64_t done, uint64_t total, const IntervalSummary& interval, bool is_last);

  // The first error of writing a file, or nothing.
  const std::string& error() const { return error_; }

 private:
  std::string JavaLine(double seconds, uint64_t done, uint64_t total, double rate, const IntervalSummary& interval,
                       bool is_last) const;
  std::string CppLine(double seconds, uint64_t done) const;
  void WriteRows(uint64_t nanos, double rate, const IntervalSummary& interval, bool is_last);
  std::string WriteRow(const std::string& operation, uint64_t nanos, double rate,
                       const bench::FineLatencyHistogram& latencies);

  const Settings& settings_;
  const PhaseKind kind_;
  bench::HdrLogs* const hdr_logs_;
  const uint64_t start_nanos_;
  std::string error_;
  IntervalSummary cumulative_;
  uint64_t last_nanos_ = 0;
  uint64_t last_done_ = 0;
  // Kinds of operations that had a row, by whether they went well.
  std::array<std::array<bool, 2>, kOps> seen_ = {};
};

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_RUN_STATUS_H_
