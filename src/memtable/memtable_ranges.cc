#include "src/memtable/memtable_ranges.h"

namespace miodb {

// Each Add makes a new view and publishes it by one store; readers take whichever view is there, without a lock. Old
// views stay until the memtable goes, since a reader may hold any of them. A view has two sets: the newest few, which
// are cut into fragments anew by each Add, and all others, which are when the few have become too many.

// No read is told apart from another here, so all sequences are kept. The view is whole before it is published, and the
// sequence that makes the range visible is published after it.
void MemTableRanges::Add(const KeyOrder& order, const Slice& begin, const Slice& end, uint64_t sequence) {
  auto view = std::make_unique<View>();
  const View* const last = view_.load(std::memory_order_relaxed);  // relaxed: the adder's own
  if (order.Compare(begin, end) >= 0) {
    if (last == nullptr) Publish(std::move(view));
    return;
  }
  DCHECK(newest_.empty() || newest_.back().sequence < sequence);
  newest_.push_back({begin.ToString(), end.ToString(), sequence});
  if (last != nullptr) view->most = last->most;
  if (newest_.size() > kMostNewest) {
    most_.insert(most_.end(), newest_.begin(), newest_.end());
    newest_.clear();
    view->most = RangeSet::Make(order, most_, nullptr);
  } else {
    view->newest = RangeSet::Make(order, newest_, nullptr);
  }
  const size_t bytes = sizeof(View) + (newest_.empty() ? view->most : view->newest)->memory_bytes();
  bytes_.store(memory_bytes() + bytes, std::memory_order_relaxed);  // relaxed: a figure
  Publish(std::move(view));
}

void MemTableRanges::Publish(std::unique_ptr<const View> view) {
  DCHECK(view != nullptr);
  views_.push_back(std::move(view));
  view_.store(views_.back().get(), std::memory_order_release);  // release: pairs with the acquire of readers
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
  DCHECK_LE(newest_.size(), kMostNewest);
  all.insert(all.end(), newest_.begin(), newest_.end());
  return all;
}

}  // namespace miodb
