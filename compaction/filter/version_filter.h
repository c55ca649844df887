// Decides which versions of a key a flush or merge keeps.
//
// A version is visible to some read if it is the newest of its key, or if a registered snapshot lies in
// [its sequence, the next newer version's sequence). Reads without a snapshot see the newest version of the tables
// that they have pinned, so they need nothing here.
//
// A version right below an operand that is kept is needed by it, whoever sees it: what reads make of an operand goes
// down to the next version that is none.
//
// A put that has expired is a tombstone, but for the single deletion above it, whose put it is all the same.
//
// A tombstone is needed as long as something older of its key may lie deeper, or a snapshot is older than it. A single
// deletion is needed until it meets its put, also where a newer version hides it: that one may go together with a
// single deletion of its own, and then the put below would be seen.

#ifndef MIODB_COMPACTION_FILTER_VERSION_FILTER_H_
#define MIODB_COMPACTION_FILTER_VERSION_FILTER_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "miodb/status.h"
#include "src/format/value_type.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

class VersionFilter {
 public:
  // snapshots: registered sequences, ascending.
  explicit VersionFilter(std::vector<uint64_t> snapshots) : snapshots_(std::move(snapshots)) {
    CHECK(std::is_sorted(snapshots_.begin(), snapshots_.end()));
  }

  // Whether sequences matter at all. If not, only the newest version of a key is kept.
  bool has_snapshots() const { return !snapshots_.empty(); }

  // Whether a version that is not the newest of its key is visible to a snapshot; newer: of the version just before it.
  bool VisibleBelow(uint64_t sequence, uint64_t newer) const {
    auto it = std::lower_bound(snapshots_.begin(), snapshots_.end(), sequence);
    DCHECK(it == snapshots_.end() || *it >= sequence);
    return it != snapshots_.end() && *it < newer;
  }

  // Whether a snapshot sees a version of this sequence, unless a newer one hides it.
  bool SeenBySnapshot(uint64_t sequence) const { return !snapshots_.empty() && sequence <= snapshots_.back(); }

  // Whether no snapshot is older than a tombstone, so that where nothing older lies deeper it may go.
  bool TombstoneDroppable(uint64_t sequence) const { return snapshots_.empty() || sequence <= snapshots_.front(); }

 private:
  const std::vector<uint64_t> snapshots_;
};

// Judges the versions of one key after the other, from the newest to the oldest.
class VersionJudge {
 public:
  // Whether a put shows its value still.
  enum class Life : uint8_t { kGoesOn, kExpired };

  enum class Verdict : uint8_t {
    kKeep,
    kDrop,
    kHold,      // a single deletion: to be kept, unless the next verdict is kDropBoth
    kDropBoth,  // this put, and the single deletion that is held
  };

  // once: each version is in one place. If it may be in two, a single deletion that went with one of them would
  // leave the other, so single deletions are then as other tombstones.
  VersionJudge(const VersionFilter* filter, bool once) : filter_(filter), once_(once) { CHECK(filter_ != nullptr); }

  void NewKey() {
    newer_ = Newer();
    single_ = Single::kNone;
  }

  // Whether the next Judge wants NewerIs before: with the sequence of the version that was judged last.
  bool WantsNewer() const { return filter_->has_snapshots() && newer_.any && newer_.sequence == 0; }
  void NewerIs(uint64_t sequence) {
    DCHECK(newer_.any && sequence > 0);
    newer_.sequence = sequence;
  }

  // Whether a version of this sequence, 0 if it is not known, may be the next older one. Sequences are a medium's.
  bool MayFollow(uint64_t sequence) const { return !newer_.any || newer_.sequence == 0 || sequence <= newer_.sequence; }

