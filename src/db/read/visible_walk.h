// VisibleWalk: the walk of an iterator over all sources of a state, which stops at the newest version of each key that
// its sequence sees. Nothing is locked: the state, which a reference keeps, does not change.
//
// Records in the pool and in memtables stay where they are while the state is pinned, so the current record is kept as
// a view. A record of a table file, whose begin is null, goes with the next move and is copied before it.
//
// Going forward, the sources stand on the current record; if that is an operand, on its base or behind. Going backward
// they stand before all versions of the current key, because the newest visible version of a key is the last one met.
//
// Threads: one.

#ifndef MIODB_SRC_DB_READ_VISIBLE_WALK_H_
#define MIODB_SRC_DB_READ_VISIBLE_WALK_H_

#include <memory>
#include <string>
#include <utility>

#include "src/db/read/db_iter.h"
#include "src/db/read/hidden_versions.h"
#include "src/format/expiry.h"
#include "src/iterator/default_family_iterator.h"
#include "src/iterator/operands.h"
#include "src/iterator/range_cover.h"
#include "src/iterator/version_steps.h"
#include "src/util/check/check.h"

namespace miodb {

class VisibleWalk {
 public:
  // The context and the bounds in the options outlive the walk.
  VisibleWalk(const DBIteratorContext& context, const ReadOptions& options, ReadPoint point)
      : context_(context),
        order_(context.order),
        options_(options),
        steps_(order_, 1),
        hidden_(order_, context.dead),
        operands_(point.now_micros) {
    Reset(std::move(point));
  }

  VisibleWalk(const VisibleWalk&) = delete;

  // The walk is to go on at this point; it stands nowhere. The new sources are there before the old ones go, and those
  // before the state that they lie in.
  void Reset(ReadPoint point) {
    DCHECK(point.state != nullptr);
    CHECK_LE(point.sequence, kMaxSequence);
    std::unique_ptr<InternalIterator> versions = NewSources(*point.state);
    RangeCover ranges(order_);
    ranges.Reset(point.state->RangeSets(), point.sequence);
    versions_ = std::move(versions);  // from here on nothing throws
    state_ = std::move(point.state);
    sequence_ = point.sequence;
    steps_ = VersionSteps(order_, state_->sources());
    hidden_.Reset(std::move(ranges), {state_->number, sequence_, point.now_micros}, steps_.of_seek());
    operands_.Reset(point.now_micros);
    valid_ = false;
    failure_ = Status::OK();
  }

  bool Valid() const { return valid_; }

  // The current record, with the value that its user gave it; valid until the next move. REQUIRES: Valid().
  const RecordView& current() const {
    CHECK(valid_);
    return current_;
  }

  Status status() const { return failure_.ok() ? versions_->status() : failure_; }

  // The status keeps the failure: after a move that stopped half-way nobody knows where the sources stand.
  void Fail(Status failure) {
    DCHECK(!failure.ok());
    valid_ = false;
    failure_ = std::move(failure);
  }

  // The first version of a key is its newest, so a seek to the sequence passes those that the iterator does not see.
  void SeekToFirst() {
    Jump();
    if (lower() != nullptr) {
      versions_->Seek(*lower(), sequence_);
    } else {
      versions_->SeekToFirst();
    }
    FindForward(Slice(), false);
  }

  // The upper bound is exclusive: the sources are put behind all versions of keys below it.
  void SeekToLast() {
    Jump();
    if (upper() != nullptr) {
      SeekBefore(*upper(), kMaxSequence);
    } else {
      versions_->SeekToLast();
    }
    FindBackward();
  }

  // A target below the lower bound would meet keys that the user must not see.
  void Seek(const Slice& target) {
    const bool below = lower() != nullptr && order_.Compare(target, *lower()) < 0;
    Jump();
    versions_->Seek(below ? *lower() : target, sequence_);
    FindForward(Slice(), false);
  }

  // The key is kept before the sources move, because FindForward has to pass its older versions. Coming from the other
  // direction, the sources stand somewhere before the current key; after operands they have moved already.
  void Next() {
    DCHECK(valid_);
    Keep(&current_, &key_space_, nullptr);
    if (standing_ == Standing::kOnCurrent) [[likely]] {
      versions_->Next();
    } else if (standing_ == Standing::kBeforeCurrent) {
      Jump();
      versions_->Seek(current_.key, 0);
    }
    FindForward(current_.key, true);
  }

