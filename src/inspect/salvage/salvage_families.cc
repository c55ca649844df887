// The column families of a damaged pool.

#include <algorithm>

#include "src/inspect/salvage/salvage.h"
#include "src/util/check/check.h"

namespace miodb {

// Without a whole manifest, what any edit says of a family is believed, the oldest area's first: a name is worth
// keeping even if it may be of a family that was dropped since.
void Salvage::FindFamilies() {
  CHECK(families_.families.empty());
  ManifestState found;
  const auto add = [&](const ManifestImage& area) {
    for (const ManifestImage::Record& record : area.records) {
      if (!record.decoded) continue;
      VersionEdit edit;
      edit.next_family = std::max(found.next_family, record.edit.next_family);
      edit.families = record.edit.families;
      found.Apply(edit).IgnoreError();  // of two that have one name the older
    }
  };
  if (manifest_ == nullptr) {
    std::vector<const ManifestImage*> oldest_first;
    for (const ManifestImage& area : areas_) oldest_first.push_back(&area);
    std::sort(oldest_first.begin(), oldest_first.end(),
              [](const ManifestImage* a, const ManifestImage* b) { return a->epoch < b->epoch; });
    for (const ManifestImage* area : oldest_first) add(*area);
  } else {
    found.next_family = manifest_->state.next_family;
    found.families = manifest_->state.families;
  }
  families_.next_family = found.next_family;
  for (const auto& [id, family] : found.families) families_.families.push_back(family);
  has_families_->store(found.has_families(), std::memory_order_relaxed);  // relaxed: one thread
}

}  // namespace miodb
