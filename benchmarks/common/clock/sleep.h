// Waiting for a moment of the monotonic clock, more exactly than a sleep does.
//
// Threads: any.

#ifndef MIODB_BENCHMARKS_COMMON_CLOCK_SLEEP_H_
#define MIODB_BENCHMARKS_COMMON_CLOCK_SLEEP_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "benchmarks/common/clock/ticks.h"

namespace miodb::bench {

// Returns at "due_nanos" of Ticks::MonotonicNanos, or soon after "stop" began to return true; and what time it is then.
template <class Stop>
uint64_t SleepUntil(uint64_t due_nanos, const Stop& stop) {
  // Sleeping ends late by tens of microseconds; the last stretch is waited out awake.
  constexpr uint64_t kAwakeNanos = 100 * 1000;
  // The longest sleep, so that a request to stop is seen.
  constexpr uint64_t kMaxSleepNanos = 50 * 1000 * 1000;
  uint64_t now = Ticks::MonotonicNanos();
  while (now < due_nanos && !stop()) {
    if (due_nanos - now > kAwakeNanos) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(due_nanos - now - kAwakeNanos, kMaxSleepNanos)));
    } else {
      std::this_thread::yield();
    }
    now = Ticks::MonotonicNanos();
  }
  return now;
}

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_CLOCK_SLEEP_H_
