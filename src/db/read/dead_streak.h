// DeadStreak: the keys that a walk has passed since it last met something alive. A streak goes over the stretches that
// are known to be dead (dead_stretches.h), and makes one of what it has passed step by step.
//
// The last key of a streak is not in its stretch, so that a stretch has two keys as bounds whatever comes behind it.
//
// Threads: one.

#ifndef MIODB_SRC_DB_READ_DEAD_STREAK_H_
#define MIODB_SRC_DB_READ_DEAD_STREAK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "src/db/read/dead_stretches.h"
#include "src/format/record.h"
#include "src/iterator/internal_iterator.h"
#include "src/iterator/range_cover.h"
#include "src/util/check/check.h"

namespace miodb {

class DeadStreak {
 public:
  using Walk = RangeCover::Walk;

  // The order outlives this. stretches: null if none are to be known.
  DeadStreak(const KeyOrder& order, DeadStretches* stretches) : order_(order), stretches_(stretches) {}

  // The walk reads at this moment; a seek costs it as much as so many steps.
  void Reset(const DeadStretches::Moment& now, size_t steps_of_seek) {
    DCHECK(now.sequence <= kMaxSequence && steps_of_seek > 0);
    now_ = now;
    steps_of_seek_ = steps_of_seek;
    Jump();
  }

  const DeadStretches::Moment& now() const { return now_; }

  // Something is alive where the walk is.
  void Begin() {
    keys_ = 0;
    next_look_ = kStepsOfLook;
    expired_by_ = known_ ? stretch_.as_of.micros : 0;
  }

  // All sources go somewhere else.
  void Jump() {
    known_ = false;
    Begin();
  }

  // The walk has passed a key that is dead for its sequence, by this version. The first keys of a streak are not worth
  // a search for a stretch.
  void Pass(const RecordView& newest) {
    if (stretches_ == nullptr) return;
    (keys_ == 0 ? first_ : last_).Set(newest);
    if (!IsTombstone(newest.type())) expired_by_ = now_.micros;
    if (++keys_ == next_look_) [[unlikely]]
      Look();
  }

  bool known() const { return known_; }

  // Up to which sequence the stretch that the walk is in hides versions of the key; 0: none are hidden. Some sources
  // have left out what the stretch hides, so the walk keeps to it until all are behind it.
  uint64_t HiddenUpTo(const Slice& key, Walk walk) {
    if (!known_) [[likely]]
      return 0;
    const bool before = order_.Compare(key, stretch_.begin) < 0;
    if (!before && order_.Compare(key, stretch_.end) < 0) return stretch_.as_of.sequence;
    known_ = before == (walk == Walk::kForward);
    if (!known_) next_look_ = keys_ + kStepsOfLook;
    return 0;
  }
  bool Hides(const RecordView& record, Walk walk) {
    return known_ && record.sequence() <= HiddenUpTo(record.key, walk);
  }

  // Moves on from a version that the stretch hides, to the end of the stretch. A read at the stretch's own sequence
  // sees nothing that is newer.
  void Leave(Walk walk, InternalIterator* versions) const {
    DCHECK(known_ && versions->record().sequence() <= stretch_.as_of.sequence);
    const uint64_t sequence = stretch_.as_of.sequence, newer = sequence == now_.sequence ? UINT64_MAX : sequence + 1;
    walk == Walk::kForward ? versions->NextFrom(stretch_.end, newer) : versions->PrevBefore(stretch_.begin, newer);
  }

  // The walk has met something alive, or its end: remembers the streak if its steps have cost more than a seek would.
  void End(Walk walk, const InternalIterator& versions) {
    if (keys_ >= std::max(steps_of_seek_, kLeastKeys)) [[unlikely]]
      Remember(walk, versions);
    Begin();
  }

 private:
  // A search among the stretches costs as much as so many steps, and to remember one as much as some more.
  static constexpr size_t kStepsOfLook = 16;
  static constexpr size_t kLeastKeys = 64;

  // A key of a record; records in memory of their own stay where they are.
  class Key {
   public:
    void Set(const RecordView& record) {
      key_ = record.key;
      if (record.begin == nullptr) {
        space_.assign(key_.data(), key_.size());
        key_ = space_;
      }
    }
    const Slice& key() const { return key_; }

   private:
    Slice key_;
    std::string space_;
  };

  // Without memory, here and below, the walk does without.
  [[gnu::noinline]] void Look() {
    DCHECK(stretches_ != nullptr && keys_ > 1);
    next_look_ *= 2;
    if (known_) return;
    try {
      known_ = stretches_->Find(last_.key(), now_, &stretch_);
    } catch (const std::bad_alloc&) {
      return;
    }
    if (known_) expired_by_ = std::max(expired_by_, stretch_.as_of.micros);
  }

  // A walk of the default family goes around those of others without a look. A key that has their mark before there are
  // any has another place in the order of a comparator afterwards.
  [[gnu::noinline]] void Remember(Walk walk, const InternalIterator& versions) {
    DCHECK(stretches_ != nullptr && keys_ >= kLeastKeys);
    const Slice& begin = walk == Walk::kForward ? first_.key() : last_.key();
    const Slice& end = walk == Walk::kForward ? last_.key() : first_.key();
    if (order_.Compare(begin, end) >= 0 || !versions.status().ok()) return;  // damage
    const bool marked = HasFamilyMark(begin) || HasFamilyMark(end);
    if (marked && !order_.has_families() && !order_.bytewise()) return;
    if (order_.has_families() && !HasFamilyMark(begin) && order_.Compare(begin, FamiliesBegin()) < 0 &&
        order_.Compare(end, FamiliesBegin()) > 0) {
      return;
    }
    try {
      stretches_->Add({begin.ToString(), end.ToString(), {now_.state, now_.sequence, expired_by_}});
    } catch (const std::bad_alloc&) {
    }
  }

  const KeyOrder& order_;
  DeadStretches* const stretches_;
  DeadStretches::Moment now_;
  size_t steps_of_seek_ = 0;
  size_t keys_ = 0;  // passed one by one
  size_t next_look_ = kStepsOfLook;
  uint64_t expired_by_ = 0;  // the moment by which what was passed had expired; 0: nothing of it had a lifetime
  bool known_ = false;
  DeadStretches::Stretch stretch_;  // if known_
  Key first_;
  Key last_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READ_DEAD_STREAK_H_
