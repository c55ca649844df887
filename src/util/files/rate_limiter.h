// Holds writers of files down to so many bytes a second, together.
//
// Threads: any number.

#ifndef MIODB_SRC_UTIL_FILES_RATE_LIMITER_H_
#define MIODB_SRC_UTIL_FILES_RATE_LIMITER_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "src/util/check/check.h"
#include "src/util/clock/clock.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class RateLimiter {
 public:
  // 0: without limit.
  explicit RateLimiter(uint64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  // Waits until the bytes asked for before have had their time, then counts these. Up to a tenth of a second's worth
  // may come at once after a pause.
  void Request(uint64_t bytes) EXCLUDES(mutex_) {
    if (bytes_per_second_ == 0) return;
    DCHECK_LE(bytes, UINT64_MAX / 1000000);
    uint64_t start;
    const uint64_t now = NowMicros();
    {
      MutexLock lock(&mutex_);
      start = std::max(next_micros_, now - std::min(now, kBurstMicros));
      next_micros_ = start + bytes * 1000000 / bytes_per_second_;
      DCHECK_GE(next_micros_, start);
    }
    if (start > now) std::this_thread::sleep_for(std::chrono::microseconds(start - now));
  }

 private:
  static constexpr uint64_t kBurstMicros = 100 * 1000;

  const uint64_t bytes_per_second_;
  Mutex mutex_;
  uint64_t next_micros_ GUARDED_BY(mutex_) = 0;  // when what was asked for so far has had its time
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_FILES_RATE_LIMITER_H_
