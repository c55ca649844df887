// The instruction for the body of a loop that waits for another CPU.

#ifndef MIODB_SRC_UTIL_CLOCK_CPU_RELAX_H_
#define MIODB_SRC_UTIL_CLOCK_CPU_RELAX_H_

namespace miodb {

inline void CpuRelax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb");  // "yield" does nothing on most cores
#endif
}

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_CLOCK_CPU_RELAX_H_
