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
// waits meanwhile, and is then refused. Memory is allocated before the edit, and the new handle is taken back if there
// is none, or if the edit fails.
Status Families::Create(const std::string& name, ColumnFamilyHandle** family) {
  DCHECK(family != nullptr);
  *family = nullptr;
  const FamilyGate::Still still(db_.families);
  // A copy that follows makes the new family with the first write to it, and by then has to have dropped an old one of
  // this name.
  Status s = EraseLeft(still);
  if (!s.ok()) return s;
  const MutexLock lock(&mutex_);
  FamilyGate::Closed closed(&db_.families, still);
  s = CheckName(name);
  if (s.ok()) s = CheckFirst();
  if (!s.ok()) return s;
  const uint32_t id = static_cast<uint32_t>(next_family_);
  VersionEdit edit;
  edit.next_family = id + uint64_t{1};
  edit.families.push_back({id, name});
  closed.Open(id);
  s = db_.WithMemory([&] {
    mutex_.AssertHeld();  // for the analysis, which does not see that the call is made at once
    Add(id, name);
    return MIODB_MUTATED(kFamilyUnnamed) ? Status::OK() : Apply(std::move(edit));
  });
  if (!s.ok()) {
    closed.Shut(id);
    if (by_name_.erase(name) > 0) handles_.pop_back();
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

// Step 1. Writes that are inside of the gate end before it closes, and so before the deletion of step 2. Writes before
// the edit, of any family, are durable before it: an open that finds the edit writes the deletion with the next
// sequence, which has to be the one behind these writes.
Status Families::TakeName(ColumnFamilyHandle* family, uint32_t id, const FamilyGate::Still& still) {
  CHECK_NE(id, kDefaultFamily);
  const MutexLock lock(&mutex_);
  FamilyGate::Closed closed(&db_.families, still);
  VersionEdit edit;
  edit.families.push_back({id, ""});
  const auto apply = [&] { return Apply(std::move(edit)); };
  Status s = MIODB_MUTATED(kDropBeforeWrites) ? apply() : parts_.write->Sync(apply);
  if (!s.ok()) return s;
  closed.Shut(id);
  static_cast<FamilyHandle*>(family)->SetDropped();
  CHECK_EQ(by_name_.erase(family->GetName()), 1u);
  return s;
}

// A drop whose second step fails has taken the name away all the same. The next call that makes a family does the
// step, or the next open. Families stand still until the content is deleted: a copy that was made between the two
// steps would delete it by itself when it is opened, and its sequences would not be the source's any more.
Status Families::Drop(ColumnFamilyHandle* family) {
  const FamilyGate::Still still(db_.families);
  uint32_t id;
  Status s = IdOf(family, &id);
  if (s.ok() && id == kDefaultFamily) s = Status::InvalidArgument("column family default", "cannot be dropped");
  if (!s.ok()) return s;
  CHECK(unerased_.insert(id).second);  // before the edit, behind which there may be no memory for it
  s = db_.WithMemory([&] { return TakeName(family, id, still); });
  if (!s.ok()) {
    unerased_.erase(id);
    return s;
  }
  db_.Log("dropped column family %" PRIu32, id);
  return EraseLeft(still);
}

Status Families::EraseLeft(const FamilyGate::Still& still) {
  while (!unerased_.empty()) {
    Status s = Erase(*unerased_.begin(), still);
    if (!s.ok()) return s;
    unerased_.erase(unerased_.begin());
  }
  return Status::OK();
}

// Steps 2 and 3. Synced, so that it is there after every crash after which the edit is, but for modes without a log.
// Without the second edit the id is there until the next open.
Status Families::Erase(uint32_t family, const FamilyGate::Still&) {
  CHECK_NE(family, kDefaultFamily);
  WriteOptions options;
  options.sync = true;
  Status s = parts_.write->EraseFamily(options, family);
  if (s.ok() && db_.HasLog()) {
    const Status forgotten = Forget({family});
    if (!forgotten.ok()) db_.LogStatus("id of a dropped column family", forgotten);
  }
  return s;
}

Status Families::Forget(const std::vector<uint64_t>& ids) {
  if (ids.empty()) return Status::OK();
  VersionEdit edit;
  edit.removed_families = ids;
  return Apply(std::move(edit));
}

// Looks for the deletion of step 2, in the manifest and in the memtables. Nobody writes yet.
bool Families::FindErasure(uint32_t family) {
  const FamilyPrefix begin(family), end(family + 1);
  const auto is_it = [&](const RangeDeletion& range) {
    return Slice(range.begin) == begin.slice() && Slice(range.end) == end.slice();
  };
  const auto has_it = [&](const MemTable& memtable) {
    const std::vector<RangeDeletion> ranges = memtable.ranges().All();
    return std::any_of(ranges.begin(), ranges.end(), is_it);
  };
  const Tree& tree = *parts_.tree;
  const auto& ranges = tree.versions->manifest().ranges;
  return std::any_of(ranges.begin(), ranges.end(), [&](const auto& place) { return is_it(place.second.range); }) ||
         (tree.memtable != nullptr && has_it(*tree.memtable)) ||
         std::any_of(tree.immutables.begin(), tree.immutables.end(), [&](const auto& other) { return has_it(*other); });
}

// Without a log the deletion may be lost, or done by a merge: the content tells.
Status Families::IsErased(uint32_t family, bool* erased) {
  if (db_.HasLog()) {
    DbLock lock(parts_.control);
    *erased = FindErasure(family);
    return Status::OK();
  }
  const std::unique_ptr<Iterator> it(parts_.read->MakeIterator(ReadOptions(), family));
  it->SeekToFirst();
  *erased = !it->Valid();
  return it->status();
}

// A drop that fails here, for want of space above all, is tried again by the next open, and does not make the open
// fail.
void Families::FinishDrops() {
  const FamilyGate::Still still(db_.families);
  std::vector<uint64_t> dropped, erased;
  {
    DbLock lock(parts_.control);
    for (const auto& [id, family] : parts_.tree->versions->manifest().families) {
      if (family.dropped()) dropped.push_back(id);
    }
  }
  const Status s = db_.WithMemory([&] {
    for (const uint64_t id : dropped) {
      bool is_erased = false;
      Status looked = IsErased(static_cast<uint32_t>(id), &is_erased);
      if (!looked.ok()) return looked;
      if (is_erased) {
        erased.push_back(id);
      } else {
        unerased_.insert(static_cast<uint32_t>(id));
      }
    }
    Status done = Forget(erased);
    return done.ok() ? EraseLeft(still) : done;
  });
  if (!s.ok()) db_.LogStatus("content of dropped column families", s);
}

}  // namespace miodb
