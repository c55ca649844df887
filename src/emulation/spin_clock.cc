#include "src/emulation/spin_clock.h"

#include <algorithm>
#include <chrono>
#include <thread>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace miodb {

namespace {

// Below this, a wait is spent spinning; what is longer sleeps for the part that the scheduler is sure to keep to.
constexpr double kSleepFromNanos = 200 * 1000;
constexpr double kSleepSlackNanos = 100 * 1000;

// The rate is the median of so many spans, because an interruption makes the figure of a single span wrong.
constexpr int kSpans = 9;
static_assert(kSpans % 2 == 1);  // one is in the middle
static_assert(kSleepSlackNanos < kSleepFromNanos);
constexpr uint64_t kSpanNanos = 500 * 1000;

// Each span measures so many looks at the clock, steps of a loop, and waits.
constexpr int kLooks = 1000;
constexpr int kSteps = 10000;
constexpr int kWaits = 1000;

// About as long as a wait for a slow read.
constexpr double kWaitNanos = 150;

// Whether the counter's rate does not change with frequency or sleep states (CPUID leaf 80000007h, EDX bit 8).
bool HasConstantRateCounter() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1u << 8)) != 0;
#else
  return false;
#endif
}

// Steps that take a cycle or so each.
void Steps(int count) {
  for (int i = 0; i < count; i++) asm volatile("" : "+r"(i));
}

template <typename Measure>
double Median(Measure measure) {
  double values[kSpans];
  for (double& value : values) value = measure();
  std::nth_element(values, values + kSpans / 2, values + kSpans);
  return values[kSpans / 2];
}

// The least of several measurements, for values that interruptions can only make longer.
template <typename Measure>
double Least(Measure measure) {
  double least = measure();
  for (int i = 1; i < kSpans; i++) least = std::min(least, measure());
  return least;
}

}  // namespace

// Everything is measured on this machine when the first model is made, and takes some milliseconds: the counter's
// rate, the time of a look at the clock, how many steps of a loop fill a tick, and how much longer a wait of the usual
// length takes than asked for. Times, which an interruption can only lengthen, are the least of several spans; rates
// are the median.
SpinClock::SpinClock() : has_counter_(HasConstantRateCounter()) {
  if (has_counter_) {
    ticks_per_nano_ = Median([this] {
      const uint64_t start = NowNanos(), start_ticks = Now();
      uint64_t now;
      while ((now = NowNanos()) < start + kSpanNanos) {
      }
      return static_cast<double>(Now() - start_ticks) / static_cast<double>(now - start);
    });
  }
  look_ticks_ = Least([this] {
    const uint64_t start = Now();
    uint64_t now = start;
    for (int i = 0; i < kLooks; i++) now = Now();
    return static_cast<double>(now - start) / kLooks;
  });
  steps_per_tick_ = Median([this] {
    const uint64_t start = OrderedNow();
    Steps(kSteps);
    return kSteps / static_cast<double>(std::max<uint64_t>(OrderedNow() - start, 1));
  });
  const double wait = TicksOf(kWaitNanos);
  overshoot_ticks_ = std::max(0.0, Least([this, wait] {
                                const uint64_t start = Now();
                                for (int i = 0; i < kWaits; i++) OrderedWait(OrderedNow(), wait);
                                return static_cast<double>(Now() - start) / kWaits - wait;
                              }));
}

// All models of the process share a clock, which the first caller measures while others wait for it.
const SpinClock& SpinClock::Get() {
  static_assert(kLooks > 0 && kSteps > 0 && kWaits > 0);
  static const SpinClock clock;
  return clock;
}

// A long wait sleeps for the part that leaves the system time to be late, and spins for the rest: waits of
// milliseconds would otherwise take a CPU from the threads that are being modelled.
void SpinClock::WaitUntil(uint64_t ticks) const {
  for (uint64_t now = Now(); now < ticks; now = Now()) {
    const double nanos = NanosOf(ticks - now);
    if (nanos > kSleepFromNanos) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<int64_t>(nanos - kSleepSlackNanos)));
    }
  }
}

// The last part of the wait is counted in steps of a loop instead of looks at the clock, because one look takes as
// long as a sizeable part of the wait. The fence at the end keeps the loads behind it from beginning early.
void SpinClock::OrderedWait(uint64_t start, double ticks) const {
  const uint64_t end = start + static_cast<uint64_t>(std::max(ticks - overshoot_ticks_, 0.0));
  const uint64_t last_look = end - std::min(end, static_cast<uint64_t>(look_ticks_));
  if (ticks > TicksOf(kSleepFromNanos)) WaitUntil(last_look);
  uint64_t now = Now();
  while (now < last_look) now = Now();
  if (now < end) Steps(static_cast<int>(static_cast<double>(end - now) * steps_per_tick_));
#if defined(__x86_64__)
  LoadFence();
#endif
}

}  // namespace miodb
