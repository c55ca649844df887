// Merger: runs the merges and the garbage collection that the scheduler chooses (policy/scheduler.h, picker.h,
// merge.h); several threads on larger machines.
//
// A merge installs its result as a flush does (flusher.h).
//
// Threads: Step by any number; the rest as annotated.
// After a crash: before the edit of a merge its inputs, after it its outputs; the space of what was not finished
// is free.

#ifndef MIODB_SRC_DB_BACKGROUND_MERGER_H_
#define MIODB_SRC_DB_BACKGROUND_MERGER_H_

#include "compaction/merge/merge.h"
#include "compaction/policy/expired_tables.h"
#include "compaction/policy/picker.h"
#include "compaction/policy/scheduler.h"
#include "src/db/background/job_shares.h"
#include "src/db/background/range_trim.h"
#include "src/db/background/ssd_tier.h"
#include "src/db/context/cpu_census.h"
#include "src/db/space/log_floor.h"
#include "src/db/space/space.h"
#include "src/db/state/tree.h"
#include "src/util/check/check.h"

namespace miodb {

// The parts of the database that merges work with.
struct MergerParts {
  Control* const control_;
  Tree* const tree_;
  Scheduler* const scheduler_ PT_GUARDED_BY(db_mutex);
  Space* const space_;
  LogFloor* const floor_;
  SsdTier* const tier_;
  CpuCensus* const census_;
  JobShares* const shares_;
};

class Merger : private MergerParts {
 public:
  using Parts = MergerParts;

  Merger(DbContext& db, const Parts& parts)
      : Parts(parts), db_(db), ranges_(db, parts.control_, parts.tree_, parts.scheduler_) {
    CHECK(control_ != nullptr && tree_ != nullptr && scheduler_ != nullptr);
    CHECK(space_ != nullptr && floor_ != nullptr);
    CHECK(tier_ != nullptr && census_ != nullptr && shares_ != nullptr);
  }
  Merger(const Merger&) = delete;
  Merger& operator=(const Merger&) = delete;

  // Runs one job. False if none was due.
  bool Step() EXCLUDES(db_mutex);

  // Whether the buffer has something that was written by this sequence, or the repository something to drop. REQUIRES:
  // somebody waits for a settled database.
  bool HasWorkOf(uint64_t sequence) const REQUIRES(db_mutex);

  // Whether a merge is due.
  bool HasWork() const REQUIRES(db_mutex);

  // Whether no flush and no merge is running or due.
  bool IsIdle() const REQUIRES(db_mutex);

  // Has extents marked for evacuation when too much of the payload is garbage; sooner when the pool is nearly full.
  void MarkGarbage() REQUIRES(db_mutex);

  // Looks for garbage, and whether anything is at work or due that may free space.
  bool LookForWork() REQUIRES(db_mutex);

 private:
  bool MemTableHoldsMuch() const REQUIRES(db_mutex);
  PickerInput MakePickerInput() const REQUIRES(db_mutex);
  MergeRequest MakeMergeRequest(const MergeJob& job, const JobHold& hold, VersionRef* version) EXCLUDES(db_mutex);
  void RunJob(MergeJob job, const JobHold& hold) EXCLUDES(db_mutex);
  // Bytes that copies of the job leave free besides the index reserve.
  uint64_t CopiesLeave(const JobHold& hold) const;
  void GiveWay(MergeRequest* request) EXCLUDES(db_mutex);
  Status DropTables(const MergeJob& job, MergeResult* result) EXCLUDES(db_mutex);
  void MakeMarks() EXCLUDES(db_mutex);
  bool MayDropExpired() const REQUIRES(db_mutex);
  bool ExpiredIsDue() const REQUIRES(db_mutex);
  void FindExpired() REQUIRES(db_mutex);
  void FindMarked(const Version& version) EXCLUDES(db_mutex);
  void NoteQuiet(const MergeResult& result, uint64_t bytes);
  void NoteMerge(const MergeJob& job, const MergeResult& result, uint64_t micros);
  Status Install(const MergeJob& job, MergeResult* result) REQUIRES(db_mutex);
  void Finish(const JobHold& hold, const Status& s, Outcome outcome, bool refused) REQUIRES(db_mutex);

  DbContext& db_;
  RangeTrim ranges_;
  bool found_all_ GUARDED_BY(db_mutex) = false;  // the last search has found all tables of the marks

  // The last look for tables of which much has expired.
  bool looking_for_expired_ GUARDED_BY(db_mutex) = false;
  uint64_t expired_looked_at_ GUARDED_BY(db_mutex) = 0;        // Tree::version_changes
  uint64_t expired_next_micros_ GUARDED_BY(db_mutex) = 0;      // of ExpiredLook
  std::weak_ptr<const PMTable> expired_ GUARDED_BY(db_mutex);  // whose space is not kept for it
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_BACKGROUND_MERGER_H_
