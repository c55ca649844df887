#include "src/memtable/memtable_ranges.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace miodb {

// Each Show makes a new view and publishes it by one store; readers take whichever view is there, without a lock. Old
// views stay until the memtable goes, since a reader may hold any of them. A view has two sets: the newest few, which
// are cut into fragments anew by each Show, and all others, which are when the few have become too many. So a group of
// any number of ranges costs one set of all, in time and in memory.

void MemTableRanges::Add(const KeyOrder& order, const Slice& begin, const Slice& end, uint64_t sequence) {
  if (order.Compare(begin, end) >= 0) {
    all_shown_ = all_shown_ && view() != nullptr;
    return;
  }
  DCHECK(newest_.empty() || newest_.back().sequence < sequence);
  newest_.push_back({begin.ToString(), end.ToString(), sequence});
  all_shown_ = false;
}

// The view is whole before it is published, and the sequence that makes its ranges visible is published after it. Of
// ranges of the same keys in one group the last is all that a read can see, since no read has a sequence inside of a
// group; which of the groups' ends reads have is not known here, so all of them count as snapshots.
void MemTableRanges::MakeView(const KeyOrder& order) {
  auto view = std::make_unique<View>();
  const View* const last = view_.load(std::memory_order_relaxed);  // relaxed: the adder's own
  if (!newest_.empty() && (ends_.empty() || ends_.back() < newest_.back().sequence)) {
    ends_.push_back(newest_.back().sequence);
  }
  if (newest_.size() > kMostNewest) {
    most_.reserve(most_.size() + newest_.size());
    std::move(newest_.begin(), newest_.end(), std::back_inserter(most_));
    newest_.clear();
  }
  size_t bytes = sizeof(View);
  if (most_shown_ < most_.size()) {
    view->most = RangeSet::Make(order, most_, &ends_);
    bytes += view->most->memory_bytes();
  } else if (last != nullptr) {
    view->most = last->most;
  }
  if (!newest_.empty()) {
    view->newest = RangeSet::Make(order, newest_, &ends_);
    bytes += view->newest->memory_bytes();
  }
  views_.push_back(std::move(view));
  view_.store(views_.back().get(), std::memory_order_release);      // release: pairs with the acquire of readers
  bytes_.store(memory_bytes() + bytes, std::memory_order_relaxed);  // relaxed: a figure
  most_shown_ = most_.size();
  all_shown_ = true;
}

void MemTableRanges::AppendTo(std::vector<const RangeSet*>* sets) const {
  const View* const v = view();
  DCHECK(sets != nullptr);
  if (v == nullptr) return;
  for (const RangeSetRef& set : {v->most, v->newest}) {
    if (set != nullptr) sets->push_back(set.get());
  }
}

std::vector<RangeDeletion> MemTableRanges::All() const {
  std::vector<RangeDeletion> all = most_;
  DCHECK(newest_.size() <= kMostNewest || !all_shown_);
  all.insert(all.end(), newest_.begin(), newest_.end());
  return all;
}

}  // namespace miodb
