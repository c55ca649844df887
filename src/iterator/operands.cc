#include "src/iterator/operands.h"

#include <algorithm>

#include "src/api/types/full_merge.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

// operands_ keeps its memory, since a walk meets one key with operands after the other.
void Operands::Clear() {
  operands_.clear();
  copies_.clear();
  has_base_ = false;
  base_expiry_ = kNoExpiry;
  newest_first_ = false;
  last_sequence_ = kNoSequence;
}

// A record of a table file goes with the next move of its source; its begin is null.
Slice Operands::Kept(const RecordView& record) {
  if (record.begin != nullptr) return record.value;
  return copies_.emplace_front(record.value.data(), record.value.size());
}

void Operands::SetBase(const RecordView& record) {
  DCHECK(record.type() != kTypeMerge);
  has_base_ = !HidesKey(record, now_micros_);
  if (has_base_) base_ = Kept(record);
  base_expiry_ = has_base_ ? ExpiryOf(record) : kNoExpiry;
  if (has_base_ && record.type() == kTypeExpiringValue) base_ = ValueBehindExpiry(base_);
}

// Among versions of one sequence an operand comes before a value or tombstone, by the order of tags. So the result that
// an operand was folded into comes right behind the operand.
// Sequences are a medium's: where damage has put them in another order, the value may be wrong.
bool Operands::AddOlder(const RecordView& record) {
  DCHECK(operands_.empty() || newest_first_);
  const bool again = last_sequence_ == record.sequence();
  last_sequence_ = record.sequence();
  newest_first_ = true;
  if (record.type() == kTypeMerge) {
    if (!again) operands_.push_back(Kept(record));
    return true;
  }
  if (again && !operands_.empty()) operands_.pop_back();
  SetBase(record);
  return false;
}

// Upward the order is the other one: the value or tombstone comes first, and the operand that it was made of is left
// out.
void Operands::AddNewer(const RecordView& record) {
  DCHECK(!newest_first_);
  DCHECK(record.sequence() != kNoSequence);
  const bool again = last_sequence_ == record.sequence();
  last_sequence_ = record.sequence();
  if (record.type() == kTypeMerge) {
    if (!again) operands_.push_back(Kept(record));
    return;
  }
  operands_.clear();
  copies_.clear();
  SetBase(record);
}

// The versions above the walk's place are not this read's: whoever calls has found the newest one that it may see.
Status Operands::AddAll(const KeyOrder& order, const Slice& key, uint64_t oldest, InternalIterator* versions) {
  DCHECK(versions != nullptr && operands_.empty());
  for (; versions->Valid() && order.Equal(versions->record().key, key); versions->Next()) {
    if (versions->record().sequence() < oldest || !AddOlder(versions->record())) break;
  }
  return versions->status();
}

void Operands::OldestFirst() {
  if (newest_first_) std::reverse(operands_.begin(), operands_.end());
  newest_first_ = false;
}

// A value alone is not the operator's business.
Status Operands::Fold(const MergeOperator* merge_operator, const Slice& key, std::string* value) {
  DCHECK(HasValue());
  value->clear();
  if (operands_.empty()) {
    value->assign(base_.data(), base_.size());
    return Status::OK();
  }
  OldestFirst();
  return FullMerge(merge_operator, key, has_base_ ? &base_ : nullptr, operands_, value);
}

// With a base the operands are not all that counts, and without an operator's word for it one of them is nothing to
// merge. A lone operand gets shorter at each fold, so that it is folded a limited number of times: it is offered
// whenever its record is met, and background work that writes it anew makes garbage, which is the next such work.
bool Operands::FoldPartially(const MergeOperator& merge_operator, const Slice& key, std::string* operand) {
  DCHECK(operand != nullptr);
  if (has_base_ || operands_.empty() || (operands_.size() == 1 && !merge_operator.AllowSingleOperand())) return false;
  OldestFirst();
  if (!merge_operator.PartialMergeMulti(key, operands_, operand)) return false;
  return operands_.size() > 1 || operand->size() < operands_.front().size() || MIODB_MUTATED(kLoneOperandRewritten);
}

}  // namespace miodb
