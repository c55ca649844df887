// The manifest of a pool as it lies there, damaged or not. Manifest (src/version/) is the one that the engine uses and
// refuses what is damaged; this one goes on and says what was wrong.
//
// Threads: one. The image must outlive what is read from it.

#ifndef MIODB_SRC_INSPECT_IMAGE_MANIFEST_IMAGE_H_
#define MIODB_SRC_INSPECT_IMAGE_MANIFEST_IMAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/format/manifest_area.h"
#include "src/format/problem.h"
#include "src/nvm/pool/pool_image.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

struct ManifestImage {
  struct Record {
    PmRef offset;
    uint64_t bytes;  // padding included
    uint64_t number;
    bool decoded;  // edit holds it
    VersionEdit edit;
  };

  PmRef offset = 0;
  uint64_t size = 0;
  uint64_t epoch = 0;
  uint64_t generation = 0;
  uint64_t confirmed = 0;
  uint64_t hashed_bytes = 0;
  bool has_footer = false;
  std::vector<Record> records;    // what checks, in the order in which they lie
  std::vector<Problem> problems;  // damage to records; empty if the state is the right one
  ManifestState state;            // after as many of the edits as could be applied
};

// Reads the area, or the first so many records of it, as of a savepoint. REQUIRES: image.Readable(offset, size).
ManifestImage ReadManifestArea(const PoolImage& image, PmRef offset, uint64_t size, uint64_t generation,
                               uint64_t most = UINT64_MAX);

// All areas that footers in the pool tell of, current or not, the one of the highest epoch first; of those with the
// same epoch the one with the most confirmed records. If areas overlap, only the first counts: it was written over the
// others. So no byte is read twice, whatever the footers say.
std::vector<ManifestImage> FindManifestAreas(const PoolImage& image, const PoolHeader& header);

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_IMAGE_MANIFEST_IMAGE_H_
