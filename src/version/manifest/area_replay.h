// Reading the records of a manifest area: a recovery does it once, a savepoint's state is a part of one, and a reader
// in another process goes on where it has come to, while the owner appends.
//
// Threads: any; the records behind the position may be appended to meanwhile.

#ifndef MIODB_SRC_VERSION_MANIFEST_AREA_REPLAY_H_
#define MIODB_SRC_VERSION_MANIFEST_AREA_REPLAY_H_

#include <cstdint>
#include <string>

#include "miodb/status.h"
#include "src/format/manifest_area.h"
#include "src/nvm/pool/pool.h"
#include "src/version/edit/savepoint_entry.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

// How far the records of an area were read.
struct AreaPosition {
  uint64_t bytes = 0;
  uint64_t records = 0;
};

// Where records end at the latest: the footer keeps its place, whatever they leave.
inline uint64_t AreaRecordsEnd(uint64_t area_bytes) {
  CHECK_GT(area_bytes, kAreaFooterBytes);
  return area_bytes - kAreaFooterBytes;
}

// By the offset in the pool, so that a dump of it shows the place.
Status DamagedManifest(const std::string& pool, uint64_t offset, const std::string& what);

// Applies the records behind the position to the state, as long as they check, until there are as many as the area is
// to have. Corruption if no record checks, or if an edit cannot be applied; then the state is of no use. REQUIRES: the
// area can be read.
Status ReplayArea(const Pool& pool, const AreaPlace& area, ManifestState* state, AreaPosition* at);

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_MANIFEST_AREA_REPLAY_H_
