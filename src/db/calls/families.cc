// Column families: what there is of them besides keys.

#include "src/db/calls/families.h"

#include <algorithm>
#include <cinttypes>
#include <utility>

#include "src/util/check/mutation.h"

namespace miodb {

Families::Families(DbContext& db, const Parts& parts) : FamilyHandles(db, parts.read), db_(db), parts_(parts) {
  CHECK(parts.control != nullptr && parts.tree != nullptr && parts.floor != nullptr && parts.write != nullptr);
}

// Ids that were dropped are not among the open ones, so nobody writes to them.
void Families::Begin() {
  const FamilyGate::Still still(db_.families);
  const MutexLock lock(&mutex_);
  FamilyGate::Closed closed(&db_.families, still);
  DbLock db_lock(parts_.control);
  const ManifestState& manifest = parts_.tree->versions->manifest();
  CHECK_EQ(manifest.has_families(), db_.families.HasFamilies());
  next_family_ = manifest.next_family;
  for (const auto& [id, family] : manifest.families) {
    if (family.dropped()) continue;
    closed.Open(static_cast<uint32_t>(id));
    Add(static_cast<uint32_t>(id), family.name);
  }
}

// With a volatile pool the families outlive it in STORE, which is written first.
Status Families::Apply(VersionEdit edit) {
  DbLock lock(parts_.control);
  Status s = parts_.control->error();
  if (s.ok()) s = parts_.floor->MakeFilesDurable(edit);
  if (!s.ok()) return s;
  s = parts_.tree->Apply(std::move(edit), {});
  if (!s.ok() && !s.IsNoSpace()) parts_.control->SetError(s);
  return s;
}

// Nobody can have written any such key without the manifest's word for it, so an open does not look.
Status Families::CheckFirst() {
  if (db_.families.HasFamilies()) return Status::OK();
  if (!db_.order.bytewise()) {
    DbLock lock(parts_.control);
    // A view that is open shares the pool.
    if (!parts_.tree->versions->savepoints().empty() || db_.pool.use_count() > 1) {
      return Status::InvalidArgument(
          db_.name,
          "has savepoints, or views of some, from before its first column family, which changes the order "
          "of some keys under its comparator: drop them first");
    }
  }
  bool has = false;
  Status s = parts_.read->HasKeysWith(FamiliesBegin(), &has);
  if (!s.ok() || !has) return s;
  return Status::InvalidArgument(db_.name,
                                 "has keys, or deletions that no merge has dropped yet, which begin with the bytes of "
                                 "column families' keys: delete them and call CompactRange");
}

// A name that exists is refused also for the default family, which has no entry among the names. Ids are never given
// twice, so there is an end to them, whether or not the families that had them were dropped.
Status Families::CheckName(const std::string& name) const {
  if (name.empty() || name.size() > kMostFamilyName) {
    return Status::InvalidArgument("name of a column family",
                                   "has " + std::to_string(name.size()) + " bytes, and must have 1 to 1024");
  }
  if (name == kDefaultFamilyName || by_name_.count(name) > 0) {
    return Status::InvalidArgument("column family " + name, "exists");
  }
  if (next_family_ > kMostFamilyId) return Status::InvalidArgument("column family " + name, "all ids were given");
  return Status::OK();
}

// The gate is closed from the look at the default family's keys until the first family is there: a writer of such a key
// waits meanwhile, and is then refused. Memory is allocated before the edit, and the new handle is taken back if the
// edit fails.
Status Families::Create(const std::string& name, ColumnFamilyHandle** family) {
  *family = nullptr;
  const FamilyGate::Still still(db_.families);
  const MutexLock lock(&mutex_);
  FamilyGate::Closed closed(&db_.families, still);
  Status s = CheckName(name);
  if (s.ok()) s = CheckFirst();
  if (!s.ok()) return s;
  const uint32_t id = static_cast<uint32_t>(next_family_);
  VersionEdit edit;
  edit.next_family = id + uint64_t{1};
  edit.families.push_back({id, name});
  Add(id, name);
  closed.Open(id);
  if (!MIODB_MUTATED(kFamilyUnnamed)) s = Apply(std::move(edit));
  if (!s.ok()) {
    closed.Shut(id);
    by_name_.erase(name);
    handles_.pop_back();
    return s;
  }
  next_family_++;
  CHECK_LE(next_family_, uint64_t{kMostFamilyId} + 1);
  db_.families.SetHasFamilies();
  *family = handles_.back().get();
  db_.Log("made column family %" PRIu32, id);
  return s;
}

// The edit comes before the gate opens, so no write of a family can be under way before the manifest has its id.
Status Families::Adopt(uint64_t next_family, const std::vector<FamilyEntry>& families) {
  const FamilyGate::Still still(db_.families);
  const MutexLock lock(&mutex_);
  FamilyGate::Closed closed(&db_.families, still);
  CHECK_LE(next_family_, next_family);
  CHECK_GT(next_family, 1u);
  VersionEdit edit;
  edit.next_family = next_family;
  edit.families = families;
  Status s = Apply(std::move(edit));
  if (!s.ok()) return s;
  next_family_ = next_family;
  db_.families.SetHasFamilies();
  for (const FamilyEntry& family : families) {
    closed.Open(static_cast<uint32_t>(family.id));
    Add(static_cast<uint32_t>(family.id), family.name);
  }
  return s;
}

// Step 1. Writes that are inside of the gate end before it closes, and so before the deletion of step 2.
Status Families::TakeName(ColumnFamilyHandle* family, uint32_t id, const FamilyGate::Still& still) {
  CHECK_NE(id, kDefaultFamily);
  const MutexLock lock(&mutex_);
  FamilyGate::Closed closed(&db_.families, still);
  VersionEdit edit;
  edit.families.push_back({id, ""});
  Status s = Apply(std::move(edit));
  if (!s.ok()) return s;
  closed.Shut(id);
  static_cast<FamilyHandle*>(family)->SetDropped();
  CHECK_EQ(by_name_.erase(family->GetName()), 1u);
  return s;
}

// A drop whose second step fails has taken the name away all the same, and the next open deletes the content once more.
// Families stand still until the content is deleted: a copy that was made between the two steps would delete it by
// itself when it is opened, and its sequences would not be the source's any more.
Status Families::Drop(ColumnFamilyHandle* family) {
  const FamilyGate::Still still(db_.families);
  uint32_t id;
  Status s = IdOf(family, &id);
  if (s.ok() && id == kDefaultFamily) s = Status::InvalidArgument("column family default", "cannot be dropped");
  if (s.ok()) s = TakeName(family, id, still);
  if (!s.ok()) return s;
  db_.Log("dropped column family %" PRIu32, id);
  return Erase(id);
}

// Synced, so that it is there after every crash after which the edit is, but for modes without a log.
Status Families::Erase(uint32_t family) {
  CHECK_NE(family, kDefaultFamily);
  WriteOptions options;
  options.sync = true;
  return parts_.write->EraseFamily(options, family);
}

// A drop that fails here, for want of space above all, is tried again by the next open, and does not make the open
// fail.
void Families::FinishDrops() {
  std::vector<uint64_t> dropped;
  {
    DbLock lock(parts_.control);
    for (const auto& [id, family] : parts_.tree->versions->manifest().families) {
      if (family.dropped()) dropped.push_back(id);
    }
  }
  const Status s = db_.WithMemory([&] {
    VersionEdit edit;
    for (const uint64_t id : dropped) {
      const std::unique_ptr<Iterator> it(parts_.read->MakeIterator(ReadOptions(), static_cast<uint32_t>(id)));
      it->SeekToFirst();
      if (!it->Valid() && it->status().ok()) {
        edit.removed_families.push_back(id);
        continue;
      }
      Status erased = it->status().ok() ? Erase(static_cast<uint32_t>(id)) : it->status();
      if (!erased.ok()) return erased;
    }
    return edit.removed_families.empty() ? Status::OK() : Apply(std::move(edit));
  });
  if (!s.ok()) db_.LogStatus("content of dropped column families", s);
}

}  // namespace miodb
