#include "benchmarks/common/clock/ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace miodb::bench {

bool Ticks::use_counter_ = false;
uint64_t Ticks::nanos_per_tick_ = 0;

#if defined(__x86_64__)

namespace {

constexpr uint64_t kCalibrationNanos = 20 * 1000 * 1000;

// CPUID leaf 80000007h, EDX bit 8: the counter's rate does not change with frequency or sleep states.
bool HasConstantRateCounter() {
  unsigned int eax = 0;
  unsigned int ebx = 0;
  unsigned int ecx = 0;
  unsigned int edx = 0;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1u << 8)) != 0;
}

}  // namespace

void Ticks::Calibrate() {
  if (use_counter_ || !HasConstantRateCounter()) return;
  const uint64_t start_nanos = MonotonicNanos();
  const uint64_t start_ticks = __builtin_ia32_rdtsc();
  uint64_t nanos = 0;
  while ((nanos = MonotonicNanos() - start_nanos) < kCalibrationNanos) {
  }
  const uint64_t ticks = __builtin_ia32_rdtsc() - start_ticks;
  nanos_per_tick_ = (nanos << 32) / ticks;
  use_counter_ = nanos_per_tick_ > 0;
}

#else

void Ticks::Calibrate() {}

#endif

}  // namespace miodb::bench
