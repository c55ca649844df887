// Benchmarks that the list names with a count, "fillrandom[X5-W2]": two warm-ups, then five runs and their averages.

#ifndef MIODB_BENCHMARKS_DB_BENCH_REPEATS_H_
#define MIODB_BENCHMARKS_DB_BENCH_REPEATS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/db_bench/benchmarks.h"
#include "benchmarks/db_bench/measure/stats.h"

namespace miodb::bench {

// An element of --benchmarks.
struct Task {
  const Benchmark* benchmark = nullptr;
  int64_t runs = 1;
  int64_t warmups = 0;
};

// Reads "name", "name[X<runs>]", "name[W<warmups>]" or both, joined by "-" in any order. Returns what is wrong, or
// nothing.
std::string ParseTask(std::string_view text, Task* task);

// Figures of the runs of one benchmark. A 95 % confidence interval is 1.96 standard deviations of the mean wide on
// either side, as if the runs were normal; with one run it is 0.
class RepeatedTotals {
 public:
  void Add(const Totals& totals);

  // After each run: "name [AVG 2 runs] : 1000 (± 20) ops/sec; 10.0 (± 0.2) MB/sec", or "name [CI95 2 runs] :
  // (980, 1020) ops/sec; ...". MB/sec only if every run counted bytes.
  std::string Line(std::string_view name, bool interval_only) const;

  // After the last: the averages once more, and the medians.
  std::string FinalLines(std::string_view name, bool interval_only) const;

 private:
  std::string Average(std::string_view title) const;
  std::string Interval(std::string_view title) const;

  std::vector<double> ops_per_second_;
  std::vector<double> megabytes_per_second_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_REPEATS_H_