  // Judges the next older version of the key, which may follow. sequence: 0 if it is not known, which does without
  // snapshots, and for a key's newest version that is no tombstone and has not expired. bottom: nothing older than the
  // inputs has the key.
  Verdict Judge(ValueType type, uint64_t sequence, bool bottom, Life life = Life::kGoesOn) {
    DCHECK(IsKnownType(type));
    DCHECK(life == Life::kGoesOn || type == kTypeExpiringValue);
    const bool hides_key = IsTombstone(type) || life == Life::kExpired;
    DCHECK(MayFollow(sequence));
    apart_ = newer_.any && filter_->VisibleBelow(sequence, newer_.sequence);
    if (single_ != Single::kNone) {
      const Single before = single_;
      MoveSingle(type, sequence);
      if (single_ == Single::kPaired && before == Single::kPaired) return Verdict::kDrop;
      if (single_ == Single::kPaired) {
        newer_ = above_held_;  // what is below is hidden by what hid the pair, if anything did
        return Verdict::kDropBoth;
      }
    }
    const Newer newer = newer_;
    const bool hidden = newer.any && !apart_ && (!newer.needs_older || MIODB_MUTATED(kOperandBaseDropped));
    const bool single = type == kTypeSingleDeletion && once_;
    const bool nothing_older = bottom || (single && MIODB_MUTATED(kSingleDeletionEarly)) ||
                               (life == Life::kExpired && MIODB_MUTATED(kExpiredDroppedEarly));
    const bool needless = hides_key && nothing_older && filter_->TombstoneDroppable(sequence);
    const bool keep = (!hidden || (single && !MIODB_MUTATED(kSingleDeletionHidden))) && !needless;
    newer_ = {true, keep && type == kTypeMerge, sequence};
    if (!keep) return Verdict::kDrop;
    if (!single || newer.needs_older) return Verdict::kKeep;
    DCHECK(single_ == Single::kNone);
    single_ = Single::kHeld;
    above_held_ = newer;
    return Verdict::kHold;
  }

  // The version that was judged last is of this type after all.
  void Replace(ValueType type) {
    DCHECK(newer_.any && single_ != Single::kHeld);
    newer_.needs_older = newer_.needs_older && type == kTypeMerge;
  }

  // Whether a snapshot sees the version that was judged last, and not the one before it.
  bool apart() const { return apart_; }

  // Whether a key was put twice before it was deleted by a single deletion: against the contract of that (db.h).
  bool violated() const { return violated_; }

 private:
  struct Newer {
    bool any = false;          // there is a newer version
    bool needs_older = false;  // it is an operand, and kept
    uint64_t sequence = 0;
  };

  // The single deletion above the version that is judged next.
  enum class Single : uint8_t {
    kNone,    // there is none
    kHeld,    // it was judged last, and waits for its put
    kPaired,  // it has gone together with its put, which was judged last
  };

  // The next version of the key comes. A put goes with the single deletion that is held, unless a snapshot tells the
  // two apart. If no snapshot tells a second put apart from the first, the second put goes too.
  void MoveSingle(ValueType type, uint64_t sequence) {
    DCHECK(once_ && single_ != Single::kNone);
    if (single_ == Single::kHeld) {
      const bool pairs = IsPut(type) && (!apart_ || MIODB_MUTATED(kPairAcrossSnapshot));
      if (pairs) pair_sequence_ = sequence;
      single_ = pairs ? Single::kPaired : Single::kNone;
      return;
    }
    const bool second = IsPut(type) && !filter_->VisibleBelow(sequence, pair_sequence_);
    violated_ = violated_ || second;
    single_ = second ? Single::kPaired : Single::kNone;
  }

  const VersionFilter* const filter_;
  const bool once_;
  Newer newer_;
  Newer above_held_;
  bool apart_ = false;
  Single single_ = Single::kNone;
  uint64_t pair_sequence_ = 0;  // of the put that went first
  bool violated_ = false;
};

// Builds with checks end a flush or merge that sees the contract of single deletions violated.
inline constexpr bool kChecksContracts = kChecksWhole;
inline Status PutTwice(const std::string& place) {
  return Status::Corruption(place, "a single deletion met a key that was put more than once");
}

}  // namespace miodb

#endif  // MIODB_COMPACTION_FILTER_VERSION_FILTER_H_
