// SsdTier: the levels on SSD, behind the repository:
//
//   push down   When tables take more of the pool than half of nvm_budget, and those of the buffer more than a sixth of
//               the budget, the oldest run of the buffer goes to the repository at once, whichever level it is in
//               (policy/picker.h). The larger the repository is, the less is rewritten for what drains. Records of
//               every size are copied then, so that those of a partition lie together.
//   drain       When tables take more than nvm_budget, or space is short, a partition of the repository goes to the
//               first SSD level, merged with the files there that overlap. The space of its records and index is free
//               then. Several at a time, and beside them garbage collection and merges of parts of the repository,
//               each with tables of its own. A merge of the whole repository runs without drains.
//   compaction  A level that is too large gives a file to the next. Several at a time, in ranges that do not overlap.
//   purge       For CompactRange tombstones go down the same ways, up to where they hide nothing and are dropped.
//
// Threads: Open by the open; Step by any number; the rest as annotated.
// After a crash: before the edit of a job its inputs, after it its outputs; files that no edit names are removed
// by the next open.

#ifndef MIODB_SRC_DB_BACKGROUND_SSD_TIER_H_
#define MIODB_SRC_DB_BACKGROUND_SSD_TIER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compaction/merge/ssd_merge.h"
#include "compaction/policy/scheduler.h"
#include "compaction/policy/ssd_picker.h"
#include "compaction/policy/ssd_schedule.h"
#include "src/db/context/cpu_census.h"
#include "src/db/context/workers.h"
#include "src/db/space/log_floor.h"
#include "src/db/space/space.h"
#include "src/db/state/tree.h"
#include "src/util/check/check.h"

namespace miodb {

// The parts of the database that the tier works with.
struct SsdTierParts {
  Control* const control_;
  Tree* const tree_;
  Scheduler* const scheduler_ PT_GUARDED_BY(db_mutex);
  SsdSchedule* const schedule_ PT_GUARDED_BY(db_mutex);
  Space* const space_;
  LogFloor* const floor_;
  Workers* const workers_;
  CpuCensus* const census_;
};

class SsdTier : private SsdTierParts {
 public:
  using Parts = SsdTierParts;

  SsdTier(DbContext& db, const Parts& parts) : Parts(parts), db_(db) {
    CHECK(control_ != nullptr && tree_ != nullptr && scheduler_ != nullptr && schedule_ != nullptr);
    CHECK(space_ != nullptr && floor_ != nullptr);
    CHECK(workers_ != nullptr && census_ != nullptr);
  }
  SsdTier(const SsdTier&) = delete;
  SsdTier& operator=(const SsdTier&) = delete;

  // Opens the tier's files if the options have one.
  Status Open();

  // Runs one job. False if none was due.
  bool Step() EXCLUDES(db_mutex);

  // OK, or the error of the last job, until one succeeds.
  const Status& error() const REQUIRES(db_mutex) { return error_; }

  // ---- what the pool is to do for the tier

  // Bytes that a partition of the repository should have.
  uint64_t PartitionBytes() const;

  // Merges into the repository copy records of every size; the oldest run of the buffer goes there at once.
  bool SettlesAll() const REQUIRES(db_mutex);
  bool WantsPushDown() const REQUIRES(db_mutex);

  // Whether a drain is running or due.
  bool HasDrainWork() REQUIRES(db_mutex);

  // How long writers are to wait for each KiB, in nanoseconds. left: free space above the reserve.
  uint64_t ThrottleNanos(uint64_t left) const REQUIRES(db_mutex);

  // ---- who waits

  // Waits until nothing of the tier is running or due, or until it fails.
  Status WaitForAll() REQUIRES(db_mutex);

  // Has tombstones of the range go down to where they hide nothing.
  Status PurgeRange(const Slice* begin, const Slice* end) EXCLUDES(db_mutex);

 private:
  // Parts of the version that a job was picked from.
  struct JobBase {
    VersionRef version;
    uint64_t flushed_sequence = 0;
  };

  Status CheckEpoch() const;
  Status MarkEpoch() EXCLUDES(db_mutex);
  uint64_t NvmBudget() const;
  uint64_t NvmBytes() const REQUIRES(db_mutex);
  bool BufferTooLarge() const REQUIRES(db_mutex);
  bool WantsDrain() const REQUIRES(db_mutex);
  bool WantsRoom() const REQUIRES(db_mutex);
  std::vector<uint64_t> LevelLimits(const SsdLevels& ssd) const;
  SsdPickerInput MakePickerInput() REQUIRES(db_mutex);
  std::optional<SsdJob> Pick() REQUIRES(db_mutex);
  Status RunMerge(const SsdJob& job, const JobBase& base, SsdMergeResult* result) EXCLUDES(db_mutex);
  void RunJob(SsdJob job, const JobHold& hold, JobBase base) EXCLUDES(db_mutex);
  Status Install(const SsdJob& job, SsdMergeResult* result) REQUIRES(db_mutex);
  void Finish(const JobHold& hold, const SsdRange& range, const Status& s, bool inputs_damaged) REQUIRES(db_mutex);
  Status Purge(PurgeRequest request) REQUIRES(db_mutex);

  DbContext& db_;
  const PurgeRequest* purge_ GUARDED_BY(db_mutex) = nullptr;  // of the CompactRange that waits
  Status error_ GUARDED_BY(db_mutex);                         // of the last job, until one succeeds
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_BACKGROUND_SSD_TIER_H_
