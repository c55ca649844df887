// Flusher: turns the oldest immutable memtable into a run of level 0 (merge/flush.h). The filters of tables that
// recovery has opened are built by threads that have nothing to flush and nothing to merge.
//
// A flush installs its result as every job does, with the mutex held: the manifest's edit becomes durable, the new
// version becomes current, the read state is published. Memory that the memtable alone held is freed when its last
// reader leaves.
//
// Threads: Step by one at a time, BuildFilter by any number; the rest as annotated.
// After a crash: before the edit the log chunks of the memtable, after it the run, with the flushed sequence.

#ifndef MIODB_SRC_DB_BACKGROUND_FLUSHER_H_
#define MIODB_SRC_DB_BACKGROUND_FLUSHER_H_

#include <memory>
#include <vector>

#include "compaction/policy/scheduler.h"
#include "src/db/background/job_shares.h"
#include "src/db/context/cpu_census.h"
#include "src/db/space/kept_log.h"
#include "src/db/space/log_floor.h"
#include "src/db/space/space.h"
#include "src/db/state/tree.h"
#include "src/util/check/check.h"

namespace miodb {

// The parts of the database that a flush works with.
struct FlusherParts {
  Control* const control_;
  Tree* const tree_;
  Scheduler* const scheduler_ PT_GUARDED_BY(db_mutex);
  LogFiles* const logs_;
  LogFloor* const floor_;
  KeptLog* const kept_;
  Space* const space_;
  CpuCensus* const census_;
  JobShares* const shares_;
};

class Flusher : private FlusherParts {
 public:
  using Parts = FlusherParts;

  Flusher(DbContext& db, const Parts& parts) : Parts(parts), db_(db) {
    CHECK(control_ != nullptr && tree_ != nullptr && scheduler_ != nullptr && logs_ != nullptr);
    CHECK(floor_ != nullptr && kept_ != nullptr && space_ != nullptr && census_ != nullptr && shares_ != nullptr);
  }
  Flusher(const Flusher&) = delete;
  Flusher& operator=(const Flusher&) = delete;

  // Does a flush. False if there was nothing to do.
  bool Step() EXCLUDES(db_mutex);

  // The tables of a version that was recovered are to get filters, the newest first. A table that a merge takes away
  // before is not held.
  void AddUnfiltered(const Version& version) REQUIRES(db_mutex);

  // Builds the filter of one table. False if none is left to begin with.
  bool BuildFilter() EXCLUDES(db_mutex);

  // Filters are being built, which holds their tables, and any is still to be built.
  bool filtering() const REQUIRES(db_mutex) { return filtering_ > 0; }
  bool HasUnfiltered() const REQUIRES(db_mutex) { return filtering_ > 0 || !unfiltered_.empty(); }

 private:
  Status Apply(const MemTable& memtable, Additions* added, std::vector<RangeDeletion> deleted) REQUIRES(db_mutex);
  void Install(MemTableRef memtable, Additions added, std::vector<RangeDeletion> deleted, Status s) REQUIRES(db_mutex);

  DbContext& db_;
  std::vector<std::weak_ptr<const PMTable>> unfiltered_ GUARDED_BY(db_mutex);
  int filtering_ GUARDED_BY(db_mutex) = 0;  // threads that build one
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_BACKGROUND_FLUSHER_H_