  // Going forward, the sources stand on the current record, or after operands somewhere behind; they have to pass all
  // versions of its key first.
  void Prev() {
    DCHECK(valid_);
    if (standing_ != Standing::kBeforeCurrent) {
      Keep(&current_, &key_space_, nullptr);
      if (standing_ == Standing::kBehindOperands && !versions_->Valid() && versions_->status().ok())
        versions_->SeekToLast();
      steps_.Jump();
      steps_.Begin();
      while (versions_->Valid() && order_.Compare(versions_->record().key, current_.key) >= 0) {
        if (steps_.Seeks(current_.key, 0, Walk::kBackward, Passed::kOfKey)) {
          SeekBefore(current_.key, kMaxSequence);
        } else {
          versions_->Prev();
        }
      }
      steps_.Jump();
    }
    FindBackward();
  }

 private:
  const Slice* lower() const { return options_.iterate_lower_bound; }
  const Slice* upper() const { return options_.iterate_upper_bound; }

  // Where the sources stand. Behind operands: on their base, or behind all versions of the current key.
  enum class Standing : uint8_t { kOnCurrent, kBehindOperands, kBeforeCurrent };

  using Walk = RangeCover::Walk;
  using Passed = VersionSteps::Passed;

  // Another family than the default one is kept to by bounds. Whether there are others is asked anew for each state:
  // with the first one the sources get keys that the default family has to pass.
  std::unique_ptr<InternalIterator> NewSources(const ReadState& state) const {
    DCHECK(context_.family == kDefaultFamily || (lower() != nullptr && upper() != nullptr));
    std::unique_ptr<InternalIterator> all = NewVersionIterator(order_, state, context_.checksums, options_);
    if (context_.family != kDefaultFamily || !order_.has_families()) return all;
    return NewDefaultFamilyIterator(std::move(all), *context_.place);
  }

  // Keys on a damaged medium are in any order. An iterator shows none outside of its bounds, which make a family.
  void FailOutside() {
    Fail(Status::Corruption(context_.place != nullptr ? *context_.place : "iterator",
                            "keys that are out of order led out of the bounds of an iterator"));
  }

  void Jump() {
    hidden_.Jump();
    steps_.Jump();
  }

  // Moves what goes with the next move of versions_ into these strings. value_space null: the value is not needed.
  static void Keep(RecordView* record, std::string* key_space, std::string* value_space) {
    DCHECK(key_space != nullptr && key_space != value_space);
    if (record->begin != nullptr) return;
    if (record->key.data() != key_space->data()) {
      key_space->assign(record->key.data(), record->key.size());
      record->key = *key_space;
    }
    if (value_space != nullptr) {
      value_space->assign(record->value.data(), record->value.size());
      record->value = *value_space;
    }
  }

  // Sources that are not valid have passed their last record, or failed; only the first of the two can go on.
  void StepBack() {
    if (versions_->Valid()) {
      versions_->Prev();
    } else if (versions_->status().ok()) {
      versions_->SeekToLast();
    }
  }

  // Goes before all versions of the key that are not above the sequence; kMaxSequence: before all, because the greatest
  // sequence is the first of a key.
  void SeekBefore(const Slice& key, uint64_t sequence) {
    versions_->Seek(key, sequence);
    StepBack();
  }

  // Goes forward over a version that is not shown; if many were passed, over all versions of its key above the
  // sequence. before: as in VersionSteps.
  void Pass(uint64_t sequence, Passed before) {
    const Slice key = versions_->record().key;
    if (steps_.Seeks(key, sequence, Walk::kForward, before)) [[unlikely]] {
      versions_->Seek(key.ToString(), sequence);
    } else {
      versions_->Next();
    }
  }

  // Goes on to the first visible version of a key that is neither hidden nor deleted. passed: if have_passed, a key
  // that the walk has passed already.
  void FindForward(const Slice& passed, bool have_passed) {
    standing_ = Standing::kOnCurrent;
    valid_ = false;
    steps_.Begin();
    PassForward(passed, have_passed);
    EndStreak(Walk::kForward);
  }

