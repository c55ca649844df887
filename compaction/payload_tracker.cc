// Extents in a sorted vector, found by binary search, after a look at the one that was found last: entries of one table
// that follow each other often lie in the same extent.

#include "compaction/payload_tracker.h"

#include <algorithm>

namespace miodb {

// The same extent may come from each table that shares it. Another extent over the same space would be a second owner.
void PayloadTracker::AddExtent(const ExtentRef& extent) {
  CHECK(extent != nullptr);
  const PmRef begin = extent->offset();
  auto at = std::lower_bound(slots_.begin(), slots_.end(), begin, [](const Slot& s, PmRef b) { return s.begin < b; });
  if (at != slots_.end() && at->begin == begin) {
    CHECK(at->extent == extent);  // space has one owner, whom all share
    return;
  }
  CHECK(at == slots_.end() || extent->end() <= at->begin);
  CHECK(at == slots_.begin() || std::prev(at)->extent->end() <= begin);
  slots_.insert(at, Slot{begin, extent, 0});
  last_ = 0;
}

// A reference comes from an index, so it may lie nowhere. That is an answer, not an assertion.
Extent* PayloadTracker::Find(PmRef ref) {
  if (last_ < slots_.size() && slots_[last_].extent->Contains(ref)) return slots_[last_].extent.get();
  auto after = std::upper_bound(slots_.begin(), slots_.end(), ref, [](PmRef r, const Slot& s) { return r < s.begin; });
  if (after == slots_.begin()) return nullptr;
  const size_t i = static_cast<size_t>(after - slots_.begin()) - 1;
  if (!slots_[i].extent->Contains(ref)) return nullptr;
  last_ = i;
  return slots_[i].extent.get();
}

// Run at every Take in debug builds and simulators.
void PayloadTracker::Check() const {
  uint64_t live = 0;
  PmRef end = 0;
  for (const Slot& slot : slots_) {
    CHECK_EQ(slot.begin, slot.extent->offset());
    CHECK_LE(end, slot.begin);
    end = slot.extent->end();
    live += slot.live;
  }
  CHECK_EQ(live, live_);
  CHECK_LE(last_, slots_.size());
}

// Extents stay known for the next table; only the account begins anew. One that no entry referred to is left out: the
// table must not keep its space.
std::vector<PayloadRef> PayloadTracker::Take() {
  if (kChecksWhole) Check();
  std::vector<PayloadRef> result;
  for (Slot& slot : slots_) {
    if (slot.live == 0) continue;
    result.push_back({slot.extent, slot.live});
    live_ -= slot.live;
    slot.live = 0;
  }
  CHECK_EQ(live_, 0u);
  return result;
}

}  // namespace miodb
