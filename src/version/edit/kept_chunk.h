// A log chunk that was flushed and stays for the update stream (DB::GetUpdatesSince), as the manifest has it.
//
// Records of a kept chunk are in tables, so a recovery does not replay the chunk. The chunk's extent is the payload of
// these tables, as long as they refer to it. The manifest names the chunk here so that the extent stays taken after the
// last table has dropped its reference.

#ifndef MIODB_SRC_VERSION_EDIT_KEPT_CHUNK_H_
#define MIODB_SRC_VERSION_EDIT_KEPT_CHUNK_H_

#include <cstdint>

#include "src/format/pm_ref.h"

namespace miodb {

struct KeptChunk {
  uint64_t id = 0;  // of the log chunk, which its frames are seeded with
  PmRef offset = 0;
  uint64_t bytes = 0;  // of frames
  uint64_t first_sequence = 0;
  uint64_t last_sequence = 0;
};

inline uint64_t IdOf(const KeptChunk& chunk) { return chunk.id; }

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_EDIT_KEPT_CHUNK_H_
