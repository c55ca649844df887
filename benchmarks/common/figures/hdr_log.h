// Logs of latencies over time in the format of HdrHistogram's log writer (version 1.3), which its tools read, as Java
// YCSB writes them: a file for each kind of operation, a line for each interval with all that was measured in it.
//
//   #[Histogram log format version 1.3]
//   #[StartTime: 1700000000.000 (seconds since epoch), Tue Nov 14 22:13:20 2023]
//   #[BaseTime: 1700000000.000 (seconds since epoch)]
//   "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
//   Tag=fillrandom,0.000,1.000,0.047,HISTFAAAA...
//
// Histograms hold nanoseconds from 1 to 2^42 with three significant digits, whose buckets are those of
// FineLatencyHistogram. Seconds count from the base time; Interval_Max is in milliseconds. Histograms lie in zlib
// streams that are stored, not deflated: they are short, because runs of empty buckets are counted.
//
// Threads: one at a time.

#ifndef MIODB_BENCHMARKS_COMMON_FIGURES_HDR_LOG_H_
#define MIODB_BENCHMARKS_COMMON_FIGURES_HDR_LOG_H_

#include <cstdint>
#include <map>
#include <string>

#include "benchmarks/common/figures/histogram.h"

namespace miodb::bench {

// The last column of a line: "HISTFAAAA...".
std::string EncodeHdrHistogram(const FineLatencyHistogram& histogram);

class HdrLogs {
 public:
  // Files are <prefix><operation>.hdr; those that are there are replaced when the operation first occurs.
  explicit HdrLogs(std::string prefix);

  // Appends what was measured between two readings of Ticks::MonotonicNanos(). Returns what is wrong, or nothing.
  std::string Append(const std::string& operation, const std::string& tag, uint64_t begin_nanos, uint64_t end_nanos,
                     const FineLatencyHistogram& histogram);

 private:
  std::string Header() const;

  const std::string prefix_;
  const uint64_t base_nanos_;                 // of the monotonic clock
  const double base_seconds_;                 // since the epoch, at the same moment
  std::map<std::string, std::string> paths_;  // of the files begun, by operation
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_FIGURES_HDR_LOG_H_
