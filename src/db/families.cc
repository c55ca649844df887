// Column families: what there is of them besides keys.

#include "src/db/families.h"

#include <algorithm>
#include <cinttypes>
#include <utility>

#include "src/util/mutation.h"

namespace miodb {

Families::Families(DbContext& db, const Parts& parts)
    : db_(db), parts_(parts), default_family_(this, kDefaultFamily, kDefaultFamilyName) {
  CHECK(parts.control != nullptr && parts.tree != nullptr && parts.floor != nullptr);
  CHECK(parts.write != nullptr && parts.read != nullptr);
}

void Families::AddHandle(uint32_t id, const std::string& name) {
  CHECK(id != kDefaultFamily && id <= kMostFamilyId);
  handles_.push_back(std::make_unique<FamilyHandle>(this, id, name));
  CHECK(by_name_.emplace(name, handles_.back().get()).second);  // CheckName, or the manifest's state, said so
}

// Ids that were dropped are not among the open ones, so nobody writes to them.
void Families::Begin() {
  const MutexLock lock(&mutex_);
  FamilyGate::Closed closed(&db_.families);
  DbLock db_lock(parts_.control);
  const ManifestState& manifest = parts_.tree->versions->manifest();
  CHECK_EQ(manifest.has_families(), db_.families.HasFamilies());
  next_family_ = manifest.next_family;
  for (const auto& [id, family] : manifest.families) {
    if (family.dropped()) continue;
    closed.Open(static_cast<uint32_t>(id));
    AddHandle(static_cast<uint32_t>(id), family.name);
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

// The gate is closed from the look at the default family's keys until the first family is there: whoever writes such a
// key meanwhile waits, and is refused. What needs memory comes before the edit, and is taken back if that fails.
Status Families::Create(const std::string& name, ColumnFamilyHandle** family) {
  *family = nullptr;
  const MutexLock lock(&mutex_);
  FamilyGate::Closed closed(&db_.families);
  Status s = CheckName(name);
  if (s.ok()) s = CheckFirst();
  if (!s.ok()) return s;
  const uint32_t id = static_cast<uint32_t>(next_family_);
  VersionEdit edit;
  edit.next_family = id + uint64_t{1};
  edit.families.push_back({id, name});
  AddHandle(id, name);
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
  closed.SetHasFamilies();
  *family = handles_.back().get();
  db_.Log("made column family %" PRIu32, id);
  return s;
}

// The edit comes before the gate opens, so no write of a family can be under way before the manifest has its id.
Status Families::Adopt(uint64_t next_family, const std::vector<FamilyEntry>& families) {
  const MutexLock lock(&mutex_);
  FamilyGate::Closed closed(&db_.families);
  CHECK_LE(next_family_, next_family);
  CHECK_GT(next_family, 1u);
  VersionEdit edit;
  edit.next_family = next_family;
  edit.families = families;
  Status s = Apply(std::move(edit));
  if (!s.ok()) return s;
  next_family_ = next_family;
  closed.SetHasFamilies();
  for (const FamilyEntry& family : families) {
    closed.Open(static_cast<uint32_t>(family.id));
    AddHandle(static_cast<uint32_t>(family.id), family.name);
  }
  return s;
}

// Step 1. Writes that are inside of the gate end before it closes, and so before the deletion of step 2.
Status Families::TakeName(ColumnFamilyHandle* family, uint32_t id) {
  FamilyGate::Closed closed(&db_.families);
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
Status Families::Drop(ColumnFamilyHandle* family) {
  const MutexLock lock(&mutex_);
  uint32_t id;
  Status s = IdOf(family, &id);
  if (s.ok() && id == kDefaultFamily) s = Status::InvalidArgument("column family default", "cannot be dropped");
  if (s.ok()) s = TakeName(family, id);
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

// What fails here, for want of space above all, is tried again by the next open, and keeps nobody from the database.
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

// A handle stays where it is until the database is closed, so a program may keep the pointer that it gets here.
Status Families::Find(const std::string& name, ColumnFamilyHandle** family) {
  DCHECK(family != nullptr);
  const MutexLock lock(&mutex_);
  *family = nullptr;
  if (name == kDefaultFamilyName) {
    *family = &default_family_;
    return Status::OK();
  }
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return Status::NotFound("column family " + name);
  *family = found->second;
  return Status::OK();
}

// Handles are in the order of their ids.
Status Families::List(std::vector<std::string>* names) {
  DCHECK(names != nullptr);
  const MutexLock lock(&mutex_);
  names->assign(1, kDefaultFamilyName);
  for (const auto& handle : handles_) {
    if (!handle->dropped()) names->push_back(handle->GetName());
  }
  return Status::OK();
}

// The handle of another database is refused, because its id may be that of some other family here.
Status Families::IdOf(const ColumnFamilyHandle* family, uint32_t* id) const {
  if (family == nullptr) return Status::InvalidArgument("ColumnFamilyHandle", "must not be null");
  const FamilyHandle* const handle = static_cast<const FamilyHandle*>(family);
  if (!handle->IsOf(this)) return Status::InvalidArgument("ColumnFamilyHandle", "is another database's");
  if (handle->dropped()) return Status::InvalidArgument("column family " + handle->GetName(), "was dropped");
  *id = handle->GetID();
  return Status::OK();
}

// The default family's keys lie on both sides of all others.
void Families::SumSizes(uint32_t family, const Range* range, int n, uint64_t* sizes) {
  if (family == kDefaultFamily && !db_.families.HasFamilies()) return parts_.read->SumSizes(range, n, sizes);
  const FamilyPrefix behind = FamiliesEnd();
  for (int i = 0; i < n; i++) {
    if (family != kDefaultFamily) {
      if (range[i].start.compare(range[i].limit) >= 0) continue;
      const FamilyKey start(family, range[i].start), limit(family, range[i].limit);
      const Range physical(start.slice(), limit.slice());
      parts_.read->SumSizes(&physical, 1, &sizes[i]);
      continue;
    }
    const auto least = [&](const Slice& a, const Slice& b) { return db_.order.Compare(a, b) < 0 ? a : b; };
    const auto most = [&](const Slice& a, const Slice& b) { return db_.order.Compare(a, b) < 0 ? b : a; };
    const Range parts[2] = {Range(range[i].start, least(range[i].limit, FamiliesBegin())),
                            Range(most(range[i].start, behind.slice()), range[i].limit)};
    uint64_t bytes[2] = {0, 0};
    parts_.read->SumSizes(parts, 2, bytes);
    sizes[i] += bytes[0] + bytes[1];
  }
}

uint64_t Families::EstimateKeys(uint32_t family) {
  DCHECK_NE(family, kDefaultFamily);
  const FamilyPrefix begin(family), end(family + 1);
  return parts_.read->CountEntries(Range(begin.slice(), end.slice()));
}

uint64_t Families::ApproximateBytes(uint32_t family) {
  DCHECK_NE(family, kDefaultFamily);
  const FamilyPrefix begin(family), end(family + 1);
  const Range range(begin.slice(), end.slice());
  uint64_t bytes = 0;
  parts_.read->SumSizes(&range, 1, &bytes);
  return bytes;
}

std::string Families::Describe() {
  std::vector<const FamilyHandle*> families;
  {
    const MutexLock lock(&mutex_);
    for (const auto& handle : handles_) {
      if (!handle->dropped()) families.push_back(handle.get());
    }
  }
  std::string text;
  for (const FamilyHandle* family : families) {
    const uint32_t id = family->GetID();
    text += std::to_string(id) + " " + family->GetName() + " " + std::to_string(EstimateKeys(id)) + " " +
            std::to_string(ApproximateBytes(id)) + "\n";
  }
  return text;
}

}  // namespace miodb
