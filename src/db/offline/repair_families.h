// RepairFamilies: column families in a repair (repair.cc). The new database gets those of the damaged one, under the
// ids and names that they had. A key says which family has it by its id. If an id is known to be that of a dropped
// family, nothing of the family is kept. Where the manifest is not whole, a family that only keys tell of gets a name
// made of its id.
//
// Threads: one. Errors: what the new database says.

#ifndef MIODB_SRC_DB_OFFLINE_REPAIR_FAMILIES_H_
#define MIODB_SRC_DB_OFFLINE_REPAIR_FAMILIES_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "src/format/problem.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

class FamilyCalls;

class RepairFamilies {
 public:
  // The flag that the order of keys goes by (util/bytes/key_order.h).
  std::atomic<bool>* has_families() { return &has_families_; }

  // Takes the families that were found. all_are_known: the manifest is whole, and ids that it does not name are those
  // of dropped families.
  void Take(const VersionEdit& found, bool all_are_known);

  // The new database gets them. Before the first key of one is written.
  Status Adopt(FamilyCalls* db);

  // Whether the key is kept. Makes its family, if nothing is known of that.
  Status Keeps(const Slice& key, FamilyCalls* db, const ReportProblem& report, bool* keeps);

 private:
  std::atomic<bool> has_families_{false};
  std::map<uint64_t, std::string> names_;  // of those to keep
  uint64_t next_family_ = 1;
  bool all_are_known_ = true;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_OFFLINE_REPAIR_FAMILIES_H_