  void PassForward(Slice passed, bool have_passed) {
    DCHECK(!valid_);
    while (versions_->Valid()) {
      const RecordView* const record = &versions_->record();
      // First: nobody knows how many hidden versions lie behind the bound.
      if (upper() != nullptr && order_.Compare(record->key, *upper()) >= 0) return;
      if (record->sequence() > sequence_) {
        Pass(sequence_, Passed::kOfAnyKey);
        continue;
      }
      if (hidden_.any() && hidden_.Hides(*record, Walk::kForward)) [[unlikely]] {
        hidden_.PassForward(&steps_, versions_.get());
        continue;
      }
      if (have_passed && order_.Equal(record->key, passed)) {
        Pass(0, Passed::kOfKey);
        continue;
      }
      if (lower() != nullptr && order_.Compare(record->key, *lower()) < 0) return FailOutside();
      if (record->type() != kTypeValue) [[unlikely]] {
        if (record->type() == kTypeExpiringValue && !HasExpired(*record, operands_.now_micros())) return Show(*record);
        if (record->type() == kTypeMerge) {
          if (FoldForward()) return;
          hidden_.dead()->Begin();
          passed = passed_space_ = key_space_;
        } else {
          RecordView tombstone = *record;
          Keep(&tombstone, &passed_space_, nullptr);
          passed = tombstone.key;
          hidden_.dead()->Pass(tombstone);
          versions_->Next();
        }
        have_passed = true;
        steps_.Begin();
        continue;
      }
      current_ = *record;
      valid_ = true;
      return;
    }
  }

  // A put that has not expired becomes current, with the value that its user gave it.
  void Show(const RecordView& put) {
    DCHECK(!HidesKey(put, operands_.now_micros()));
    current_ = put;
    current_.value = UserValue(put);
    valid_ = true;
  }

  // Takes the operands of the key that the sources stand on, down to their base or to what a range hides.
  Status AddOperands(const Slice& key, Walk walk) {
    DCHECK(versions_->Valid());
    operands_.Clear();
    return operands_.AddAll(order_, key, hidden_.any() ? hidden_.OldestSeen(key, walk) : 0, versions_.get());
  }

  // Shows the value of the operands that the sources stand on, and of what lies below them. False: there is none, since
  // an operand was folded into a tombstone; key_space_ is the key that was passed.
  bool FoldForward() {
    DCHECK(versions_->record().type() == kTypeMerge);
    key_space_.assign(versions_->record().key.data(), versions_->record().key.size());
    if (!AddOperands(key_space_, Walk::kForward).ok()) return true;  // the status says why
    if (!operands_.HasValue()) return false;
    standing_ = Standing::kBehindOperands;
    current_ = RecordView();
    current_.key = key_space_;
    ShowFolded();
    return true;
  }

  // The value of the operands becomes that of the current key.
  void ShowFolded() {
    DCHECK(operands_.HasValue());
    const Status s = operands_.Fold(context_.merge_operator, current_.key, &value_space_);
    current_.value = value_space_;
    if (!s.ok()) failure_ = s;
    valid_ = s.ok();
  }

  // Takes an operand that is visible and newer than the candidate, which counts if it was visible and no operand.
  [[gnu::noinline]] void TakeNewer(const RecordView& operand, const RecordView& candidate, bool visible) {
    DCHECK(operand.type() == kTypeMerge);
    if (!visible || candidate.type() != kTypeMerge) {
      operands_.Clear();
      if (visible) operands_.AddNewer(candidate);
    }
    operands_.AddNewer(operand);
  }

  // The newest version of the candidate's key that the sequence sees becomes the candidate.
  [[gnu::noinline]] void SeekNewest(RecordView* candidate) {
    DCHECK_LE(candidate->sequence(), sequence_);
    versions_->Seek(candidate->key, sequence_);
    const RecordView* const found = versions_->Valid() ? &versions_->record() : nullptr;
    if (found == nullptr || !order_.Equal(found->key, candidate->key) || found->sequence() > sequence_)
      return;  // damage
    *candidate = *found;
    Keep(candidate, &key_space_, &value_space_);
    // A failure is the status of the sources.
    if (candidate->type() == kTypeMerge) AddOperands(candidate->key, Walk::kBackward).IgnoreError();
  }

