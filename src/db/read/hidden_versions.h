// HiddenVersions: the versions that a walk leaves out whatever they are: those in deleted ranges, and those in
// stretches of keys that an earlier walk found dead.
//
// Threads: one.

#ifndef MIODB_SRC_DB_READ_HIDDEN_VERSIONS_H_
#define MIODB_SRC_DB_READ_HIDDEN_VERSIONS_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "src/db/read/dead_streak.h"
#include "src/iterator/internal_iterator.h"
#include "src/iterator/range_cover.h"
#include "src/iterator/version_steps.h"
#include "src/util/check/check.h"

namespace miodb {

class HiddenVersions {
 public:
  using Walk = RangeCover::Walk;

  HiddenVersions(const KeyOrder& order, DeadStretches* dead) : ranges_(order), dead_(order, dead) {}

  // The walk reads at this moment; a seek costs it as much as so many steps. Throws nothing.
  void Reset(RangeCover ranges, const DeadStretches::Moment& now, size_t steps_of_seek) {
    DCHECK_LE(now.sequence, kMaxSequence);
    ranges_ = std::move(ranges);
    dead_.Reset(now, steps_of_seek);
  }

  // The walk goes on somewhere else.
  void Jump() {
    ranges_.Jump();
    dead_.Jump();
  }

  // The walk may be in what is hidden.
  bool any() const { return ranges_.any() || dead_.known(); }

  // Whether a version is hidden that the sequence sees.
  bool Hides(const RecordView& record, Walk walk) {
    return (ranges_.any() && InRange(record, walk)) || dead_.Hides(record, walk);
  }

  // Versions of the key that are older than this are hidden.
  uint64_t OldestSeen(const Slice& key, Walk walk) {
    const uint64_t range = ranges_.any() ? ranges_.NewestOf(key, walk) : 0;
    return std::max(range, dead_.HiddenUpTo(key, walk) + 1);
  }

  // Goes on to the first version that is not both visible to the sequence and hidden. In a range the first few are
  // passed one by one, since it may be short; then every source seeks its end.
  [[gnu::noinline]] void PassForward(VersionSteps* steps, InternalIterator* versions) {
    DCHECK(steps != nullptr && versions != nullptr);
    for (int passed = 0; versions->Valid() && Hides(versions->record(), Walk::kForward); passed++) {
      const RecordView& record = versions->record();
      if (!ranges_.any() || !InRange(record, Walk::kForward)) {
        dead_.Leave(Walk::kForward, versions);
      } else if (steps->Seeks(record.key, 0, Walk::kForward, VersionSteps::Passed::kOfAnyKey)) {
        versions->Seek(record.key.ToString(), 0);
      } else if (passed < kStepsInRange) {
        versions->Next();
      } else {
        versions->NextFrom(ranges_.end(), Newer(record.key, Walk::kForward));
      }
    }
  }

  // Goes back over the hidden version that the walk stands on; over all that is left of its range if so many lay behind
  // it. True: the walk is to seek the place before this version of the key, and has not moved.
  [[gnu::noinline]] bool PassBackward(int passed, VersionSteps* steps, InternalIterator* versions, uint64_t* before) {
    DCHECK(passed >= 0 && Hides(versions->record(), Walk::kBackward));
    const RecordView& record = versions->record();
    if (!ranges_.any() || !InRange(record, Walk::kBackward)) {
      dead_.Leave(Walk::kBackward, versions);
      return false;
    }
    *before = ranges_.NewestOf(record.key, Walk::kBackward);
    if (steps->Seeks(record.key, *before, Walk::kBackward, VersionSteps::Passed::kOfAnyKey)) return true;
    if (passed < kStepsInRange) {
      versions->Prev();
    } else {
      versions->PrevBefore(ranges_.begin(), Newer(record.key, Walk::kBackward));
    }
    return false;
  }

  // The keys that the walk has passed and that are not hidden, but dead.
  DeadStreak* dead() { return &dead_; }

 private:
  // So many versions that a range hides are passed one by one before the sources seek its end.
  static constexpr int kStepsInRange = 8;

  bool InRange(const RecordView& record, Walk walk) {
    DCHECK(ranges_.any());
    if (record.sequence() > dead_.now().sequence || record.sequence() == 0) return false;  // a medium may say 0
    return record.sequence() <= ranges_.NewestOf(record.key, walk);
  }

  // Up to where sources need not be looked through. A walk at the range's own sequence sees nothing newer.
  uint64_t Newer(const Slice& key, Walk walk) {
    const uint64_t hidden = ranges_.NewestOf(key, walk);
    DCHECK(hidden > 0 && hidden <= dead_.now().sequence);
    return hidden == dead_.now().sequence ? UINT64_MAX : hidden;
  }

  RangeCover ranges_;
  DeadStreak dead_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READ_HIDDEN_VERSIONS_H_
