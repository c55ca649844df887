// The measurements of client threads: how long each kind of operation took, and how it ended.
//
// Threads: each thread owns one Recorder; only TakeInterval may be called by another. A Summary is for one thread.
// Units: nanoseconds. "Intended" latencies count from the moment at which an operation was due, so that the time during
// which a slow operation held up those behind it is not lost (coordinated omission).

#ifndef MIODB_YCSBC_WORKLOAD_MEASUREMENTS_H_
#define MIODB_YCSBC_WORKLOAD_MEASUREMENTS_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "benchmarks/common/clock/ticks.h"
#include "benchmarks/common/figures/histogram.h"

namespace miodb::ycsb {

struct Settings;

enum class Op { kRead, kUpdate, kInsert, kScan, kReadModifyWrite, kVerify, kCleanup, kScanPerRecord };
constexpr int kOps = 8;

enum class Result { kOk, kNotFound, kError, kUnexpectedState };
constexpr int kResults = 4;

const char* OpName(Op op);              // "READ-MODIFY-WRITE"
const char* ResultName(Result result);  // "NOT_FOUND"

// A kind of operation with a result.
struct Series {
  bench::FineLatencyHistogram latency;
  std::vector<uint64_t> millis;  // Counts by whole milliseconds, the last for all above. measurementtype=histogram
  double squares = 0;            // Sum of the squares of microseconds, for the variance.
  // Count and nanoseconds of each slice of time since the start. measurementtype=timeseries
  struct Slice {
    uint64_t count = 0;
    uint64_t nanos = 0;
  };
  std::map<uint64_t, Slice> slices;
  struct Sample {
    uint64_t end_millis;  // Since the epoch.
    uint64_t nanos;
  };
  std::vector<Sample> raw;  // measurementtype=raw

  void Merge(const Series& other);
};

// The figures that a measurementtype asks for.
struct Extras {
  bool millis = false;
  bool slices = false;
  bool raw = false;
  size_t millis_buckets = 0;
  uint64_t slice_nanos = 0;

  explicit Extras(const Settings& settings);
  bool any() const { return millis || slices || raw; }
};

// Series by operation and result; nullptr where nothing was measured.
class Summary {
 public:
  const Series* Find(Op op, Result result, bool intended = false) const {
    return series_[Index(op, result, intended)].get();
  }
  Series* Get(Op op, Result result, bool intended);
  void Merge(const Summary& other);

  // Operations that ended so.
  uint64_t Count(Op op, Result result) const;

 private:
  static size_t Index(Op op, Result result, bool intended) {
    return (static_cast<size_t>(op) * kResults + static_cast<size_t>(result)) * 2 + (intended ? 1 : 0);
  }
  std::array<std::unique_ptr<Series>, kOps * kResults * 2> series_;
};

// Latencies of one interval, successes and failures apart.
struct IntervalSummary {
  struct Pair {
    bench::FineLatencyHistogram ok;
    bench::FineLatencyHistogram failed;
  };
  std::array<std::unique_ptr<Pair>, kOps> ops;

  void Merge(const IntervalSummary& other);
};

class Recorder {
 public:
  // "with_intervals": TakeInterval will be called.
  Recorder(const Settings& settings, bool with_intervals, uint64_t start_nanos);

  // The operation ran between two readings of Ticks. "late_nanos": how much later than due it began.
  void Record(Op op, Result result, uint64_t start_ticks, uint64_t end_ticks, uint64_t late_nanos) {
    const uint64_t nanos = bench::Ticks::NanosBetween(start_ticks, end_ticks);
    if (measures_op_) Add(summary_.Get(op, result, false), nanos);
    if (measures_intended_) Add(summary_.Get(op, result, true), nanos + late_nanos);
    if (with_intervals_) AddToInterval(op, result, nanos);
  }

  const Summary& summary() const { return summary_; }

  // Adds what was recorded since the last call to *total. Any thread.
  void TakeInterval(IntervalSummary* total);

 private:
  void Add(Series* series, uint64_t nanos) {
    series->latency.Record(nanos);
    if (extras_.any()) AddExtras(series, nanos);
  }
  void AddExtras(Series* series, uint64_t nanos);
  void AddToInterval(Op op, Result result, uint64_t nanos);

  const bool measures_op_;
  const bool measures_intended_;
  const bool with_intervals_;
  const Extras extras_;
  const uint64_t start_nanos_;
  Summary summary_;

  // Uncontended but for one call an interval.
  std::mutex interval_mutex_;
  IntervalSummary interval_;  // Guarded by interval_mutex_.
};

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_WORKLOAD_MEASUREMENTS_H_
