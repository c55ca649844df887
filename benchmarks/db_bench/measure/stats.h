// The measurements of a thread while it runs a benchmark, and the sum over threads.
//
// Threads: each thread owns one Stats; Merge when all are done. Progress of the first thread goes to stderr.
// Units: nanoseconds of the monotonic clock; bytes are what the client passed or received.

#ifndef MIODB_BENCHMARKS_DB_BENCH_MEASURE_STATS_H_
#define MIODB_BENCHMARKS_DB_BENCH_MEASURE_STATS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/common/clock/ticks.h"
#include "benchmarks/common/figures/histogram.h"
#include "benchmarks/db_bench/measure/bucket_histogram.h"

namespace miodb::bench {

struct Config;
class LatencyRecorder;

// Names the histogram that an operation goes to.
enum class OpType { kRead, kWrite, kDelete, kSeek, kUpdate, kOther };
constexpr int kOpTypes = 6;

const char* OpTypeName(OpType type);

// Counts for the messages behind a result line.
struct Counts {
  int64_t reads = 0;
  int64_t found = 0;
  int64_t writes = 0;
  int64_t deletes = 0;
  int64_t merges = 0;         // Those of mixgraph, which are not among the writes.
  int64_t written_bytes = 0;  // Of keys and values that were put, and of keys deleted, in the background too.
  int64_t background_writes = 0;
  int64_t background_scanned = 0;  // Entries.
  int64_t compressed_bytes = 0;
  int64_t seeks = 0;  // Among the reads.
  int64_t scan_steps = 0;
  int64_t value_bytes = 0;             // Written.
  std::vector<uint32_t> key_accesses;  // Of each key, where that is counted.

  void Add(const Counts& other);
};

// Figures of the result line.
struct Totals {
  int64_t done = 0;
  uint64_t bytes = 0;
  double thread_seconds = 0;  // Summed over threads.
  double wall_seconds = 0;    // From the first start to the last stop.
};

class Stats {
 public:
  // "reports_progress" is for one thread of a benchmark.
  Stats(const Config& config, int thread, bool reports_progress);

  // From now on FinishedOp also adds to this counter, which the threads share. nullptr: to none.
  void CountInto(std::atomic<int64_t>* counter) { shared_done_ = counter; }

  // From now on every operation is timed, and its time also goes to this recorder, which outlives the operations.
  // nullptr: to none.
  void RecordInto(LatencyRecorder* recorder);

  void Start();
  void Stop();

  // Sets the amount of work: so many operations, or so many seconds if that is above 0.
  void Expect(int64_t ops, int64_t seconds) {
    expected_ops_ = ops;
    expected_seconds_ = seconds;
  }

  // The time since the last operation belongs to no operation: a report, for example.
  void SkipTime() { last_ticks_ = Ticks::Now(); }

  // The time since this reading of Ticks belongs to no operation: a wait for the rate limit in the middle of an
  // operation, for example.
  void SkipTime(uint64_t since_ticks) { last_ticks_ += Ticks::Now() - since_ticks; }

  // An operation that did "ops" units of work (the entries of a batch) has just returned. The operation's time runs
  // from the last call or Start, so it includes making the key and the value.
  void FinishedOp(OpType type, int64_t ops = 1) {
    if (timed_) {
      const uint64_t now = Ticks::Now();
      const uint64_t nanos = Ticks::NanosBetween(last_ticks_, now);
      last_ticks_ = now;
      latency_.Record(nanos);
      if (detailed_) RecordDetail(type, nanos);
    }
    Count(ops);
  }

  // The same of an operation that somebody else has timed.
  void RecordOp(OpType type, uint64_t nanos) {
    if (timed_) latency_.Record(nanos);
    if (detailed_) RecordDetail(type, nanos);
    Count(1);
  }

  void AddBytes(uint64_t bytes) { bytes_ += bytes; }

  // Adds another thread's figures; wall time spans from the earliest start to the latest stop.
  void Merge(const Stats& other);

  int64_t done() const { return done_; }
  uint64_t bytes() const { return bytes_; }
  Totals totals() const;
  const LatencyHistogram& latency() const { return latency_; }
  const std::map<OpType, BucketHistogram>& histograms() const { return histograms_; }

  Counts counts;

 private:
  void Count(int64_t ops) {
    done_ += ops;
    // Relaxed: the reader wants a rate, not an order.
    if (shared_done_ != nullptr) shared_done_->fetch_add(ops, std::memory_order_relaxed);
    if (done_ >= next_report_) ReportProgress();
  }

  void RecordDetail(OpType type, uint64_t nanos);
  void ReportProgress();
  void ReportInterval();
  std::string ExpectedText() const;

  const Config* config_;
  int thread_;
  bool timed_;
  bool detailed_;  // There is more to do with a time than to record it.

  LatencyRecorder* recorder_ = nullptr;
  std::atomic<int64_t>* shared_done_ = nullptr;
  int64_t done_ = 0;
  int64_t next_report_;
  int64_t expected_ops_ = 0;  // 0: not known
  int64_t expected_seconds_ = 0;
  uint64_t bytes_ = 0;
  uint64_t last_ticks_ = 0;
  uint64_t start_nanos_ = 0;
  uint64_t stop_nanos_ = 0;
  uint64_t thread_nanos_ = 0;
  uint64_t interval_start_nanos_ = 0;
  int64_t interval_start_done_ = 0;
  LatencyHistogram latency_;
  std::map<OpType, BucketHistogram> histograms_;
};

// The count after "done" at which progress is shown next: each 100 up to 1000, each 500 up to 5000, and so on.
int64_t NextProgress(int64_t done);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_MEASURE_STATS_H_
