// A clock that is cheap to look at, for waits of some hundred nanoseconds: the processor's counter, where it has one of
// a constant rate, else the system's clock.
//
// Threads: any.

#ifndef MIODB_SRC_EMULATION_SPIN_CLOCK_H_
#define MIODB_SRC_EMULATION_SPIN_CLOCK_H_

#include <cstdint>

#include "src/util/clock/clock.h"
#include "src/util/clock/time_stamp.h"

namespace miodb {

class SpinClock {
 public:
  // Measures the rate of the counter, for some milliseconds, the first time that it is called.
  static const SpinClock& Get();

  uint64_t Now() const {
#if defined(__x86_64__)
    if (has_counter_) return TimeStamp();
#endif
    return NowNanos();
  }

  // The same once all loads before it are done: the processor would look at the clock while it waits for them.
  uint64_t OrderedNow() const {
#if defined(__x86_64__)
    if (has_counter_) {
      LoadFence();
      return TimeStamp();
    }
#endif
    return NowNanos();
  }

  double TicksOf(double nanos) const { return nanos * ticks_per_nano_; }
  double NanosOf(uint64_t ticks) const { return static_cast<double>(ticks) / ticks_per_nano_; }

  // Returns when the clock has come to this moment: spins, and sleeps for most of a long wait.
  void WaitUntil(uint64_t ticks) const;

  // As long as a slow read that began at OrderedNow() = start: nothing that comes after it begins before its end.
  // Closer than the clock can be looked at.
  void OrderedWait(uint64_t start, double ticks) const;

 private:
  SpinClock();

  bool has_counter_ = false;
  double ticks_per_nano_ = 1;
  double look_ticks_ = 0;       // what one look at the clock takes
  double steps_per_tick_ = 0;   // of Step
  double overshoot_ticks_ = 0;  // how much longer an OrderedWait takes, with the look at the clock before it
};

}  // namespace miodb

#endif  // MIODB_SRC_EMULATION_SPIN_CLOCK_H_
