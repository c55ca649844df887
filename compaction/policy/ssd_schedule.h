// SsdSchedule: which ranges of keys jobs of the SSD tier hold, which are damaged, whose turn is next, and how long the
// tier pauses after a failure.
//
// No lock and no clock are inside. Threads: the schedule has no thread; calls are made under a lock of the owner.

#ifndef MIODB_COMPACTION_POLICY_SSD_SCHEDULE_H_
#define MIODB_COMPACTION_POLICY_SSD_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "compaction/policy/scheduler.h"
#include "compaction/policy/ssd_picker.h"
#include "src/util/check/check.h"

namespace miodb {

// Each figure has a test that shows what it does.
struct SsdPolicy {
  // The pause after the first failure, which doubles, and the longest, in microseconds: an SSD that is full or failing
  // is not to be asked all the time.
  uint64_t least_pause_micros = 50 * 1000;
  uint64_t most_pause_micros = 5 * 1000 * 1000;
};

class SsdSchedule {
 public:
  explicit SsdSchedule(const SsdPolicy& policy = SsdPolicy()) : policy_(policy) {
    CHECK(policy_.least_pause_micros > 0 && policy_.least_pause_micros <= policy_.most_pause_micros);
  }

  SsdSchedule(const SsdSchedule&) = delete;
  SsdSchedule& operator=(const SsdSchedule&) = delete;

  // Gives the picker the running jobs, and whether a purge is next.
  void Fill(SsdPickerInput* input) const {
    input->running = &held_;
    input->purge_first = purge_first_;
  }

  bool MayStart(uint64_t now_micros) const { return now_micros >= retry_micros_; }

  // A job with this range runs from now on, until End.
  void Begin(const SsdRange& range);

  // damaged: the job met damage in its inputs. The range stays held until the next open, and other jobs go on.
  void End(const SsdRange& range, Outcome outcome, bool damaged, uint64_t now_micros);

  int running() const { return running_; }
  const std::vector<SsdRange>& damaged() const { return damaged_; }

  // Checks the invariants.
  void Check() const;

 private:
  const SsdPolicy policy_;
  int running_ = 0;
  std::vector<SsdRange> held_;  // by the running jobs, and the damaged ones
  std::vector<SsdRange> damaged_;
  bool purge_first_ = false;  // every other job: writers may keep all threads busy with others
  uint64_t retry_micros_ = 0;
  uint64_t pause_micros_ = 0;
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_POLICY_SSD_SCHEDULE_H_
