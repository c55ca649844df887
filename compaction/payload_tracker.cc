#include "compaction/payload_tracker.h"

#include <algorithm>

namespace miodb {

void PayloadTracker::AddExtent(const ExtentRef& extent) {
  const PmRef begin = extent->offset();
  auto at = std::lower_bound(slots_.begin(), slots_.end(), begin, [](const Slot& s, PmRef b) { return s.begin < b; });
  if (at != slots_.end() && at->begin == begin) return;
  slots_.insert(at, Slot{begin, extent, 0});
  last_ = 0;
}

Extent* PayloadTracker::Find(PmRef ref) {
  if (last_ < slots_.size() && slots_[last_].extent->Contains(ref)) return slots_[last_].extent.get();
  auto after = std::upper_bound(slots_.begin(), slots_.end(), ref, [](PmRef r, const Slot& s) { return r < s.begin; });
  if (after == slots_.begin()) return nullptr;
  const size_t i = static_cast<size_t>(after - slots_.begin()) - 1;
  if (!slots_[i].extent->Contains(ref)) return nullptr;
  last_ = i;
  return slots_[i].extent.get();
}

std::vector<PayloadRef> PayloadTracker::Take() {
  std::vector<PayloadRef> result;
  for (Slot& slot : slots_) {
    if (slot.live > 0) result.push_back({slot.extent, slot.live});
    slot.live = 0;
  }
  return result;
}

}  // namespace miodb
