// Lets through so many units a second, of all threads together: bytes that are written, operations that read.
//
// Each request books the time that its units take, behind the requests before it. A limiter that was idle, or whose
// callers woke up late, lets them catch up with at most kBurstNanos. The rate may follow a curve over time.
//
// Threads: any.

#ifndef MIODB_BENCHMARKS_DB_BENCH_WORKLOADS_RATE_LIMITER_H_
#define MIODB_BENCHMARKS_DB_BENCH_WORKLOADS_RATE_LIMITER_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "benchmarks/common/clock/sleep.h"

namespace miodb::bench {

class RateLimiter {
 public:
  static constexpr uint64_t kBurstNanos = 10 * 1000 * 1000;

  // Units a second, so many seconds after the first request.
  using Curve = std::function<double(double seconds)>;

  // 0: no limit.
  explicit RateLimiter(int64_t units_per_second)
      : is_limited_(units_per_second > 0), units_per_second_(static_cast<double>(units_per_second)) {}

  // The curve is looked at every "interval_nanos"; where it is 0 or less the last rate goes on.
  // REQUIRES: it is above 0 at the start.
  RateLimiter(Curve curve, uint64_t interval_nanos)
      : is_limited_(true), curve_(std::move(curve)), interval_nanos_(interval_nanos) {}

  bool is_limited() const { return is_limited_; }

  // Returns when it is these units' turn, or soon after "stop" began to return true. REQUIRES: is_limited().
  template <class Stop>
  void Await(uint64_t units, const Stop& stop) {
    SleepUntil(Book(units, Ticks::MonotonicNanos()), stop);
  }

  // Books "units" at the moment "now" and returns the moment of their turn.
  uint64_t Book(uint64_t units, uint64_t now) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (curve_ && now >= change_nanos_) ChangeRate(now);
    const uint64_t turn = std::max(free_nanos_, now - std::min(now, kBurstNanos));
    free_nanos_ = turn + static_cast<uint64_t>(static_cast<double>(units) * 1e9 / units_per_second_);
    return turn;
  }

 private:
  void ChangeRate(uint64_t now) {
    if (change_nanos_ == 0) start_nanos_ = now;
    change_nanos_ = now + interval_nanos_;
    const double rate = curve_(static_cast<double>(now - start_nanos_) / 1e9);
    if (rate > 0) units_per_second_ = rate;
  }

  const bool is_limited_;
  const Curve curve_;
  const uint64_t interval_nanos_ = 0;

  // The rest belongs to who holds the mutex.
  std::mutex mutex_;
  double units_per_second_ = 1;
  uint64_t start_nanos_ = 0;
  uint64_t change_nanos_ = 0;  // When the curve is looked at again; 0: it never was.
  uint64_t free_nanos_ = 0;    // From when on nothing is booked.
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_WORKLOADS_RATE_LIMITER_H_
