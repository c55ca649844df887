// A log chunk that was flushed and stays for the update stream (DB::GetUpdatesSince), as the manifest has it.
//
// Records of a kept chunk are in tables, so a recovery does not replay the chunk. The chunk's extent is the payload of
// these tables, as long as they refer to it. The manifest names the chunk here so that the extent stays taken after the
// last table has dropped its reference.

#ifndef MIODB_SRC_VERSION_EDIT_KEPT_CHUNK_H_
#define MIODB_SRC_VERSION_EDIT_KEPT_CHUNK_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "src/format/pm_ref.h"
#include "src/nvm/pool/extent.h"

namespace miodb {

struct KeptChunk {
  uint64_t id = 0;  // of the log chunk, which its frames are seeded with
  PmRef offset = 0;
  uint64_t bytes = 0;  // of frames
  uint64_t first_sequence = 0;
  uint64_t last_sequence = 0;
};

inline uint64_t IdOf(const KeptChunk& chunk) { return chunk.id; }

// Space in the pool when no table has the extent as its payload any more.
inline uint64_t SpaceOf(const KeptChunk& chunk) { return RoundToUnit(chunk.bytes); }

// The kept chunks of a manifest. A write is found, and the oldest chunk is known, without a walk over all.
struct KeptChunks {
  std::map<uint64_t, KeptChunk> by_id;
  std::set<std::pair<uint64_t, uint64_t>> by_age;  // first sequence and id; a hostile manifest may have equal sequences
  uint64_t space = 0;                              // of all

  // The chunk with a write, or null. *begin: where the rest of the log begins, up to which what is kept goes, or there
  // is none; where it is null, then the oldest write that comes behind the one that was looked for.
  const KeptChunk* Find(uint64_t sequence, uint64_t* begin) const;
};

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_EDIT_KEPT_CHUNK_H_
