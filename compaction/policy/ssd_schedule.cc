// Ranges of jobs are kept by value: a job is gone when it ends, and a damaged range outlives it.

#include "compaction/policy/ssd_schedule.h"

#include <algorithm>

#include "src/util/check/check.h"

namespace miodb {

namespace {

// A range is known by its level and both keys; no two that are held are the same.
auto Find(const std::vector<SsdRange>& ranges, const SsdRange& range) {
  return std::find_if(ranges.begin(), ranges.end(), [&](const SsdRange& r) {
    return r.first_level == range.first_level && r.smallest == range.smallest && r.largest == range.largest;
  });
}

}  // namespace

// The picker has seen to it that the range overlaps no other that is held.
void SsdSchedule::Begin(const SsdRange& range) {
  CHECK_GE(range.first_level, -1);
  CHECK(Find(held_, range) == held_.end());
  held_.push_back(range);
  running_++;
  purge_first_ = !purge_first_;
  if (kChecksWhole) Check();
}

// A job that met damage sets no pause: others may do well, and this one is not tried again. Any other failure
// pauses the whole tier, twice as long each time, until a job is installed.
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

// Run after events in debug builds and simulators (kChecksWhole).
void SsdSchedule::Check() const {
  CHECK(running_ >= 0);
  CHECK_EQ(held_.size(), static_cast<size_t>(running_) + damaged_.size());
  for (const SsdRange& range : damaged_) CHECK(Find(held_, range) != held_.end());
  CHECK(pause_micros_ == 0 ? retry_micros_ == 0 : pause_micros_ >= policy_.least_pause_micros);
  CHECK_LE(pause_micros_, policy_.most_pause_micros);
}

}  // namespace miodb
