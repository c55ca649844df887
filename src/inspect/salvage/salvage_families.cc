// The column families of a damaged pool.

#include <algorithm>
#include <map>

#include "src/inspect/salvage/salvage.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// The younger of two families with one name has it: the other was dropped before, by an edit that cannot be read.
void Believe(const FamilyEntry& family, std::map<uint64_t, FamilyEntry>* families) {
  FamilyEntry& known = (*families)[family.id];
  known = family;
  for (auto& [id, other] : *families) {
    if (known.dropped() || id == family.id || other.name != known.name) continue;
    FamilyEntry& older = id < family.id ? other : known;
    older.name.clear();
  }
}

}  // namespace

// Without a whole manifest, what any edit says of a family is believed, the oldest area's first: a name is worth
// keeping even if it may be of a family that was dropped since.
void Salvage::FindFamilies() {
  CHECK(families_.families.empty());
  ManifestState found;
  if (manifest_ == nullptr) {
    ForEachEdit([&](const ManifestImage&, const ManifestImage::Record& record) {
      found.next_family = std::max(found.next_family, record.edit.next_family);
      for (const FamilyEntry& family : record.edit.families) Believe(family, &found.families);
      for (const uint64_t id : record.edit.removed_families) Believe({id, ""}, &found.families);
    });
  } else {
    found.next_family = manifest_->state.next_family;
    found.families = manifest_->state.families;
  }
  families_.next_family = found.next_family;
  for (const auto& [id, family] : found.families) families_.families.push_back(family);
  has_families_->store(found.has_families(), std::memory_order_relaxed);  // relaxed: one thread
}

}  // namespace miodb
