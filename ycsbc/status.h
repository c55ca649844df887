// The lines about a phase that is still running, and the CSV file with one row for each interval and kind of operation.
//
// Threads: one. Lines of the Java style tell about the last interval, those of YCSB-cpp about all since the start.

#ifndef MIODB_YCSBC_STATUS_H_
#define MIODB_YCSBC_STATUS_H_

#include <cstdint>
#include <string>

#include "ycsbc/measurements.h"
#include "ycsbc/settings.h"
#include "ycsbc/workload.h"

namespace miodb::ycsb {

// "2 minutes", "3 hours 5 minutes": what an estimate is worth.
std::string RemainingText(double seconds);

class StatusReporter {
 public:
  // "settings" outlives the reporter.
  StatusReporter(const Settings& settings, PhaseKind kind);

  // Whether anybody wants reports.
  bool is_on() const { return settings_.status || !settings_.intervalfile.empty(); }

  // Writes the line and the rows. "nanos" since the start, "done" operations of "total", "interval": what was measured
  // since the last report.
  void Report(uint64_t nanos, uint64_t done, uint64_t total, const IntervalSummary& interval, bool is_last);

 private:
  std::string JavaLine(double seconds, uint64_t done, uint64_t total, double rate, const IntervalSummary& interval,
                       bool is_last) const;
  std::string CppLine(double seconds, uint64_t done) const;
  void WriteRows(double seconds, double rate, const IntervalSummary& interval) const;

  const Settings& settings_;
  const PhaseKind kind_;
  IntervalSummary cumulative_;
  uint64_t last_nanos_ = 0;
  uint64_t last_done_ = 0;
};

// Makes the interval file anew, with its header; the phases of a command append to it. Returns what is wrong or
// nothing.
std::string StartIntervalFile(const std::string& path);

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_STATUS_H_
