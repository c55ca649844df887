// Extents in a sorted vector, found by binary search, after a look at the one that was found last: entries of one table
// that follow each other often lie in the same extent. Those of several tables in turn do not, and where they lie
// nobody can guess, the processor neither: the search has no branch that depends on it.

#include "compaction/payload_tracker.h"

#include <algorithm>

#include "src/util/last_where.h"

namespace miodb {

// The same extent may come from each table that shares it. Another extent over the same space would be a second owner.
void PayloadTracker::AddExtent(const ExtentRef& extent) {
  CHECK(extent != nullptr);
  const PmRef begin = extent->offset();
  const auto place = std::lower_bound(begins_.begin(), begins_.end(), begin);
  const auto at = slots_.begin() + (place - begins_.begin());
  if (place != begins_.end() && *place == begin) {
    CHECK(at->extent == extent);  // space has one owner, whom all share
    return;
  }
  CHECK(place == begins_.end() || extent->end() <= *place);
  CHECK(at == slots_.begin() || std::prev(at)->extent->end() <= begin);
  slots_.insert(at, Slot{extent, 0});
  begins_.insert(place, begin);
  last_ = 0;
}

// A reference comes from an index, so it may lie nowhere. That is an answer, not an assertion.
Extent* PayloadTracker::Find(PmRef ref) {
  if (last_ < slots_.size() && slots_[last_].extent->Contains(ref)) return slots_[last_].extent.get();
  if (begins_.empty()) return nullptr;
  const size_t i = LastWhere(begins_.size(), [&](size_t slot) { return begins_[slot] <= ref; });
  if (!slots_[i].extent->Contains(ref)) return nullptr;
  last_ = i;
  return slots_[i].extent.get();
}

// Run at every Take in debug builds and simulators.
void PayloadTracker::Check() const {
  uint64_t live = 0;
  PmRef end = 0;
  CHECK_EQ(begins_.size(), slots_.size());
  for (size_t i = 0; i < slots_.size(); i++) {
    CHECK_EQ(begins_[i], slots_[i].extent->offset());
    CHECK_LE(end, begins_[i]);
    end = slots_[i].extent->end();
    live += slots_[i].live;
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
