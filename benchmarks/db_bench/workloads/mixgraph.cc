// The benchmark mixgraph: reads, writes and scans with the skew of real workloads, at a rate that follows a sine.

#include <cmath>

#include "benchmarks/common/clock/sleep.h"
#include "benchmarks/db_bench/workloads/mixgraph_model.h"
#include "benchmarks/db_bench/workloads/workload.h"

namespace miodb::bench {

namespace {

// Keeps one thread to its share of the rate.
class SineRate {
 public:
  SineRate(const MixgraphConfig& config, int threads, int thread, uint64_t now)
      : config_(config), threads_(threads), start_nanos_(now), noise_(static_cast<uint64_t>(thread)), due_nanos_(now) {}

  // Returns when the thread's next operation is due. Where the rate changes before that, what is left of the wait
  // becomes longer or shorter with it.
  void Await(ThreadState* thread) {
    do {
      const uint64_t now = Ticks::MonotonicNanos();
      if (now >= change_nanos_) {
        change_nanos_ = now + static_cast<uint64_t>(config_.sine_mix_rate_interval_milliseconds) * 1000000u;
        const double before = static_cast<double>(gap_nanos_), left = now < due_nanos_ ? due_nanos_ - now : 0;
        Change(static_cast<double>(now - start_nanos_) / 1e9);
        if (left > 0) due_nanos_ = now + static_cast<uint64_t>(left / before * static_cast<double>(gap_nanos_));
      }
      if (gap_nanos_ == 0) return;
      // A thread that was held up catches up with no more than this.
      due_nanos_ = std::max(due_nanos_, now - std::min(now, RateLimiter::kBurstNanos));
      SleepUntil(std::min(due_nanos_, change_nanos_), Interrupt::StopRequested);
    } while (change_nanos_ < due_nanos_ && !Interrupt::StopRequested());
    due_nanos_ += gap_nanos_;
    thread->stats.SkipTime();
  }

 private:
  // A rate of 0 or less is left out: the last one goes on.
  void Change(double seconds) {
    const double rate = config_.SineRate(seconds);
    const double noise = config_.sine_mix_rate_noise * std::abs(config_.sine_a) * (noise_.Unit() - 0.5);
    const double used = rate + noise > 0 ? rate + noise : rate;
    if (used > 0) gap_nanos_ = static_cast<uint64_t>(std::min(1e9 * threads_ / used, 1e18));
  }

  const MixgraphConfig& config_;
  const int threads_;
  const uint64_t start_nanos_;
  // Not the thread's generator: how often the rate changes depends on time, and the work must not.
  Random noise_;
  uint64_t due_nanos_;
  uint64_t change_nanos_ = 0;
  uint64_t gap_nanos_ = 0;  // Between operations of this thread; 0: no limit yet.
};

bool Write(ThreadState* thread, const MixOperation& operation) {
  const std::string_view key = thread->key.Make(operation.key);
  const std::string_view value = thread->values.Next(static_cast<size_t>(operation.amount));
  thread->AwaitWrite(key.size() + value.size());
  Counts& counts = thread->stats.counts;
  if (operation.kind == MixKind::kMerge) {
    if (!thread->Check(thread->session->Merge(key, value), "merge")) return false;
    counts.merges++;
  } else {
    if (!thread->Check(thread->session->Put(key, value), "put")) return false;
    counts.writes++;
  }
  counts.value_bytes += operation.amount;
  thread->CountWritten(key.size() + value.size());
  return true;
}

bool Delete(ThreadState* thread, const MixOperation& operation) {
  const std::string_view key = thread->key.Make(operation.key);
  thread->AwaitWrite(key.size());
  if (!thread->Check(thread->session->Delete(key), "delete")) return false;
  thread->stats.counts.deletes++;
  thread->CountDeleted(key.size());
  return true;
}

bool Scan(ThreadState* thread, const MixOperation& operation) {
  thread->AwaitRead(1);
  const std::string_view key = thread->key.Make(operation.key);
  // RocksDB's program scans the default family whatever the key is; families with mixes of their own have scans, too.
  const bool of_family = !thread->workload.mixgraph->family_mixes.empty();
  const std::unique_ptr<Cursor> cursor = of_family ? thread->session->NewCursorOf(key) : thread->session->NewCursor();
  Counts& counts = thread->stats.counts;
  Entry entry;
  bool valid = cursor->Seek(key, &entry);
  counts.reads++;
  counts.seeks++;
  if (valid && entry.key == key) counts.found++;
  for (int64_t step = 0; valid && step < operation.amount; step++) {
    thread->Consume(entry.key, entry.value);
    counts.scan_steps++;
    valid = cursor->Next(&entry);
  }
  return thread->Check(cursor->Check(), "iterator");
}

}  // namespace

void MixGraph(ThreadState* thread) {
  const Workload& workload = thread->workload;
  const MixgraphConfig& config = *workload.mixgraph;
  const MixgraphModel model(config, workload.key_space);
  SineRate rate(config, workload.threads, thread->thread, Ticks::MonotonicNanos());
  std::vector<uint32_t>& accesses = thread->stats.counts.key_accesses;
  if (config.mixgraph_hotness) accesses.resize(workload.key_space);
  OpLoop loop(&thread->stats, workload.reads, workload.duration_seconds);
  while (loop.More()) {
    if (config.is_throttled) rate.Await(thread);
    const MixOperation operation = model.Next(thread->ReadKey(), &thread->random);
    if (config.mixgraph_hotness) accesses[operation.key]++;
    switch (operation.kind) {
      case MixKind::kGet:
        if (!thread->GetOne(operation.key)) return;
        thread->stats.FinishedOp(OpType::kRead);
        break;
      case MixKind::kPut:
      case MixKind::kMerge:
        if (!Write(thread, operation)) return;
        thread->stats.FinishedOp(OpType::kWrite);
        break;
      case MixKind::kDelete:
        if (!Delete(thread, operation)) return;
        thread->stats.FinishedOp(OpType::kDelete);
        break;
      case MixKind::kSeek:
        if (!Scan(thread, operation)) return;
        thread->stats.FinishedOp(OpType::kSeek);
        break;
    }
  }
}

}  // namespace miodb::bench