  // Goes back to the last key with a visible version that is no tombstone, and stops before its versions. A key's
  // newest visible version is met last, so what is copied of one may be copied in vain.
  void FindBackward() {
    standing_ = Standing::kBeforeCurrent;
    valid_ = false;
    PassBackward();
    EndStreak(Walk::kBackward);
  }

  // A walk that failed says nothing of what is dead.
  void EndStreak(Walk walk) { failure_.ok() ? hidden_.dead()->End(walk, *versions_) : hidden_.dead()->Begin(); }

  // Operands without a value hide nothing that a newer one is merged with.
  void PassDead(const RecordView& candidate, bool visible) {
    const bool operand = visible && candidate.type() == kTypeMerge;
    operand ? hidden_.dead()->Begin() : hidden_.dead()->Pass(candidate);
  }

  void PassHidden(int passed) {
    uint64_t before = 0;
    if (hidden_.PassBackward(passed, &steps_, versions_.get(), &before))
      SeekBefore(versions_->record().key.ToString(), before);
  }

  void PassBackward() {
    DCHECK(!valid_);
    RecordView candidate;
    bool in_key = false;   // candidate.key is the key whose versions are being walked
    bool visible = false;  // candidate is a version that may be seen
    // An operand that was folded into a tombstone, and came back from a log, has no value.
    const auto shows = [&] {
      const bool operand = candidate.type() == kTypeMerge;
      return visible && (operand ? operands_.HasValue() : !HidesKey(candidate, operands_.now_micros()));
    };
    int hidden_steps = 0;
    while (versions_->Valid()) {
      const RecordView& record = versions_->record();
      if (in_key && !order_.Equal(record.key, candidate.key)) {
        if (shows()) break;
        PassDead(candidate, visible);
        in_key = visible = false;
      }
      if (!in_key && lower() != nullptr && order_.Compare(record.key, *lower()) < 0) {
        visible = false;
        break;
      }
      if (hidden_.any() && hidden_.Hides(record, Walk::kBackward)) [[unlikely]] {
        PassHidden(hidden_steps++);
        continue;
      }
      hidden_steps = 0;
      if (!in_key) {
        in_key = true;
        visible = false;
        steps_.Begin();
        candidate = record;
        Keep(&candidate, &key_space_, nullptr);
      }
      if (record.sequence() <= sequence_) {
        if (upper() != nullptr && order_.Compare(record.key, *upper()) >= 0) return FailOutside();
        if (record.type() == kTypeMerge) [[unlikely]]
          TakeNewer(record, candidate, visible);
        candidate = record;
        Keep(&candidate, &key_space_, &value_space_);
        visible = true;
      }
      if (steps_.Seeks(candidate.key, 0, Walk::kBackward, Passed::kOfKey)) [[unlikely]] {
        if (visible) SeekNewest(&candidate);
        if (!versions_->status().ok()) return;  // another move might forget it
        SeekBefore(candidate.key, kMaxSequence);
        if (shows()) break;
        PassDead(candidate, visible);
        in_key = visible = false;
      } else {
        versions_->Prev();
      }
    }
    DCHECK(in_key || !visible);
    // A source that failed may have lacked a newer version of the candidate, or its tombstone.
    if (!shows() || !versions_->status().ok()) return;
    current_ = candidate;
    valid_ = true;
    if (candidate.type() != kTypeValue) [[unlikely]]
      candidate.type() == kTypeMerge ? ShowFolded() : Show(candidate);
  }

  const DBIteratorContext& context_;
  const KeyOrder order_;
  const ReadOptions options_;
  std::shared_ptr<const ReadState> state_;  // what versions_ reads from
  std::unique_ptr<InternalIterator> versions_;
  uint64_t sequence_ = 0;
  VersionSteps steps_;
  HiddenVersions hidden_;
  bool valid_ = false;
  Standing standing_ = Standing::kOnCurrent;
  Operands operands_;
  Status failure_;  // OK until a move could not be made
  RecordView current_;
  std::string key_space_;     // of current_'s key, or of the candidate's, where it had to be copied
  std::string value_space_;   // the same of the value
  std::string passed_space_;  // of the key of a tombstone that was passed
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READ_VISIBLE_WALK_H_
