// A range that is added hides all others where it lies, so it takes away the bounds inside it, and the stretches that
// it meets become one with it. Each bound and each stretch is added once and taken away once at the most, so ranges
// cost a search each, however they overlap.

#include "src/api/batch/batch_ranges.h"

#include <iterator>
#include <utility>

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
  AddStretch(begin.ToString(), end.ToString());
}

// The first stretch that the new one meets may begin before it.
void BatchRanges::AddStretch(std::string begin, std::string end) {
  const auto before = stretches_.key_comp();
  auto at = stretches_.upper_bound(begin);
  if (at != stretches_.begin() && !before(std::prev(at)->second, begin)) begin = (--at)->first;
  while (at != stretches_.end() && !before(end, at->first)) {
    if (before(end, at->second)) end = std::move(at->second);
    at = stretches_.erase(at);
  }
  stretches_.emplace_hint(at, std::move(begin), std::move(end));
}

// A key that lies before all bounds is in no range, and neither is one behind all of them: the last bound is an end.
uint32_t BatchRanges::NewestOver(const Slice& key) const {
  const auto over = Over(key);
  return over != held_.end() ? over->second : 0;
}

bool BatchRanges::FindStretch(const Slice& key, Stretch* stretch) const {
  DCHECK(stretch != nullptr);
  auto at = stretches_.upper_bound(key);
  if (at == stretches_.begin() || !stretches_.key_comp()(key, (--at)->second)) return false;
  DCHECK_GT(NewestOver(key), 0u);
  *stretch = {at->first, at->second};
  return true;
}

}  // namespace miodb
