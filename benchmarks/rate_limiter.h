// Lets through so many units a second, of all threads together: bytes that are written, operations that read.
//
// Each request books the time that its units take, behind the requests before it. A limiter that was idle, or whose
// callers woke up late, lets them catch up with at most kBurstNanos.
//
// Threads: any.

#ifndef MIODB_BENCHMARKS_RATE_LIMITER_H_
#define MIODB_BENCHMARKS_RATE_LIMITER_H_

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "benchmarks/common/sleep.h"

namespace miodb::bench {

class RateLimiter {
 public:
  static constexpr uint64_t kBurstNanos = 10 * 1000 * 1000;

  // 0: no limit.
  explicit RateLimiter(int64_t units_per_second) : units_per_second_(static_cast<double>(units_per_second)) {}

  bool is_limited() const { return units_per_second_ > 0; }

  // Returns when it is these units' turn, or soon after "stop" began to return true. REQUIRES: is_limited().
  template <class Stop>
  void Await(uint64_t units, const Stop& stop) {
    SleepUntil(Book(units, Ticks::MonotonicNanos()), stop);
  }

  // Books "units" at the moment "now" and returns the moment of their turn.
  uint64_t Book(uint64_t units, uint64_t now) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const uint64_t turn = std::max(free_nanos_, now - std::min(now, kBurstNanos));
    free_nanos_ = turn + static_cast<uint64_t>(static_cast<double>(units) * 1e9 / units_per_second_);
    return turn;
  }

 private:
  const double units_per_second_;
  std::mutex mutex_;
  uint64_t free_nanos_ = 0;  // From when on nothing is booked.
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_RATE_LIMITER_H_
