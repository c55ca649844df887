// Savepoints in edits: their fields, and what has to hold of their names.

#include <set>

#include "src/util/check.h"
#include "src/util/coding.h"
#include "src/version/edit_fields.h"
#include "src/version/version_edit.h"

namespace miodb {

namespace {

bool GetSavepoint(Slice* input, SavepointEntry* savepoint) {
  DCHECK(savepoint->chunks.empty());
  uint64_t chunks;
  if (!GetId(input, &savepoint->id) || !GetString(input, &savepoint->name) ||
      !GetNumbers(input, {&savepoint->sequence, &savepoint->micros, &chunks})) {
    return false;
  }
  // Each takes two bytes at least, so that a damaged number cannot ask for more memory than the edit has bytes.
  if (chunks > input->size() / 2) return false;
  savepoint->chunks.resize(chunks);
  for (ChunkPart& chunk : savepoint->chunks) {
    if (!GetId(input, &chunk.id) || !GetVarint64(input, &chunk.bytes)) return false;
  }
  AreaPlace& area = savepoint->area;
  if (!GetVarint64(input, &area.records)) return false;
  if (area.records > 0 && (!GetNumbers(input, {&area.offset, &area.size}) || !GetFixed64(input, &area.generation))) {
    return false;
  }
  return !savepoint->name.empty() && savepoint->name.size() <= kMostSavepointName &&
         savepoint->sequence <= kMostReadSequence;
}

void PutSavepoint(std::string* dst, const SavepointEntry& savepoint) {
  CHECK(!savepoint.name.empty() && savepoint.name.size() <= kMostSavepointName);
  CHECK(savepoint.id <= kMostDrawnId && savepoint.sequence <= kMaxSequence);
  PutField(dst, kSavepoint);
  PutVarint64(dst, savepoint.id);
  PutLengthPrefixedSlice(dst, savepoint.name);
  PutNumbers(dst, {savepoint.sequence, savepoint.micros, savepoint.chunks.size()});
  for (const ChunkPart& chunk : savepoint.chunks) PutNumbers(dst, {chunk.id, chunk.bytes});
  const AreaPlace& area = savepoint.area;
  PutVarint64(dst, area.records);
  if (area.records == 0) return;
  PutNumbers(dst, {area.offset, area.size});
  PutFixed64(dst, area.generation);
}

}  // namespace

// Nothing, in an edit that has to do with no savepoint.
void VersionEdit::EncodeSavepoints(std::string* dst) const {
  for (const uint64_t id : removed_savepoints) {
    PutField(dst, kRemovedSavepoint);
    PutVarint64(dst, id);
  }
  for (const SavepointEntry& savepoint : savepoints) PutSavepoint(dst, savepoint);
}

bool VersionEdit::DecodeSavepoints(uint8_t field, Slice* input) {
  DCHECK(input != nullptr);
  switch (field) {
    case kSavepoint:
      return GetSavepoint(input, &savepoints.emplace_back());
    case kRemovedSavepoint:
      return GetVarint64(input, &removed_savepoints.emplace_back());
    default:
      return false;
  }
}

// A savepoint that an edit names for the first time says nothing of its place, which is known when the record has one.
void ManifestState::PlaceSavepoints(const AreaPlace& here) noexcept {
  DCHECK_GT(here.records, 0u);
  for (auto& [id, savepoint] : savepoints) {
    if (savepoint.area.records == 0) savepoint.area = here;
  }
}

// Names are of one savepoint each, or nobody could say which is meant.
Status CheckSavepoints(const std::map<uint64_t, SavepointEntry>& savepoints, const VersionEdit& edit) {
  if (edit.savepoints.empty()) return Status::OK();
  const std::set<uint64_t> removed(edit.removed_savepoints.begin(), edit.removed_savepoints.end());
  std::set<std::string> names;
  for (const auto& [id, savepoint] : savepoints) {
    DCHECK_EQ(id, savepoint.id);
    if (removed.count(id) == 0) names.insert(savepoint.name);
  }
  for (const SavepointEntry& savepoint : edit.savepoints) {
    if (savepoints.count(savepoint.id) > 0 || !names.insert(savepoint.name).second) {
      return Status::Corruption("manifest has two savepoints of one name", savepoint.name);
    }
  }
  return Status::OK();
}

}  // namespace miodb
