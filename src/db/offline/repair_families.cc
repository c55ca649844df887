// Decides which keys of column families a repair keeps, and under which names.

#include "src/db/offline/repair_families.h"

#include <algorithm>

#include "src/db/calls/family_calls.h"
#include "src/util/bytes/family_key.h"
#include "src/util/check/check.h"

namespace miodb {

void RepairFamilies::Take(const VersionEdit& found, bool all_are_known) {
  CHECK(names_.empty());
  for (const FamilyEntry& family : found.families) {
    if (!family.dropped()) names_[family.id] = family.name;
  }
  next_family_ = std::max(next_family_, found.next_family);
  all_are_known_ = all_are_known;
  has_families_.store(next_family_ > 1, std::memory_order_relaxed);  // relaxed: one thread
}

Status RepairFamilies::Adopt(FamilyCalls* db) {
  CHECK(db != nullptr);
  std::vector<FamilyEntry> families;
  for (const auto& [id, name] : names_) families.push_back({id, name});
  return next_family_ > 1 ? db->AdoptFamilies(next_family_, families) : Status::OK();
}

Status RepairFamilies::Keeps(const Slice& key, FamilyCalls* db, const ReportProblem& report, bool* keeps) {
  const uint64_t id = FamilyOf(key);
  *keeps = true;
  if (id == kDefaultFamily || names_.count(id) > 0) return Status::OK();
  if (all_are_known_) {
    *keeps = next_family_ == 1;  // a key of the default family, where there is no other
    return Status::OK();
  }
  const std::string name = "lost-" + std::to_string(id);
  report({"column family " + std::to_string(id), "its name is lost; it is called " + name + " now"});
  next_family_ = std::max(next_family_, id + 1);
  has_families_.store(true, std::memory_order_relaxed);  // relaxed: one thread
  Status s = db->AdoptFamilies(next_family_, {{id, name}});
  if (s.ok()) names_[id] = name;
  return s;
}

}  // namespace miodb
