// The work of a benchmark on each of its threads. The bodies are in write_workloads.cc, read_workloads.cc and
// mixed_workloads.cc; runner.cc starts the threads; benchmarks.cc has the table of names.
//
// Threads: a ThreadState belongs to one thread; Workload is shared and read-only; RunState is shared.

#ifndef MIODB_BENCHMARKS_DB_BENCH_WORKLOADS_WORKLOAD_H_
#define MIODB_BENCHMARKS_DB_BENCH_WORKLOADS_WORKLOAD_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "benchmarks/common/clock/ticks.h"
#include "benchmarks/common/draw/random.h"
#include "benchmarks/common/draw/zipfian.h"
#include "benchmarks/common/engine.h"
#include "benchmarks/common/interrupt.h"
#include "benchmarks/db_bench/config/generator.h"
#include "benchmarks/db_bench/measure/stats.h"
#include "benchmarks/db_bench/workloads/rate_limiter.h"

namespace miodb::bench {

struct Config;
struct MixgraphConfig;

// The figures of one benchmark: the command line's, changed as its name asks. Counts are per thread.
struct Workload {
  // With "existing", which outlives this, keys are those.
  explicit Workload(const Config& config, const ExistingKeys* existing = nullptr);

  const ExistingKeys* existing_keys;
  int threads;
  int64_t num;  // Entries of a sequential pass.
  int64_t reads;
  int64_t writes;
  int64_t deletes;
  int64_t readwrites;
  uint64_t key_space;  // Random keys are drawn from [0, key_space).
  int64_t batch_size;
  ValueSizes value_sizes;
  size_t block_size;
  int64_t duration_seconds;
  int64_t multiread_stride;
  int64_t seek_nexts;
  uint64_t max_scan_distance;  // In key numbers; 0: no limit.
  int64_t read_percent;
  int64_t delete_percent;
  int64_t merge_keys;  // of which merges are; -1: all
  int64_t merge_read_percent;
  double read_exp_range;  // See ThreadState::ReadKey.
  double zipf_theta;
  std::shared_ptr<const Zipfian> read_zipf;  // of readzipfian only
  double overwrite_probability;
  uint64_t overwrite_window;
  int64_t write_rate_limit;
  int64_t read_rate_limit;
  bool finish_after_writes;
  bool sync;
  bool single_deletes;
  bool reverse;
  bool touch_values;
  std::string compression;  // Of Compress and Uncompress.
  int zstd_level;
  const MixgraphConfig* mixgraph;  // Outlives the workload.
};

// State that the threads of a benchmark share besides the store.
class RunState {
 public:
  // "seed" is for random numbers that the threads have to agree on.
  RunState(const Workload& workload, uint64_t seed);

  // Keeps the first error and stops every thread.
  void Fail(const std::string& error);
  std::string error();

  // Threads whose figures count and that are not done yet: what a background thread of the benchmark waits for.
  void MeasuredThreadDone() { running_.fetch_sub(1, std::memory_order_relaxed); }
  bool MeasuredThreadsRun() const { return running_.load(std::memory_order_relaxed) > 0; }

  const uint64_t seed;
  RateLimiter write_limiter;  // Bytes.
  RateLimiter read_limiter;   // Operations.

 private:
  std::mutex mutex_;
  std::string error_;
  std::atomic<int> running_;
};

struct ThreadState {
  ThreadState(const Config& config, const Workload& run_workload, const ValuePool& pool, RunState* run_state,
              uint64_t seed, int thread_index, bool reports_progress);

  // Whether the operation succeeded (a missing key counts as success). Otherwise records "what" failed and why.
  bool Check(Code code, const char* what);
  bool Check(const Outcome& outcome, const char* what);

  uint64_t RandomKey() { return random.Uniform(workload.key_space); }

  // The number of a key to be read: uniform, or with workload.read_exp_range R the numbers num * e^-r with r uniform in
  // [0, R], or by rank with workload.read_zipf; each moved to a fixed place of its own, so that keys that are often
  // read do not lie side by side.
  uint64_t ReadKey();

  // A value of the size that is due.
  std::string_view NextValue() { return values.Next(workload.value_sizes.Next(&random)); }

  // A get, put or merge, which the caller finishes as an operation. The functions count it, wait for the rate limit
  // before it, and return false after a failure.
  bool GetOne(uint64_t number);
  bool PutOne(uint64_t number);
  bool MergeOne(uint64_t number);

