// How the fields of an edit lie in its bytes: for the files that write and read them, and for nobody else.

#ifndef MIODB_SRC_VERSION_EDIT_EDIT_FIELDS_H_
#define MIODB_SRC_VERSION_EDIT_EDIT_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "miodb/slice.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

// Numbers of the format: never changed, never used again.
enum EditField : uint8_t {
  kComparator = 1,
  kNextId = 2,
  kFlushedSequence = 3,
  kRemovedTable = 4,
  kTable = 5,
  kRemovedChunk = 6,
  kChunk = 7,
  kSealedChunk = 8,
  kRemovedFile = 9,
  kFile = 10,
  kFileOfLongKeys = 11,
  kFileRanges = 12,  // of the file before it
  kRemovedRange = 13,
  kRange = 14,
  kNextFamily = 16,
  kFamily = 17,
  kRemovedFamily = 18,
  kExpiringFile = 19,  // as kFile and kFileOfLongKeys, of a file with values that expire
  kExpiringFileOfLongKeys = 20,
  kSavepoint = 21,
  kRemovedSavepoint = 22,
  kKeptChunk = 23,
  kRemovedKeptChunk = 24,
  kPayload = 25,
  kDroppedPayload = 26,
};

// The number of a field stands before it, so a reader that does not know one refuses the edit.
inline void PutField(std::string* dst, EditField field) {
  DCHECK(dst != nullptr);
  dst->push_back(static_cast<char>(field));
}

// Ids that an edit removes, each with the field.
inline void PutRemoved(std::string* dst, EditField field, const std::vector<uint64_t>& ids) {
  for (const uint64_t id : ids) {
    PutField(dst, field);
    PutVarint64(dst, id);
  }
}

// Numbers of a field, in the order in which PutNumbers has them.
inline bool GetNumbers(Slice* input, std::initializer_list<uint64_t*> numbers) {
  DCHECK(input != nullptr);
  for (uint64_t* number : numbers) {
    if (!GetVarint64(input, number)) return false;
  }
  return true;
}

// Reads the id of a table, a run, a chunk or a file.
inline bool GetId(Slice* input, uint64_t* id) { return GetVarint64(input, id) && *id <= kMostId; }

// All numbers are varints: an edit names few places, and most of their numbers are small.
inline void PutNumbers(std::string* dst, std::initializer_list<uint64_t> numbers) {
  for (uint64_t number : numbers) PutVarint64(dst, number);
}

inline bool GetString(Slice* input, std::string* string) {
  DCHECK(string != nullptr);
  Slice bytes;
  if (!GetLengthPrefixedSlice(input, &bytes)) return false;
  string->assign(bytes.data(), bytes.size());
  return true;
}

// Checks the families and savepoints that an edit adds, before the state takes the edit: Corruption if they break a
// rule. That names are of one place each ManifestState::Prepare checks.
Status CheckFamilies(const VersionEdit& edit, uint64_t next_family);
Status CheckSavepoints(const ManifestState& state, const VersionEdit& edit);

// The payload of a state after an edit, in the three forms of ManifestState: as nodes to be moved in, with what is left
// of the places that the edit drops from; moved in; and as a list.
Status PreparePayload(const ManifestState& state, const VersionEdit& edit, ManifestState* fresh);
void CommitPayload(ManifestState* fresh, ManifestState* state) noexcept;
std::vector<PayloadPlace> PayloadAfter(const ManifestState& state, const VersionEdit& edit);

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_EDIT_EDIT_FIELDS_H_
