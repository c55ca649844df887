// The clock of short spans: the processor's time stamp counter, which runs at one rate on all that are in use, or else
// the monotonic clock. A reading costs some 20 cycles. The reading at a start orders nothing, so a span may be off by
// as much.
//
// Threads: any. Ticks of different CPUs may differ by a little: a span may come out negative.

#ifndef MIODB_SRC_UTIL_CLOCK_TICK_CLOCK_H_
#define MIODB_SRC_UTIL_CLOCK_TICK_CLOCK_H_

#include <cstdint>

#include "src/util/clock/clock.h"
#include "src/util/clock/time_stamp.h"

namespace miodb {

inline uint64_t NowTicks() {
#if defined(__x86_64__)
  return TimeStamp();
#else
  return NowNanos();
#endif
}

// The same at the end of a span: not before the loads in front of it have come, which a processor may otherwise still
// wait for. Otherwise the time of a cache miss would be left out.
inline uint64_t NowTicksAfterLoads() {
#if defined(__x86_64__)
  return TimeStampAfterLoads();
#else
  return NowNanos();
#endif
}

// How long a tick is, by two readings of both clocks: one when it is made, one when it is asked.
class TickRate {
 public:
  TickRate() : start_ticks_(NowTicks()), start_nanos_(NowNanos()) {}

  // Waits until a millisecond has passed since the first reading.
  double NanosPerTick() const {
    constexpr uint64_t kLeastNanos = 1000000;
    uint64_t nanos;
    do {
      nanos = NowNanos() - start_nanos_;
    } while (nanos < kLeastNanos);
    return static_cast<double>(nanos) / static_cast<double>(NowTicks() - start_ticks_);
  }

 private:
  const uint64_t start_ticks_;
  const uint64_t start_nanos_;
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_CLOCK_TICK_CLOCK_H_
