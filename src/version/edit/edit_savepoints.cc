// Savepoints in edits: their fields, and where their records lie.

#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"
#include "src/version/edit/edit_fields.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

namespace {

bool GetSavepoint(Slice* input, SavepointEntry* savepoint) {
  DCHECK(savepoint->chunks.empty());
  uint64_t chunks;
  if (!GetId(input, &savepoint->id) || savepoint->id == 0 || !GetString(input, &savepoint->name) ||
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
  PutRemoved(dst, kRemovedSavepoint, removed_savepoints);
  for (const SavepointEntry& savepoint : savepoints) PutSavepoint(dst, savepoint);
}

bool VersionEdit::DecodeSavepoints(uint8_t field, Slice* input) {
  DCHECK(input != nullptr);
  if (field == kSavepoint) return GetSavepoint(input, &savepoints.emplace_back());
  return field == kRemovedSavepoint && GetVarint64(input, &removed_savepoints.emplace_back());
}

// A savepoint that an edit names for the first time says nothing of its place, which is known when the record has one.
void ManifestState::PlaceSavepoints(const AreaPlace& here) noexcept {
  DCHECK_GT(here.records, 0u);
  for (auto& [id, savepoint] : savepoints) {
    if (savepoint.area.records == 0) savepoint.area = here;
  }
}

// A savepoint is named once: what is said of it under the same id another time would be of another state.
Status CheckSavepoints(const ManifestState& state, const VersionEdit& edit) {
  for (const SavepointEntry& savepoint : edit.savepoints) {
    DCHECK(!savepoint.name.empty());
    if (state.savepoints.count(savepoint.id) > 0) {
      return Status::Corruption("manifest names a savepoint twice", savepoint.name);
    }
  }
  return Status::OK();
}

}  // namespace miodb
