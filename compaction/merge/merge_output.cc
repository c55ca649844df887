// Entries on their way from a cluster's merge into its tables.

#include "compaction/merge/merge_output.h"

#include <algorithm>
#include <string>

#include "pmtable/index_cursor.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

MergeOutput::MergeOutput(const MergeRequest& request, bool may_copy, bool bottom, DropAccount* account,
                         RecordCopier* copier, TableSink* sink, MergeResult* result)
    : request_(request),
      may_copy_(may_copy),
      folds_(may_copy && request.merge_operator != nullptr && request.settle_limit > 0),
      bottom_(bottom),
      account_(account),
      copier_(copier),
      sink_(sink),
      result_(result),
      filter_(request.order, request.compaction_filter, request.filter_level, request.filter, request.now_micros) {
  CHECK(account_ != nullptr && copier_ != nullptr && sink_ != nullptr && result_ != nullptr);
}

// Operands of the key may be waiting for their base. If the tombstone below them is dropped, they become the oldest
// records of the key, as if nothing had been there before.
Status MergeOutput::Take(const Version& version, VersionJudge::Verdict verdict, bool apart) {
  using Verdict = VersionJudge::Verdict;
  CHECK(version.table != nullptr);
  CHECK_EQ(waiting_ == Waiting::kNone, held_.empty());
  if (verdict == Verdict::kDropBoth) {
    CHECK(waiting_ == Waiting::kSingleDeletion && held_.size() == 1);
    const Status s = Drop(held_[0]);
    held_.clear();
    waiting_ = Waiting::kNone;
    result_->entries_dropped += 2;
    return s.ok() ? Drop(version) : s;
  }
  if (verdict == Verdict::kDrop) {
    result_->entries_dropped++;
    return Drop(version);
  }
  const bool operand = folds_ && version.entry.word.type() == kTypeMerge;
  Status s;
  if (waiting_ == Waiting::kOperands && (!apart || MIODB_MUTATED(kFoldAcrossSnapshot))) {
    if (!operand && IsBase(version)) return Fold(&version, Operands::Into::kValue);
    if (!operand) s = EndOperands(Operands::Into::kOperand);
  } else if (waiting_ == Waiting::kOperands) {
    s = EndOperands(Operands::Into::kOperand);
    sink_->NoteApart();
  } else {
    s = EmitWaiting();
  }
  if (!s.ok()) return s;
  CHECK(!operand || verdict == Verdict::kKeep);
  CHECK(!operand || waiting_ != Waiting::kSingleDeletion);
  if (!operand && verdict != Verdict::kHold) return Emit(version);
  waiting_ = operand ? Waiting::kOperands : Waiting::kSingleDeletion;
  held_.push_back(version);
  return s;
}

// Records that still wait have met nothing: a single deletion stays, and operands have no base among the inputs.
Status MergeOutput::NewKey() {
  Status s = waiting_ == Waiting::kOperands ? EndOperands(bottom_ ? Operands::Into::kValue : Operands::Into::kOperand)
                                            : EmitWaiting();
  CHECK(!s.ok() || held_.empty());
  key_added_ = false;
  return s;
}

// There is no base among the inputs. into: what the waiting operands can be folded into without one.
Status MergeOutput::EndOperands(Operands::Into into) {
  CHECK(waiting_ == Waiting::kOperands && !held_.empty());
  CHECK(request_.merge_operator != nullptr);
  if (MIODB_MUTATED(kFoldWithoutBase)) return Fold(nullptr, Operands::Into::kValue);
  if (into == Operands::Into::kValue || request_.versions_once) return Fold(nullptr, into);
  return EmitWaiting();
}

// Emits the waiting records in the order in which they came, the newest first, so that reads find what they found
// before.
Status MergeOutput::EmitWaiting() {
  CHECK(waiting_ != Waiting::kSingleDeletion || held_.size() == 1);
  Status s;
  for (size_t i = 0; s.ok() && i < held_.size(); i++) s = Emit(held_[i]);
  held_.clear();
  waiting_ = Waiting::kNone;
  return s;
}

// The slices of the operands are of records that the inputs keep where they are.
Status MergeOutput::ReadOperands(const Version* base, Operands* operands, RecordView* newest, uint64_t* oldest) {
  Status s;
  *oldest = kMaxSequence;
  const auto add = [&](const Version& version, RecordView* record) {
    Status read = ReadRecordOf(*version.table, version.entry, record);
    if (!read.ok()) return read;
    result_->record_bytes_read += record->size();
    operands->AddOlder(*record);
    *oldest = std::min({*oldest, record->sequence(), version.table->oldest_sequence()});
    return read;
  };
  RecordView older;
  for (size_t i = 0; s.ok() && i < held_.size(); i++) s = add(held_[i], i == 0 ? newest : &older);
  if (s.ok() && base != nullptr) s = add(*base, &older);
  CHECK(!s.ok() || *oldest <= newest->sequence());
  CHECK(!s.ok() || operands->HasValue());
  return s;
}

