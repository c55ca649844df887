// The clock that times single operations: the processor's time stamp counter where it runs at one constant rate, else
// CLOCK_MONOTONIC. Reading it costs some 10 ns (20-30 ns with the fallback).
//
// Threads: any. Ticks of different CPUs may differ by a little; a span that comes out negative counts as 0.

#ifndef MIODB_BENCHMARKS_COMMON_CLOCK_TICKS_H_
#define MIODB_BENCHMARKS_COMMON_CLOCK_TICKS_H_

#include <cstdint>
#include <ctime>

namespace miodb::bench {

class Ticks {
 public:
  static constexpr uint64_t kNanosPerSecond = 1000000000;

  // Measures the counter's rate against CLOCK_MONOTONIC once, which takes 20 ms. To be called before the threads
  // start; until then the fallback is used.
  static void Calibrate();

  static uint64_t Now() {
#if defined(__x86_64__)
    if (use_counter_) return __builtin_ia32_rdtsc();
#endif
    return MonotonicNanos();
  }

  // Nanoseconds between two readings.
  static uint64_t NanosBetween(uint64_t start, uint64_t end) {
    if (end <= start) return 0;
    if (!use_counter_) return end - start;
    return static_cast<uint64_t>((static_cast<unsigned __int128>(end - start) * nanos_per_tick_) >> 32);  // NOLINT
  }

  static uint64_t MonotonicNanos() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * kNanosPerSecond + static_cast<uint64_t>(now.tv_nsec);
  }

 private:
  static bool use_counter_;
  static uint64_t nanos_per_tick_;  // Fixed point, 32 bits behind the point.
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_CLOCK_TICKS_H_
