// Families: the column families of a database, as the manifest has them: the handles (family_handles.h), making and
// dropping.
//
// A family is made by one edit, which gives its id to a name. Dropping a family takes three steps:
//
//   1 one edit takes the name away, when the writes before it are durable; the id stays, as one that may have content.
//     No call gets a handle any more, and the gate (family_gate.h) sees to it that no write of the family is under way
//     or begins.
//   2 the range of the family's keys is deleted, by a write that is in the log and in the stream of updates.
//   3 one edit takes the id away.
//
// An open looks at the ids without a name, and does what is left of the steps. Step 2 is done once, whatever crashes:
// copies that follow count the writes. So a deletion that is in the log or in the manifest is not written again, and as
// long as there is an id without a name, no deletion is forgotten (RangeTrim). Without a log a crash may lose step 2,
// and nobody follows: the id stays until an open finds nothing of it to read. Numbers of ids are in the manifest and
// never given twice.
//
// Threads: all calls by any, but for Begin and FinishDrops, which are the open's. After a crash: before an edit
// the families without it, after it with it.

#ifndef MIODB_SRC_DB_CALLS_FAMILIES_H_
#define MIODB_SRC_DB_CALLS_FAMILIES_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "src/db/calls/family_handles.h"
#include "src/db/space/log_floor.h"
#include "src/db/state/tree.h"
#include "src/db/write/write_path.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class Families final : public FamilyHandles {
 public:
  struct Parts {
    Control* control;
    Tree* tree;
    LogFloor* floor;
    WritePath* write;
    ReadPath* read;
  };

  Families(DbContext& db, const Parts& parts);
  Families(const Families&) = delete;
  Families& operator=(const Families&) = delete;

  // ---- the open: takes up what the manifest has; then, when writes are possible, finishes drops
  void Begin() EXCLUDES(db_mutex);
  void FinishDrops() EXCLUDES(db_mutex);

  // The id that the next new family gets.
  uint64_t NextId() {
    const MutexLock lock(&mutex_);
    return next_family_;
  }

  // As DB's calls of these names.
  Status Create(const std::string& name, ColumnFamilyHandle** family);
  Status Drop(ColumnFamilyHandle* family);

  // For a repair, whose new database gets the old one's families under the ids that they had.
  Status Adopt(uint64_t next_family, const std::vector<FamilyEntry>& families);

 private:
  Status CheckName(const std::string& name) const REQUIRES(mutex_);
  Status CheckFirst() REQUIRES(mutex_);
  Status Apply(VersionEdit edit) EXCLUDES(db_mutex);
  Status TakeName(ColumnFamilyHandle* family, uint32_t id, const FamilyGate::Still& still);
  bool FindErasure(uint32_t family) REQUIRES(db_mutex);
  Status IsErased(uint32_t family, bool* erased) EXCLUDES(db_mutex);
  Status Erase(uint32_t family, const FamilyGate::Still&);
  Status EraseLeft(const FamilyGate::Still& still);
  Status Forget(const std::vector<uint64_t>& ids) EXCLUDES(db_mutex);

  DbContext& db_;
  const Parts parts_;
  std::set<uint32_t> unerased_;  // families that wait for step 2, which failed; under FamilyGate::Still
  uint64_t next_family_ GUARDED_BY(mutex_) = 1;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CALLS_FAMILIES_H_