  // Return when the rate limits let "bytes" be written, or so many operations read.
  void AwaitWrite(uint64_t bytes) {
    if (run->write_limiter.is_limited()) AwaitTurn(&run->write_limiter, bytes);
  }
  void AwaitRead(uint64_t operations) {
    if (run->read_limiter.is_limited()) AwaitTurn(&run->read_limiter, operations);
  }

  // Counts the bytes of keys and values that were put.
  void CountWritten(uint64_t bytes) {
    stats.AddBytes(bytes);
    stats.counts.written_bytes += static_cast<int64_t>(bytes);
  }
  // Counts the bytes of keys that were deleted: the rate of a result line is without them, the bytes that a user has
  // written are with them.
  void CountDeleted(uint64_t bytes) { stats.counts.written_bytes += static_cast<int64_t>(bytes); }

  // Counts the bytes of a record that was read, and loads its value from memory if the workload wants that.
  void Consume(std::string_view key, std::string_view value);

  const Workload& workload;
  RunState* const run;
  const int thread;
  Random random;
  KeyBuffer key;
  ValueCursor values;
  Stats stats;
  std::unique_ptr<Session> session;
  uint64_t consumed = 0;  // Keeps the loads of Consume from being optimised away.

 private:
  void AwaitTurn(RateLimiter* limiter, uint64_t units);
};

// Decides when a thread's loop ends: after "ops" operations, or, if "seconds" is above 0, when that time is over; in
// any case when the run is interrupted. "stats" is told, for its reports.
class OpLoop {
 public:
  OpLoop(Stats* stats, int64_t ops, int64_t seconds)
      : left_(seconds > 0 ? std::numeric_limits<int64_t>::max() : ops),
        limit_nanos_(seconds > 0 ? static_cast<uint64_t>(seconds) * 1000000000u : 0),
        start_ticks_(Ticks::Now()) {
    stats->Expect(ops, seconds);
  }

  // How many operations, "most" at most, are to be done next; 0 ends the loop.
  int64_t Take(int64_t most) {
    if (left_ <= 0 || Interrupt::StopRequested()) return 0;
    if (limit_nanos_ != 0 && Ticks::NanosBetween(start_ticks_, Ticks::Now()) >= limit_nanos_) return 0;
    const int64_t taken = std::min(most, left_);
    left_ -= taken;
    return taken;
  }

  // Whether one more operation is to be done.
  bool More() { return Take(1) > 0; }

 private:
  int64_t left_;
  const uint64_t limit_nanos_;  // 0: none
  const uint64_t start_ticks_;
};

using Work = void (*)(ThreadState* thread);

// write_workloads.cc
void WriteSequential(ThreadState* thread);
void WriteRandom(ThreadState* thread);
void WriteUniqueRandom(ThreadState* thread);
void DeleteSequential(ThreadState* thread);
void DeleteRandom(ThreadState* thread);

// read_workloads.cc
void ReadSequential(ThreadState* thread);
void ReadReverse(ThreadState* thread);
void ReadRandom(ThreadState* thread);
void ReadMissing(ThreadState* thread);
void MultiReadRandom(ThreadState* thread);
void CreateIterators(ThreadState* thread);
void SeekRandom(ThreadState* thread);
void SeekOrdered(ThreadState* thread);

// mixed_workloads.cc. In the first three, thread 0 works in the background until the others are done.
void ReadWhileWriting(ThreadState* thread);
void ReadWhileScanning(ThreadState* thread);
void SeekWhileWriting(ThreadState* thread);
void ReadRandomWriteRandom(ThreadState* thread);
void MergeRandom(ThreadState* thread);
void ReadRandomMergeRandom(ThreadState* thread);
void UpdateRandom(ThreadState* thread);
void AppendRandom(ThreadState* thread);
void RandomWithVerify(ThreadState* thread);

// mixgraph.cc
void MixGraph(ThreadState* thread);

// micro_workloads.cc: no store, so no session
void Crc32cBlocks(ThreadState* thread);
void XxHashBlocks(ThreadState* thread);
void XxHash64Blocks(ThreadState* thread);
void Xxh3Blocks(ThreadState* thread);
void AcquireLoads(ThreadState* thread);
void SpinMicros(ThreadState* thread);
void Compress(ThreadState* thread);
void Uncompress(ThreadState* thread);
void SnappyCompress(ThreadState* thread);
void SnappyUncompress(ThreadState* thread);
void ZstdCompress(ThreadState* thread);
void ZstdUncompress(ThreadState* thread);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_WORKLOADS_WORKLOAD_H_
