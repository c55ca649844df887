// Column families in edits: their fields, and what has to hold of ids.

#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"
#include "src/version/edit/edit_fields.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

namespace {

// A dropped one has no name.
bool GetFamily(Slice* input, FamilyEntry* family) {
  DCHECK(family->name.empty());
  Slice name;
  if (!GetVarint64(input, &family->id) || !GetLengthPrefixedSlice(input, &name)) return false;
  family->name = name.ToString();
  DCHECK_EQ(family->dropped(), name.empty());
  return family->id > kDefaultFamily && family->id <= kMostFamilyId && name.size() <= kMostFamilyName;
}

}  // namespace

// The default family has its name without an entry, so no other may have it.
Status CheckFamilies(const VersionEdit& edit, uint64_t next_family) {
  CHECK_GT(next_family, 0u);
  for (const FamilyEntry& family : edit.families) {
    if (family.id >= next_family) return Status::Corruption("manifest names unknown family", std::to_string(family.id));
    if (family.name == kDefaultFamilyName) {
      return Status::Corruption("manifest has two families of one name", family.name);
    }
  }
  return Status::OK();
}

// Nothing, in a database that never had one: its manifest stays one that older versions read.
void VersionEdit::EncodeFamilies(std::string* dst) const {
  CHECK(families.empty() || next_family != 1);  // ids are below the next one
  if (next_family > 0) {
    CHECK_LE(next_family, uint64_t{kMostFamilyId} + 1);
    PutField(dst, kNextFamily);
    PutVarint64(dst, next_family);
  }
  PutRemoved(dst, kRemovedFamily, removed_families);
  for (const FamilyEntry& family : families) {
    CHECK(family.id > kDefaultFamily && family.id <= kMostFamilyId && family.name.size() <= kMostFamilyName);
    PutField(dst, kFamily);
    PutVarint64(dst, family.id);
    PutLengthPrefixedSlice(dst, family.name);
  }
}

// Decodes the fields of families. False for a field that is none of them, of which nothing is read, and for a damaged
// one.
bool VersionEdit::DecodeFamilies(uint8_t field, Slice* input) {
  DCHECK(input != nullptr);
  switch (field) {
    case kNextFamily:
      return GetVarint64(input, &next_family) && next_family > 1 && next_family <= uint64_t{kMostFamilyId} + 1;
    case kFamily:
      return GetFamily(input, &families.emplace_back());
    case kRemovedFamily:
      return GetVarint64(input, &removed_families.emplace_back());
    default:
      return false;
  }
}

}  // namespace miodb
