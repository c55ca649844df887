// The fate of a record by the filter's answer:
//
//   keep          it is copied as it is, with its check
//   remove        of an operand: it is left out, and what it was to be combined with stays. Of a put: a tombstone of
//                 the same sequence takes its place, unless nothing can lie below; then it is left out
//   change value  a record of the same sequence and type takes its place; a lifetime stays in front of the value

#include "compaction/filter/record_filter.h"

#include <algorithm>

#include "src/format/expiry.h"
#include "src/util/bytes/family_key.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

CompactionFilter::~CompactionFilter() = default;

// Records that a snapshot sees stay as they are, and so do older records: a read through a snapshot must not see a
// filter at work. Where there are snapshots a tombstone stays as well, since versions may be kept below it for them.
RecordFilter::Action RecordFilter::AskFilter(const RecordView& record, bool bottom) {
  DCHECK(filter_ != nullptr && IsKnownType(record.type()));
  const bool operand = record.type() == kTypeMerge;
  if (!operand && (!IsPut(record.type()) || HasExpired(record, std::max<uint64_t>(now_micros_, 1))))
    return Action::kKeep;
  if (versions_->SeenBySnapshot(record.sequence()) && !MIODB_MUTATED(kFilterUnderSnapshot)) return Action::kKeep;
  using Decision = CompactionFilter::Decision;
  using ValueKind = CompactionFilter::ValueKind;
  new_value_.clear();
  const Slice value = operand ? record.value : UserValue(record);
  const Slice key = order_.has_families() ? SplitFamilyKey(record.key).key : record.key;
  const Decision decision =
      filter_->Filter(level_, key, operand ? ValueKind::kOperand : ValueKind::kValue, value, &new_value_);
  // The replacement has no place until it is written. A value too short for an expiry counts as expired, and did not
  // come here.
  replacement_ = RecordView();
  replacement_.key = record.key;
  switch (decision) {
    case Decision::kKeep:
      return Action::kKeep;
    case Decision::kRemove:
      if (operand || (bottom && !versions_->has_snapshots())) return Action::kDrop;
      replacement_.tag = PackTag(record.sequence(), kTypeDeletion);
      return Action::kReplace;
    case Decision::kChangeValue:
      replacement_.tag = record.tag;
      if (record.type() == kTypeExpiringValue) new_value_.insert(0, record.value.data(), kExpiryBytes);
      replacement_.value = new_value_;
      return new_value_.size() <= kMaxValueSize ? Action::kReplace : Action::kKeep;
  }
  return Action::kKeep;  // a number that is no decision
}

}  // namespace miodb
