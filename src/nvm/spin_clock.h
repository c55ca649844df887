// A clock that is cheap to look at, for waits of some hundred nanoseconds: the processor's counter, where it has one of
// a constant rate, else the system's clock.
//
// Threads: any.

#ifndef MIODB_SRC_NVM_SPIN_CLOCK_H_
#define MIODB_SRC_NVM_SPIN_CLOCK_H_

#include <cstdint>

#include "src/util/clock.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace miodb {

class SpinClock {
 public:
  // Measures the rate of the counter, for some milliseconds, the first time that it is called.
  static const SpinClock& Get();

  uint64_t Now() const {
#if defined(__x86_64__)
    if (counter_) return __rdtsc();
#endif
    return NowNanos();
  }

  // The same once all loads before it are done: the processor would look at the clock while it waits for them.
  uint64_t OrderedNow() const {
#if defined(__x86_64__)
    if (counter_) {
      _mm_lfence();
      return __rdtsc();
    }
#endif
    return NowNanos();
  }

  double TicksOf(double nanos) const { return nanos * ticks_per_nano_; }
  double NanosOf(uint64_t ticks) const { return static_cast<double>(ticks) / ticks_per_nano_; }

  // How much longer a wait takes than what it waits for, on average, in ticks: from the look at the clock before it to
  // the next thing done.
  double overshoot_ticks() const { return overshoot_ticks_; }

  // Returns when the clock has come to this moment: spins, and sleeps for most of a long wait.
  void WaitUntil(uint64_t ticks) const;

 private:
  SpinClock();

  bool counter_ = false;
  double ticks_per_nano_ = 1;
  double overshoot_ticks_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_SPIN_CLOCK_H_
