#include "compaction/ssd_schedule.h"

#include <algorithm>

#include "src/util/check.h"

namespace miodb {

namespace {

auto Find(const std::vector<SsdRange>& ranges, const SsdRange& range) {
  return std::find_if(ranges.begin(), ranges.end(), [&](const SsdRange& r) {
    return r.first_level == range.first_level && r.smallest == range.smallest && r.largest == range.largest;
  });
}

}  // namespace

void SsdSchedule::Begin(const SsdRange& range) {
  CHECK_GE(range.first_level, -1);
  CHECK(Find(held_, range) == held_.end());
  held_.push_back(range);
  running_++;
  purge_first_ = !purge_first_;
  if (kChecksWhole) Check();
}

void SsdSchedule::End(const SsdRange& range, Outcome outcome, bool damaged, uint64_t now_micros) {
  CHECK_GT(running_, 0);
  CHECK(!damaged || outcome == Outcome::kFailed);
  const auto mine = Find(held_, range);
  CHECK(mine != held_.end());
  running_--;
  if (damaged) {
    CHECK(Find(damaged_, range) == damaged_.end());
    damaged_.push_back(range);
  } else {
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
  for (const SsdRange& range : damaged_) CHECK(Find(held_, range) != held_.end());
  CHECK(pause_micros_ == 0 ? retry_micros_ == 0 : pause_micros_ >= policy_.least_pause_micros);
  CHECK_LE(pause_micros_, policy_.most_pause_micros);
}

}  // namespace miodb
