// From the records of an area to a state.

#include "src/version/manifest/area_replay.h"

#include "src/util/check/check.h"

namespace miodb {

Status DamagedManifest(const std::string& pool, uint64_t offset, const std::string& what) {
  DCHECK(!what.empty());
  return Status::Corruption(pool, "manifest at offset " + std::to_string(offset) + ": " + what);
}

// Edit numbers count from 0. Where a record does not check the records end: they have not been stored yet, or never
// were whole, or are damaged; an owner tells the two last apart (Manifest::CheckEnd), and a reader will, or will not,
// see more of them at its next look.
Status ReplayArea(const Pool& pool, const AreaPlace& area, ManifestState* state, AreaPosition* at) {
  DCHECK(pool.Readable(area.offset, area.size) && at->records <= area.records);
  const char* const base = pool.At(area.offset);
  const uint64_t end = AreaRecordsEnd(area.size), seed = AreaSeed(pool.secret(), area.generation);
  ManifestRecord record;
  while (at->records < area.records && ReadManifestRecord(base, end, at->bytes, seed, &record)) {
    const uint64_t offset = area.offset + at->bytes;
    if (record.edit_number != at->records) return DamagedManifest(pool.path(), offset, "edit out of order");
    VersionEdit edit;
    if (!edit.DecodeFrom(record.payload)) return DamagedManifest(pool.path(), offset, "unknown or damaged edit");
    Status s = state->Apply(edit);
    if (!s.ok()) return DamagedManifest(pool.path(), offset, s.ToString());
    at->bytes += ManifestRecordBytes(record.payload.size());
    at->records++;
    DCHECK_LE(at->bytes, end + 7);  // a record begins at a word
    if (!edit.savepoints.empty()) state->PlaceSavepoints({area.offset, area.size, area.generation, at->records});
  }
  return at->records > 0 ? Status::OK() : DamagedManifest(pool.path(), area.offset, "snapshot damaged");
}

}  // namespace miodb
