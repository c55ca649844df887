// Updates with the mark of column families, one by one.

#include "src/db/write/marked_batch.h"

#include "src/api/batch/write_batch_internal.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// Adds what the range has before and behind the families.
void AddCut(const KeyOrder& order, const Slice& begin, const Slice& end, WriteBatch* batch) {
  const FamilyPrefix behind = FamiliesEnd();
  const auto add = [&](const Slice& first, const Slice& last) {
    if (order.Compare(first, last) < 0) batch->DeleteRange(first, last);
  };
  add(begin, order.Compare(end, FamiliesBegin()) < 0 ? end : FamiliesBegin());
  add(order.Compare(begin, behind.slice()) < 0 ? behind.slice() : begin, end);
}

}  // namespace

// Under another comparator than the bytewise one only a bound with the mark lies behind the default family's keys.
bool ReachesFamilies(const KeyOrder& order, const Slice& begin, const Slice& end) {
  if (!order.bytewise()) return HasFamilyMark(begin) || HasFamilyMark(end);
  return begin.compare(FamiliesEnd().slice()) < 0 && end.compare(FamiliesBegin()) > 0;
}

FamilyGate::Side SideOf(uint8_t type, Opener opener) {
  const bool names_family = (type & kBatchFamily) != 0 || opener == Opener::kRepair;
  return names_family ? FamilyGate::Side::kOfPrefix : FamilyGate::Side::kDefault;
}

// Without families a range is what it says, and nothing has to be cut.
Status CheckMarked(const FamilyGate& gate, const KeyOrder& order, const Slice& batch, Opener opener, WriteBatch* cut,
                   bool* is_cut) {
  DCHECK(cut != nullptr && is_cut != nullptr);
  const bool has_families = gate.HasFamilies();
  *is_cut = false;
  uint8_t type;
  Slice key, value;
  for (BatchReader reader(batch); reader.Next(&type, &key, &value);) {
    if (type == kBatchRangeDeletion) {
      const bool reaches = has_families && ReachesFamilies(order, key, value);
      *is_cut |= reaches;
      reaches ? AddCut(order, key, value, cut) : cut->DeleteRange(key, value);
      continue;
    }
    Status s = HasFamilyMark(key) ? gate.CheckWrite(key, SideOf(type, opener)) : Status::OK();
    if (!s.ok()) return s;
    if (has_families) WriteBatchInternal::Add(cut, type, key, value);
  }
  return Status::OK();
}

bool IsErasure(const FamilyGate& gate, const Slice& batch) {
  DCHECK_GE(batch.size(), kBatchHeaderBytes);
  uint8_t type;
  Slice key, value;
  BatchReader reader(batch);
  return reader.Next(&type, &key, &value) && type == kBatchRangeDeletion && gate.Hides(key);
}

}  // namespace miodb
