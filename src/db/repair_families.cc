// Column families in a repair: the new database gets those of the damaged one, under the ids and names that they had.
// A key says which family has it by its id. Of a family whose id is known for a dropped one nothing is kept. Where the
// manifest is not whole, a family that only keys tell of gets a name made of its id.

#include "src/db/db_impl.h"
#include "src/db/repairer.h"
#include "src/util/family_key.h"

namespace miodb {

void Repairer::TakeFamilies(const VersionEdit& found, bool all_are_known) {
  for (const FamilyEntry& family : found.families) {
    if (!family.dropped()) families_[family.id] = family.name;
  }
  next_family_ = std::max(next_family_, found.next_family);
  all_families_known_ = all_are_known;
  has_families_.store(next_family_ > 1, std::memory_order_relaxed);  // relaxed: one thread
}

// Before the first key of one is written.
Status Repairer::AdoptFamilies(DBImpl* db) {
  std::vector<FamilyEntry> families;
  for (const auto& [id, name] : families_) families.push_back({id, name});
  return next_family_ > 1 ? db->AdoptFamilies(next_family_, families) : Status::OK();
}

Status Repairer::KeepsKey(const Slice& key, DBImpl* db, bool* keeps) {
  const uint64_t id = FamilyOf(key);
  *keeps = true;
  if (id == kDefaultFamily || families_.count(id) > 0) return Status::OK();
  if (all_families_known_) {
    *keeps = next_family_ == 1;  // a key of the default one, which has no others
    return Status::OK();
  }
  const std::string name = "lost-" + std::to_string(id);
  Report({"column family " + std::to_string(id), "its name is lost; it is called " + name + " now"});
  next_family_ = std::max(next_family_, id + 1);
  has_families_.store(true, std::memory_order_relaxed);  // relaxed: one thread
  Status s = db->AdoptFamilies(next_family_, {{id, name}});
  if (s.ok()) families_[id] = name;
  return s;
}

}  // namespace miodb
