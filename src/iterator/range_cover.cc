#include "src/iterator/range_cover.h"

#include <algorithm>

namespace miodb {

// The stretch is what the fragments, or the gaps between fragments, of all sets have in common.
void RangeCover::Find(const Slice& key, Walk walk) {
  DCHECK(any());
  known_ = true;
  walk_ = walk;
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
  for (const RangeSet* set : sets_) {
    const std::vector<RangeFragment>& fragments = set->fragments();
    const size_t i = set->FindEnd(key);
    if (i < fragments.size() && order_.Compare(fragments[i].begin, key) <= 0) {
      newest_ = std::max(newest_, fragments[i].NewestAt(sequence_));
      begins(fragments[i].begin);
      ends(fragments[i].end);
      continue;
    }
    if (i > 0) begins(fragments[i - 1].end);
    if (i < fragments.size()) ends(fragments[i].begin);
  }
  DCHECK(!has_begin_ || order_.Compare(begin_, key) <= 0);
  DCHECK(!has_end_ || order_.Compare(key, end_) < 0);
}

}  // namespace miodb
