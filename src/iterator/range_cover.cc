#include "src/iterator/range_cover.h"

#include <algorithm>

// The keys fall into stretches, in each of which every key is hidden by the same deletions. A walk asks for key after
// key, so the answer for the stretch is kept with its bounds, and the next key is compared with the bound that the walk
// comes to. Only behind that bound the sets are asked: first in the fragments that come next, then by a search.

namespace miodb {

// A walk that leaves a stretch is nearly always in one of the next. A key on the other side of it, which only damage
// brings, is searched for. Behind a step the key is known to lie on the side to which the walk goes.
size_t RangeCover::CountBounds(const Source& source, const Slice& key, Walk walk) const {
  constexpr size_t kNear = 4;
  const RangeSet& set = *source.set;
  size_t at = source.place;
  DCHECK_LE(at, set.bounds());
  if (!known_ || walk != walk_) return set.CountBounds(key);
  const size_t steps = std::min(kNear, walk == Walk::kForward ? set.bounds() - at : at);
  for (size_t step = 0; step < steps; step++) {
    if (walk == Walk::kForward ? set.IsBefore(key, at) : !set.IsBefore(key, at - 1)) {
      const bool goes_on = step > 0 || (walk == Walk::kForward ? at == 0 || !set.IsBefore(key, at - 1)
                                                               : at == set.bounds() || set.IsBefore(key, at));
      return goes_on ? at : set.CountBounds(key);
    }
    at = walk == Walk::kForward ? at + 1 : at - 1;
  }
  return set.CountBounds(key);
}

// The stretch is what the fragments, or the gaps between fragments, of all sets have in common.
void RangeCover::Find(const Slice& key, Walk walk) {
  DCHECK(any());
  newest_ = 0;
  begin_ = end_ = Bound();
  for (Source& source : sets_) {
    const RangeSet& set = *source.set;
    const size_t at = source.place = CountBounds(source, key, walk);
    if (at % 2 != 0) newest_ = std::max(newest_, set.fragments()[at / 2].NewestAt(sequence_));
    if (at > 0 && (begin_.set == nullptr || order_->Compare(set.bound(at - 1), begin_.key()) > 0)) {
      begin_ = {&set, at - 1};
    }
    if (at < set.bounds() && (end_.set == nullptr || order_->Compare(set.bound(at), end_.key()) < 0)) {
      end_ = {&set, at};
    }
  }
  known_ = true;
  walk_ = walk;
  DCHECK(begin_.set == nullptr || order_->Compare(begin_.key(), key) <= 0);
  DCHECK(end_.set == nullptr || order_->Compare(key, end_.key()) < 0);
}

}  // namespace miodb
