// A range that is added hides all others where it lies, so it takes away the bounds inside it. Each bound is added once
// and taken away once at the most, so ranges cost a search each, however they overlap.

#include "src/api/batch/batch_ranges.h"

#include <iterator>

#include "src/util/check/check.h"

namespace miodb {

// The stretch of a key begins at the last bound that is not behind the key.
BatchRanges::Held::const_iterator BatchRanges::Over(const Slice& key) const {
  const auto behind = held_.upper_bound(key);
  return behind == held_.begin() ? held_.end() : std::prev(behind);
}

// Behind the new range the stretch that held at its end goes on.
void BatchRanges::Add(const Slice& begin, const Slice& end, uint32_t updates) {
  DCHECK(held_.key_comp()(begin, end));
  DCHECK_GT(updates, 0u);
  const uint32_t behind = NewestOver(end);
  DCHECK_LT(behind, updates);
  const auto last = held_.emplace(end.ToString(), behind).first;
  held_.erase(held_.lower_bound(begin), last);
  held_.emplace_hint(last, begin.ToString(), updates);
  DCHECK_EQ(std::prev(held_.end())->second, 0u);
}

// A key that lies before all bounds is in no range, and neither is one behind all of them: the last bound is an end.
uint32_t BatchRanges::NewestOver(const Slice& key) const {
  const auto over = Over(key);
  return over != held_.end() ? over->second : 0;
}

// Ranges that meet are one stretch.
bool BatchRanges::FindStretch(const Slice& key, Stretch* stretch) const {
  DCHECK(stretch != nullptr);
  auto first = Over(key);
  if (first == held_.end() || first->second == 0) return false;
  auto behind = std::next(first);
  while (behind->second != 0) ++behind;
  while (first != held_.begin() && std::prev(first)->second != 0) --first;
  *stretch = {first->first, behind->first};
  return true;
}

}  // namespace miodb
