// RangeTrim: what deletions of ranges allow at once. After each change of the version it looks for the tables that they
// hide as a whole, and for deletions that hide nothing any more, and drops both in one edit
// (compaction/filter/range_work.h). A look is made without the mutex, so what it found may have changed.
//
// Threads: as annotated. After a crash: the edit or not; the tables hold nothing that a read could see, and the
// deletions are ones that have happened, so both states say the same.

#ifndef MIODB_SRC_DB_BACKGROUND_RANGE_TRIM_H_
#define MIODB_SRC_DB_BACKGROUND_RANGE_TRIM_H_

#include <cstdint>
#include <memory>
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

  // Whether a look is being made, or its findings are carried out.
  bool at_work() const REQUIRES(db_mutex) { return scheduler_->trim() != TrimState::kIdle; }

  // Looks, and does what there is to do. True: there was something. The mutex is let go of meanwhile.
  bool Trim() REQUIRES(db_mutex);

  // A table of the repository of which a merge would drop something, as the last look found; null: none.
  TableRef droppable() const REQUIRES(db_mutex) { return droppable_.lock(); }

 private:
  uint64_t Reach() const REQUIRES(db_mutex);
  bool AwaitsErasure() const REQUIRES(db_mutex);
  RangeWork Look() REQUIRES(db_mutex);
  bool IsBusy(const std::vector<TableRef>& tables) const REQUIRES(db_mutex);
  Status Drop(std::vector<TableRef> hidden, VersionEdit edit) REQUIRES(db_mutex);
  void AddRangeChanges(std::vector<RangeDeletion> left, VersionEdit* edit) REQUIRES(db_mutex);

  DbContext& db_;
  Control* const control_;
  Tree* const tree_;
  Scheduler* const scheduler_ PT_GUARDED_BY(db_mutex);

  // State of the last look.
  uint64_t looked_at_ GUARDED_BY(db_mutex) = 0;  // Tree::version_changes
  std::vector<uint64_t> snapshots_ GUARDED_BY(db_mutex);
  bool waits_ GUARDED_BY(db_mutex) = false;                      // for a job that has a table which could go
  uint64_t reach_ GUARDED_BY(db_mutex) = 0;                      // of the last look
  std::weak_ptr<const PMTable> droppable_ GUARDED_BY(db_mutex);  // whose space is not kept for it
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_BACKGROUND_RANGE_TRIM_H_
