// OpTimes: how long the calls and the background work of a database took, as a histogram of each kind.
//
// Each thread counts in histograms of its own, which it alone writes, so that a call costs two readings of a clock, an
// increment and an addition, and no line goes from CPU to CPU. A query sums them up.
//
//   const OpTimes::Timed<TimedOp::kGet> timed(times);   // until the end of the block; times may be null
//
// A histogram is log-linear: each power of two of ticks has 64 equal buckets, so that a percentile is off by less than
// 1.6 %, and so is a sum, which is made of them. 30 KiB for each kind.
//
// Threads: any. Counts stay when their thread ends, and a later thread goes on with its histograms. Sums are of no one
// moment. Ownership: a database's object may end before the threads that counted, and the other way round; the
// histograms are shared by both.

#ifndef MIODB_SRC_DB_STATS_OP_TIMES_H_
#define MIODB_SRC_DB_STATS_OP_TIMES_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/util/check/check.h"
#include "src/util/clock/tick_clock.h"
#include "src/util/threads/mutex.h"

namespace miodb {

enum class TimedOp : int { kGet, kPut, kScan, kStall, kFlush, kMerge, kCount };
inline constexpr size_t kTimedOps = static_cast<size_t>(TimedOp::kCount);

// The word for a kind in properties.
const char* TimedOpName(TimedOp op);

// Spans in ticks, by one thread; read by any.
class ThreadHistogram {
 public:
  static constexpr int kLinearBits = 6;
  static constexpr size_t kLinear = size_t{1} << kLinearBits;
  static constexpr size_t kBuckets = (64 - kLinearBits + 1) * kLinear;  // of all numbers of 64 bits: none is checked

  // Readings of two CPUs may differ, so that a span comes out negative, which is a number that no clock reaches.
  // Buckets from this one on hold such spans, which the sums leave out.
  static constexpr size_t kNegative = (64 - kLinearBits) * kLinear;

  static size_t BucketOf(uint64_t ticks) {
    const int shift = std::bit_width(ticks | (kLinear * 2 - 1)) - kLinearBits - 1;
    return static_cast<size_t>(shift) * kLinear + static_cast<size_t>(ticks >> shift);
  }
  static uint64_t BucketStart(size_t bucket);
  static uint64_t BucketSpan(size_t bucket);

  // By the thread that has it, alone. relaxed: a count, which says nothing of anything else.
  void Add(uint64_t ticks) {
    std::atomic<uint64_t>& count = buckets_[BucketOf(ticks)];
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  uint64_t bucket(size_t i) const { return buckets_[i].load(std::memory_order_relaxed); }  // relaxed: see Add

 private:
  std::array<std::atomic<uint64_t>, kBuckets> buckets_{};
};

// The sum of the histograms of one kind.
class TimeSummary {
 public:
  uint64_t count = 0;
  double sum_nanos = 0;
  double nanos_per_tick = 1;
  std::vector<uint64_t> buckets;  // kBuckets of them

  // Linear within a bucket; 0 if there is none.
  double PercentileNanos(double percent) const;

  // How many took no longer.
  uint64_t CountUpTo(double nanos) const;
};

class OpTimes {
 public:
  OpTimes();
  ~OpTimes();
  OpTimes(const OpTimes&) = delete;
  OpTimes& operator=(const OpTimes&) = delete;

  // A call, from here to the end of the block. times: null: nothing is measured.
  template <TimedOp kOp>
  class Timed {
   public:
    explicit Timed(OpTimes* times) : times_(times), start_(times != nullptr ? NowTicks() : 0) {}
    ~Timed() {
      if (times_ != nullptr) times_->Add<kOp>(NowTicksAfterLoads() - start_);
    }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;

   private:
    OpTimes* const times_;
    const uint64_t start_;
  };

  // For what is measured by another clock.
  static void AddMicros(OpTimes* times, TimedOp op, uint64_t micros);

  TimeSummary Sum(TimedOp op) const;

  // A line for each kind that occurred.
  std::string Describe() const;

 private:
  // The histograms of one thread, made when they are first needed.
  struct OfThread {
    std::array<std::atomic<ThreadHistogram*>, kTimedOps> histograms{};
    std::atomic<bool> is_taken{true};    // by a thread that lives
    std::atomic<bool> is_orphan{false};  // the database is closed
    ~OfThread();
  };
  class Registration;

  // The kinds of calls come first; those of background work are rare.
  static constexpr size_t kCalls = 3;
  static_assert(static_cast<size_t>(TimedOp::kScan) + 1 == kCalls);

  // The thread's histograms in the database that it used last, for all kinds of calls.
  struct Recent {
    uint64_t owner;
    std::array<ThreadHistogram*, kCalls> histograms;
  };

  // Of a call.
  template <TimedOp kOp>
  void Add(uint64_t ticks) {
    static_assert(static_cast<size_t>(kOp) < kCalls);
    if (t_recent.owner != id_) [[unlikely]]
      return AddFirst(kOp, ticks);
    t_recent.histograms[static_cast<size_t>(kOp)]->Add(ticks);
  }
  void AddFirst(TimedOp op, uint64_t ticks);
  static ThreadHistogram* Make(OfThread* mine, TimedOp op);
  std::shared_ptr<OfThread> Take();

  [[gnu::tls_model("initial-exec")]] static thread_local constinit Recent t_recent;
  static thread_local Registration t_registration;

  const uint64_t id_;  // of no other database of the process, ever
  const TickRate rate_;
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<OfThread>> threads_ GUARDED_BY(mutex_);
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_STATS_OP_TIMES_H_
