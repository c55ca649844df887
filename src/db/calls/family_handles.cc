// Handles of column families: the families that there are, their names, and figures of their content.

#include "src/db/calls/family_handles.h"

#include <utility>

#include "src/util/bytes/make_room.h"

namespace miodb {

FamilyHandles::FamilyHandles(const DbContext& db, ReadPath* read, const std::map<uint64_t, FamilyEntry>& families)
    : db_(db), read_(read), default_family_(this, kDefaultFamily, kDefaultFamilyName) {
  CHECK(read != nullptr);
  const MutexLock lock(&mutex_);
  for (const auto& [id, family] : families) {
    if (!family.dropped()) Add(static_cast<uint32_t>(id), family.name);
  }
}

// Room is made in both lists before the handle is put into either.
void FamilyHandles::Add(uint32_t id, const std::string& name) {
  CHECK(id != kDefaultFamily && id <= kMostFamilyId);
  auto handle = std::make_unique<FamilyHandle>(this, id, name);
  MakeRoom(&handles_);
  CHECK(by_name_.emplace(name, handle.get()).second);  // CheckName, or the manifest's state, said so
  DCHECK_LT(handles_.size(), handles_.capacity());
  handles_.push_back(std::move(handle));
}

// A handle stays where it is until the database is closed, so a program may keep the pointer that it gets here.
Status FamilyHandles::Find(const std::string& name, ColumnFamilyHandle** family) {
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
Status FamilyHandles::List(std::vector<std::string>* names) {
  DCHECK(names != nullptr);
  const MutexLock lock(&mutex_);
  names->assign(1, kDefaultFamilyName);
  for (const auto& handle : handles_) {
    if (!handle->dropped()) names->push_back(handle->GetName());
  }
  return Status::OK();
}

// The handle of another database is refused, because its id may be that of some other family here.
Status FamilyHandles::IdOf(const ColumnFamilyHandle* family, uint32_t* id) const {
  DCHECK(id != nullptr);
  if (family == nullptr) return Status::InvalidArgument("ColumnFamilyHandle", "must not be null");
  const FamilyHandle* const handle = static_cast<const FamilyHandle*>(family);
  if (!handle->IsOf(this)) return Status::InvalidArgument("ColumnFamilyHandle", "is another database's");
  if (handle->dropped()) return Status::InvalidArgument("column family " + handle->GetName(), "was dropped");
  *id = handle->GetID();
  return Status::OK();
}

// The default family's keys lie on both sides of all others.
void FamilyHandles::SumSizes(uint32_t family, const Range* range, int n, uint64_t* sizes) {
  if (family == kDefaultFamily && !db_.families.HasFamilies()) return read_->SumSizes(range, n, sizes);
  const FamilyPrefix behind = FamiliesEnd();
  for (int i = 0; i < n; i++) {
    if (family != kDefaultFamily) {
      if (range[i].start.compare(range[i].limit) >= 0) continue;
      const FamilyKey start(family, range[i].start), limit(family, range[i].limit);
      const Range physical(start.slice(), limit.slice());
      read_->SumSizes(&physical, 1, &sizes[i]);
      continue;
    }
    const auto least = [&](const Slice& a, const Slice& b) { return db_.order.Compare(a, b) < 0 ? a : b; };
    const auto most = [&](const Slice& a, const Slice& b) { return db_.order.Compare(a, b) < 0 ? b : a; };
    const Range parts[2] = {Range(range[i].start, least(range[i].limit, FamiliesBegin())),
                            Range(most(range[i].start, behind.slice()), range[i].limit)};
    uint64_t bytes[2] = {0, 0};
    read_->SumSizes(parts, 2, bytes);
    sizes[i] += bytes[0] + bytes[1];
  }
}

uint64_t FamilyHandles::EstimateKeys(uint32_t family) {
  DCHECK_NE(family, kDefaultFamily);
  const FamilyPrefix begin(family), end(family + 1);
  return read_->CountEntries(Range(begin.slice(), end.slice()));
}

uint64_t FamilyHandles::ApproximateBytes(uint32_t family) {
  DCHECK_NE(family, kDefaultFamily);
  const FamilyPrefix begin(family), end(family + 1);
  const Range range(begin.slice(), end.slice());
  uint64_t bytes = 0;
  read_->SumSizes(&range, 1, &bytes);
  return bytes;
}

std::string FamilyHandles::Describe() {
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
    DCHECK_NE(id, kDefaultFamily);
    text += std::to_string(id) + " " + family->GetName() + " " + std::to_string(EstimateKeys(id)) + " " +
            std::to_string(ApproximateBytes(id)) + "\n";
  }
  return text;
}

}  // namespace miodb