// Emits a single record instead of the waiting operands, and of their base if it was met. If the operator does not ask
// for partial folds of a lone operand, such a fold reads nothing.
Status MergeOutput::Fold(const Version* base, Operands::Into into) {
  CHECK(!held_.empty() && folds_);
  const bool partially = into == Operands::Into::kOperand;
  CHECK(base == nullptr || !partially);
  const MergeOperator& merge_operator = *request_.merge_operator;
  Status s;
  bool done = false;
  if (!partially || held_.size() > 1 || merge_operator.AllowSingleOperand()) {
    Operands operands(request_.now_micros);
    RecordView newest;
    uint64_t oldest;
    s = ReadOperands(base, &operands, &newest, &oldest);
    if (!s.ok()) return s;
    std::string value;
    const bool folded = partially ? operands.FoldPartially(merge_operator, newest.key, &value)
                                  : operands.Fold(&merge_operator, newest.key, &value).ok();
    if (folded) {
      RecordView record;
      record.tag = PackTag(newest.sequence(), partially ? kTypeMerge : kTypeValue);
      record.key = newest.key;
      record.value = value;
      s = EmitFolded(record, oldest, &done);
    }
  }
  if (s.ok() && done) {
    result_->entries_dropped += held_.size() - (base != nullptr ? 0 : 1);
    for (const Version& version : held_) {
      if (s.ok()) s = Drop(version);
    }
    if (s.ok() && base != nullptr) s = Drop(*base);
    held_.clear();
    waiting_ = Waiting::kNone;
    return s;
  }
  if (s.ok()) s = EmitWaiting();
  if (s.ok() && base != nullptr) s = Emit(*base);
  return s;
}

// done: there was space for the record. A value that no write could have made is not made here either.
Status MergeOutput::EmitFolded(RecordView folded, uint64_t oldest, bool* done) {
  CHECK(!*done && may_copy_);
  CHECK(folded.type() == kTypeValue || request_.versions_once);
  if (folded.value.size() > kMaxValueSize) return Status::OK();
  const RecordFilter::Action action = filter_.Ask(folded, !key_added_, bottom_);
  *done = action == RecordFilter::Action::kDrop;
  if (*done) result_->entries_dropped++;
  if (*done) return Status::OK();
  if (action == RecordFilter::Action::kReplace) folded = filter_.replacement();
  IndexEntry entry = held_.front().entry;
  entry.same_key_as_last = key_added_;
  Status s = sink_->MakeRoom(key_added_);
  if (!s.ok()) return s;
  *done = copier_->Write(folded.tag, folded.key, folded.value, &entry.word);
  if (!*done) return s;
  entry.SetKey(folded.key);
  CHECK(entry.word.type() == folded.type());
  sink_->Add(entry, oldest, ExpiryRange());
  key_added_ = true;
  return s;
}

// Where records are copied, the extent of every reference has to be one of the version's: an entry that points
// elsewhere was damaged.
Status MergeOutput::Emit(const Version& version) {
  IndexEntry entry = version.entry;
  DCHECK(entry.Sound());
  entry.same_key_as_last = key_added_;
  const Extent* const extent = may_copy_ ? account_->Find(entry.word.ref()) : nullptr;
  DCHECK(extent == nullptr || extent->Contains(entry.word.ref()));
  if ((may_copy_ && extent == nullptr) || entry.word.size() == 0) return OutsideOfPayload(*version.table, entry.word);
  using Action = RecordFilter::Action;
  const bool copies = may_copy_ && copier_->Wanted(*extent, entry.word);
  RecordView record;
  Action action = Action::kKeep;
  Status s;
  if (copies) {
    s = ReadRecordOf(*version.table, entry, &record);
    result_->record_bytes_read += s.ok() ? record.size() : 0;
    if (s.ok()) action = filter_.Ask(record, !key_added_, bottom_);
    if (s.ok() && action == Action::kDrop) result_->entries_dropped++;
    if (!s.ok()) return s;
    if (action == Action::kDrop) return Drop(version);
  }
  s = sink_->MakeRoom(key_added_);
  if (!s.ok()) return s;
  // If the record is not read, the oldest sequence of its table is the bound.
  uint64_t oldest = version.table->oldest_sequence();
  if (copies) {
    // A record that the limit would settle anyway counts as lazy copy, in a marked extent or not.
    const bool evacuated = extent->kind() != ExtentKind::kLog || entry.word.size() > request_.settle_limit;
    if (action == Action::kReplace) {
      const RecordView& other = filter_.replacement();
      copier_->Write(other.tag, other.key, other.value, &entry.word);  // without space the record stays as it is
    } else {
      copier_->Copy(record, evacuated, &entry.word);
    }
    entry.SetKey(record.key);
    // A folded record is as old as its oldest part, but the record does not say how old that is.
    if (request_.merge_operator == nullptr) oldest = record.sequence();
  }
  sink_->Add(entry, oldest, entry.word.type() == kTypeExpiringValue ? version.expiry : ExpiryRange());
  key_added_ = true;
  CHECK(copies || entry.word.ref() == version.entry.word.ref());
  if (entry.word.ref() != version.entry.word.ref()) return Drop(version);
  if (extent != nullptr) sink_->NotePlace(*extent);
  return s;
}

}  // namespace miodb
