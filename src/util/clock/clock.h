// Two clocks. The monotonic one, for measuring spans, counts from an unspecified moment, never goes back, and says
// nothing about the date. WallMicros tells the date, and jumps when somebody sets it.

#ifndef MIODB_SRC_UTIL_CLOCK_CLOCK_H_
#define MIODB_SRC_UTIL_CLOCK_CLOCK_H_

#include <chrono>
#include <cstdint>

namespace miodb {

inline uint64_t NowNanos() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

static_assert(std::chrono::steady_clock::is_steady);  // what is later is never less

inline uint64_t NowMicros() { return NowNanos() / 1000; }

// Microseconds since 1970.
inline uint64_t WallMicros() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_CLOCK_CLOCK_H_
