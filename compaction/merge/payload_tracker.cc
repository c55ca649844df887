// The slot found last is looked at first: entries of one table that follow each other often lie in the same extent, and
// an entry that was found is accounted next. A copy lies in the extent that was added last.

#include "compaction/merge/payload_tracker.h"

#include <algorithm>
#include <utility>

namespace miodb {

// Sorted by pairs of numbers and pointers, so that a reference is counted once for each extent and not for each table.
void PayloadTracker::Know(const std::vector<const ExtentRef*>& extents) {
  CHECK(live_ == 0 && touched_.empty());
  std::vector<std::pair<PmRef, const ExtentRef*>> sorted;
  sorted.reserve(extents.size());
  CHECK(std::find(extents.begin(), extents.end(), nullptr) == extents.end());
  for (const ExtentRef* extent : extents) sorted.emplace_back((*extent)->offset(), extent);
  std::sort(sorted.begin(), sorted.end());
  slots_.clear();
  std::vector<PayloadBounds::Bounds> bounds;
  for (const auto& [offset, extent] : sorted) {
    if (!slots_.empty() && slots_.back().extent->offset() == offset) {
      CHECK(slots_.back().extent == *extent);  // space has one owner, whom all share
      continue;
    }
    slots_.push_back({*extent, 0});
    bounds.push_back({offset, (*extent)->end()});
  }
  CHECK_EQ(bounds.size(), slots_.size());
  bounds_.Set(std::move(bounds));  // which checks that they lie apart
  known_ = slots_.size();
  last_ = 0;
}

// A second owner of the same space would lie in it.
void PayloadTracker::AddExtent(const ExtentRef& extent) {
  CHECK(extent != nullptr && extent->size() > 0);
  if (kChecksWhole) CHECK(Find(extent->offset()) == nullptr && Find(extent->end() - 1) == nullptr);
  slots_.push_back({extent, 0});
  last_ = slots_.size() - 1;
}

// A reference comes from an index, so it may lie nowhere. The answer is then nullptr, not an assertion.
Extent* PayloadTracker::Find(PmRef ref) {
  if (last_ < slots_.size() && slots_[last_].extent->Contains(ref)) return slots_[last_].extent.get();
  for (size_t i = slots_.size(); i-- > known_;) {
    if (slots_[i].extent->Contains(ref)) return slots_[last_ = i].extent.get();
  }
  const size_t i = known_ == 0 ? PayloadBounds::kNone : bounds_.IndexOf(ref);
  if (i == PayloadBounds::kNone) return nullptr;
  DCHECK_LT(i, known_);
  return slots_[last_ = i].extent.get();
}

// Run at every Take in debug builds and simulators.
void PayloadTracker::Check() const {
  uint64_t live = 0;
  size_t touched = 0;
  CHECK_LE(known_, slots_.size());
  for (size_t i = 0; i < slots_.size(); i++) {
    CHECK(i == 0 || i >= known_ || slots_[i - 1].extent->end() <= slots_[i].extent->offset());
    live += slots_[i].live;
    touched += slots_[i].live > 0;
  }
  CHECK_EQ(live, live_);
  CHECK_EQ(touched, touched_.size());
  CHECK(slots_.empty() || last_ < slots_.size());
}

// An extent that no entry referred to is left out: the table must not keep its space.
std::vector<PayloadRef> PayloadTracker::Take() {
  if (kChecksWhole) Check();
  std::vector<PayloadRef> result;
  result.reserve(touched_.size());
  for (const size_t i : touched_) {
    DCHECK_GT(slots_[i].live, 0u);
    result.push_back({slots_[i].extent, slots_[i].live});
    live_ -= slots_[i].live;
    slots_[i].live = 0;
  }
  CHECK_EQ(live_, 0u);
  touched_.clear();
  slots_.resize(known_);
  last_ = 0;
  std::ranges::sort(result, {}, [](const PayloadRef& part) { return part.extent->offset(); });
  return result;
}

}  // namespace miodb
