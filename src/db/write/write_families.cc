// Writes of keys with the mark of column families (family_gate.h): each holds the gate open until it is done, and goes
// on as any other write.

#include "miodb/write_batch.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/db/write/marked_batch.h"
#include "src/db/write/write_path.h"
#include "src/util/bytes/family_key.h"

namespace miodb {

// Nobody else writes to the range any more, so no gate is asked. The deletion is written alone, as a write with a
// condition is: a follower of the database recognises it by a batch without updates.
Status WritePath::EraseFamily(const WriteOptions& options, uint32_t family) {
  DCHECK(family != kDefaultFamily && family <= kMostFamilyId);
  const FamilyPrefix begin(family), end(family + 1);
  WriteBatch batch;
  batch.DeleteRange(begin.slice(), end.slice());
  const WriteCondition alone = [] { return Status::OK(); };
  return DoWrite(options, &batch, &alone, FamilyKeys::kChecked);
}

Status WritePath::WriteMarked(const WriteOptions& options, uint8_t type, const Slice& key, const Slice& value) {
  DCHECK(HasFamilyMark(key));
  const auto gate = db_.families.Enter();
  Status s = db_.families.CheckWrite(key, SideOf(type, db_.hooks.opener));
  return s.ok() ? WriteOne(options, type, key, value, FamilyKeys::kChecked) : s;
}

// REQUIRES: the batch was looked through.
Status WritePath::WriteMarked(const WriteOptions& options, const WriteBatch* updates, const WriteCondition* condition) {
  DCHECK(updates != nullptr);
  const auto gate = db_.families.Enter();
  WriteBatch cut;
  bool is_cut;
  const Slice contents = WriteBatchInternal::Contents(updates);
  Status s = CheckMarked(db_.families, db_.order, contents, db_.hooks.opener, &cut, &is_cut);
  return s.ok() ? DoWrite(options, is_cut ? &cut : updates, condition, FamilyKeys::kChecked) : s;
}

}  // namespace miodb
