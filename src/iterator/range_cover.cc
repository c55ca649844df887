#include "src/iterator/range_cover.h"

#include <algorithm>

// The keys fall into stretches, in each of which every key is hidden by the same deletions. A walk asks for key after
// key, so the answer for the stretch is kept with its bounds, and the next key is compared with the bound that the walk
// comes to. Only behind that bound the sets are asked: first in the fragments that come next, then by a search.

namespace miodb {

// A walk that leaves a stretch is nearly always in one of the next.
size_t RangeCover::FindEnd(size_t i, const Slice& key, Walk walk) const {
  constexpr size_t kNear = 2;
  const std::vector<RangeFragment>& fragments = sets_[i]->fragments();
  DCHECK_LE(places_[i], fragments.size());
  for (size_t place = places_[i]; known_ && walk == Walk::kForward && place < fragments.size(); place++) {
    if (order_.Compare(key, fragments[place].end) < 0) return place;
    if (place == places_[i] + kNear) break;
  }
  return sets_[i]->FindEnd(key);
}

// The stretch is what the fragments, or the gaps between fragments, of all sets have in common.
void RangeCover::Find(const Slice& key, Walk walk) {
  DCHECK(any());
  known_ = known_ && walk == walk_;
  newest_ = 0;
  has_begin_ = has_end_ = false;
  const auto begins = [this](const Slice& bound) {
    if (!has_begin_ || order_.Compare(bound, begin_) > 0) begin_ = bound;
    has_begin_ = true;
  };
  const auto ends = [this](const Slice& bound) {
    if (!has_end_ || order_.Compare(bound, end_) < 0) end_ = bound;
    has_end_ = true;
  };
  for (size_t s = 0; s < sets_.size(); s++) {
    const std::vector<RangeFragment>& fragments = sets_[s]->fragments();
    const size_t i = places_[s] = FindEnd(s, key, walk);
    if (i < fragments.size() && order_.Compare(fragments[i].begin, key) <= 0) {
      newest_ = std::max(newest_, fragments[i].NewestAt(sequence_));
      begins(fragments[i].begin);
      ends(fragments[i].end);
      continue;
    }
    if (i > 0) begins(fragments[i - 1].end);
    if (i < fragments.size()) ends(fragments[i].begin);
  }
  known_ = true;
  walk_ = walk;
  DCHECK(!has_begin_ || order_.Compare(begin_, key) <= 0);
  DCHECK(!has_end_ || order_.Compare(key, end_) < 0);
}

}  // namespace miodb
