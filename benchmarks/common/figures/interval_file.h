// The CSV file of latencies over time that db_bench and ycsbc write, one row for each interval and kind of operation.
//
//   phase,seconds,ops_per_sec,operation,count,avg_us,p50_us,p90_us,p99_us,p99.9_us,p99.99_us,max_us
//
// Units: seconds since the phase began, at the end of the interval; microseconds. ops_per_sec is of all kinds together.
//
// Threads: one at a time for a file.

#ifndef MIODB_BENCHMARKS_COMMON_FIGURES_INTERVAL_FILE_H_
#define MIODB_BENCHMARKS_COMMON_FIGURES_INTERVAL_FILE_H_

#include <set>
#include <string>

#include "benchmarks/common/figures/histogram.h"

namespace miodb::bench {

// Makes the files anew, with their headers. Returns what is wrong with the first one that cannot be written, after the
// name of the option, or nothing. All files are opened before the first one is changed; an error removes files
// that were made.
std::string StartIntervalFiles(const std::string& option, const std::set<std::string>& paths);

// A row, with its newline.
std::string IntervalRow(const std::string& phase, double seconds, double ops_per_second, const std::string& operation,
                        const FineLatencyHistogram& latencies);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_FIGURES_INTERVAL_FILE_H_
