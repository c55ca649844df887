#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compaction/policy/scheduler.h"
#include "tests/compaction/versions.h"

namespace miodb::test {

constexpr uint64_t kMiB = 1 << 20;

// A database of three levels whose merges are one at a time.
class SchedulerTest : public testing::Test {
 protected:
  JobHold Begin(const std::vector<std::vector<uint64_t>>& ids) {
    PickerInput input;
    input.version = MakeVersion(ids);
    const std::optional<MergeJob> job = scheduler_.NextMerge(input);
    EXPECT_TRUE(job.has_value());
    return job.has_value() ? scheduler_.BeginMerge(*job) : JobHold();
  }
  bool HasWork(const std::vector<std::vector<uint64_t>>& ids) {
    PickerInput input;
    input.version = MakeVersion(ids);
    return scheduler_.NextMerge(input).has_value();
  }
  void Merge(Outcome outcome) {
    const JobHold hold = Begin(kTwoRuns);
    scheduler_.Check();
    scheduler_.EndMerge(hold, outcome, false);
    scheduler_.Check();
  }
  // Begins and ends one that finds too little space.
  void RefuseCollection() {
    MergeJob job{MergeKind::kCollect, 0, 0, {}, {}};
    const JobHold hold = scheduler_.BeginMerge(job);
    scheduler_.EndMerge(hold, Outcome::kNoSpace, false);
  }
  // An event, and its name.
  using Event = std::pair<std::string, std::function<void()>>;
  std::vector<Event> EventsThatMayFreeSpace() {
    return {
        {"flush",
         [this] {
           scheduler_.BeginFlush();
           scheduler_.EndFlush(Outcome::kInstalled);
         }},
        {"job of the SSD tier", [this] { scheduler_.EndSsd(Outcome::kInstalled); }},
        {"region", [this] { scheduler_.SpaceAdded(); }},
    };
  }
  std::optional<MarkRequest> Marks(const SpaceFigures& figures, uint64_t now = 0) const {
    return scheduler_.WantsMarks(figures, now + kLongAfter);
  }
  void MarkWith(const MarkRequest& request, MarkEvent outcome) {
    scheduler_.WantMarks(request);
    scheduler_.BeginMarks();
    scheduler_.marks().On(outcome);
  }
  // Plenty of free space, and payload in percent of the live bytes.
  static SpaceFigures Figures(uint64_t payload_percent) {
    SpaceFigures figures;
    figures.capacity = 1000 * kMiB;
    figures.free = 500 * kMiB;
    figures.chunk = kMiB;
    figures.copies_leave = 3 * kMiB;
    figures.live = 100 * kMiB;
    figures.payload = payload_percent * kMiB;
    return figures;
  }

  static constexpr uint64_t kLongAfter = uint64_t{1} << 40;
  const std::vector<std::vector<uint64_t>> kTwoRuns = {{2, 1}, {}, {}};
  const SchedulePolicy policy_{};
  Scheduler scheduler_{2};
};

}  // namespace miodb::test
