// StallClock: one wait of a leader for room, cut into pieces by what is waited for. All of the time from its beginning
// to its end is in one of the pieces.
//
//   StallClock clock(&statistics.stalls);
//   ...wait for a flush...
//   clock.Lap(StallReason::kFlush);     // what has passed since the last reading was for this
//   clock.End(StallReason::kChunk);     // and the rest for that; returns how long all of it took
//
// Threads: the leader's.

#ifndef MIODB_SRC_DB_STATS_STALL_CLOCK_H_
#define MIODB_SRC_DB_STATS_STALL_CLOCK_H_

#include <cstddef>
#include <cstdint>

#include "src/db/stats/statistics.h"
#include "src/util/check/check.h"
#include "src/util/clock/clock.h"

namespace miodb {

class StallClock {
 public:
  explicit StallClock(StallStatistics* stalls) : stalls_(stalls), start_(NowMicros()), last_(start_) {
    CHECK(stalls != nullptr);
  }
  StallClock(const StallClock&) = delete;
  StallClock& operator=(const StallClock&) = delete;

  void Lap(StallReason reason) {
    DCHECK_LT(static_cast<size_t>(reason), kStallReasons);
    const uint64_t now = NowMicros();
    stalls_->by_reason[static_cast<size_t>(reason)].AddAlone(now - last_);
    last_ = now;
  }

  uint64_t End(StallReason rest) {
    Lap(rest);
    stalls_->count.AddAlone(1);
    stalls_->micros.AddAlone(last_ - start_);
    return last_ - start_;
  }

 private:
  StallStatistics* const stalls_;
  const uint64_t start_;
  uint64_t last_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_STATS_STALL_CLOCK_H_
