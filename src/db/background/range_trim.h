// RangeTrim: what deletions of ranges allow at once. After each change of the version it drops the tables that they
// hide as a whole, and from the manifest the deletions that hide nothing any more, in one edit
// (compaction/filter/range_work.h).
//
// Threads: as annotated. After a crash: the edit or not; the tables hold nothing that a read could see, and the
// deletions are ones that have happened, so both states say the same.

#ifndef MIODB_SRC_DB_BACKGROUND_RANGE_TRIM_H_
#define MIODB_SRC_DB_BACKGROUND_RANGE_TRIM_H_

#include <cstdint>
#include <vector>

#include "compaction/filter/range_work.h"
#include "compaction/policy/scheduler.h"
#include "src/db/state/tree.h"

namespace miodb {

class RangeTrim {
 public:
  RangeTrim(DbContext& db, Control* control, Tree* tree, Scheduler* scheduler)
      : db_(db), control_(control), tree_(tree), scheduler_(scheduler) {
    CHECK(control_ != nullptr && tree_ != nullptr && scheduler != nullptr);
  }
  RangeTrim(const RangeTrim&) = delete;
  RangeTrim& operator=(const RangeTrim&) = delete;

  // Whether something has changed since the last look. Without ranges never.
  bool IsDue() const REQUIRES(db_mutex);

  // Whether the findings of a look are being carried out.
  bool applying() const REQUIRES(db_mutex) { return applying_; }

  // Looks, and does what there is to do. True: there was something.
  bool Trim() REQUIRES(db_mutex);

 private:
  void Look(VersionEdit* edit, std::vector<TableRef>* hidden) REQUIRES(db_mutex);
  Status Drop(std::vector<TableRef> hidden, VersionEdit edit) REQUIRES(db_mutex);
  void AddRangeChanges(std::vector<RangeDeletion> left, VersionEdit* edit) REQUIRES(db_mutex);

  DbContext& db_;
  Control* const control_;
  Tree* const tree_;
  Scheduler* const scheduler_ PT_GUARDED_BY(db_mutex);

  // State of the last look.
  uint64_t looked_at_ GUARDED_BY(db_mutex) = 0;  // Tree::version_changes
  std::vector<uint64_t> snapshots_ GUARDED_BY(db_mutex);
  bool waits_ GUARDED_BY(db_mutex) = false;     // for a job that has a table which could go
  bool applying_ GUARDED_BY(db_mutex) = false;  // what the last look has found
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_BACKGROUND_RANGE_TRIM_H_
