// The processor's time stamp counter and the fence that orders it, on x86-64 alone. The builtins of the compiler stand
// here because the header that has the intrinsics takes longer to compile than most files that would include it.
//
// Threads: any.

#ifndef MIODB_SRC_UTIL_CLOCK_TIME_STAMP_H_
#define MIODB_SRC_UTIL_CLOCK_TIME_STAMP_H_

#include <cstdint>

#if defined(__x86_64__)

namespace miodb {

inline uint64_t TimeStamp() { return __builtin_ia32_rdtsc(); }

// The same, not before the loads in front of it have come. The builtin would also store which CPU it is.
inline uint64_t TimeStampAfterLoads() {
  uint64_t low, high;
  asm volatile("rdtscp" : "=a"(low), "=d"(high) : : "rcx");
  return high << 32 | low;
}

// Nothing behind it begins before the loads in front of it have come.
inline void LoadFence() { __builtin_ia32_lfence(); }

}  // namespace miodb

#endif

#endif  // MIODB_SRC_UTIL_CLOCK_TIME_STAMP_H_
