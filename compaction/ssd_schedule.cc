#include "compaction/ssd_schedule.h"

#include <algorithm>

#include "src/util/check.h"

namespace miodb {

void SsdSchedule::Begin(const SsdRange& range) {
  held_.push_back(range);
  running_++;
  purge_first_ = !purge_first_;
}

void SsdSchedule::End(const SsdRange& range, Outcome outcome, bool damaged, uint64_t now_micros) {
  running_--;
  if (damaged) {
    damaged_.push_back(range);
  } else {
    const auto mine = std::find_if(held_.begin(), held_.end(), [&](const SsdRange& r) {
      return r.first_level == range.first_level && r.smallest == range.smallest && r.largest == range.largest;
    });
    CHECK(mine != held_.end());
    held_.erase(mine);
  }
  if (outcome == Outcome::kInstalled) {
    retry_micros_ = pause_micros_ = 0;
  } else if (!damaged) {
    pause_micros_ = std::clamp(2 * pause_micros_, policy_.least_pause_micros, policy_.most_pause_micros);
    retry_micros_ = now_micros + pause_micros_;
  }
  if (kChecksWhole) Check();
}

void SsdSchedule::Check() const {
  CHECK(running_ >= 0);
  CHECK_EQ(held_.size(), static_cast<size_t>(running_) + damaged_.size());
}

}  // namespace miodb
