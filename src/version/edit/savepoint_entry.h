// A savepoint as the manifest has it: a name for the state that an edit led to, and for the sequence that reads of it
// see.
//
// The state is not written down once more: it is what the records of a manifest area say up to and with the one that
// names the savepoint. So making a savepoint costs the same however many tables there are, and the area stays as long
// as a savepoint needs it (manifest.h).
//
// Records that memtables had at that moment are in log chunks that the state names. The entry says how many bytes of
// each chunk count: a chunk may have become longer by later writes, or shorter by a later flush.

#ifndef MIODB_SRC_VERSION_EDIT_SAVEPOINT_ENTRY_H_
#define MIODB_SRC_VERSION_EDIT_SAVEPOINT_ENTRY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/format/pm_ref.h"

namespace miodb {

// The first so many records of a manifest area.
struct AreaPlace {
  PmRef offset = 0;
  uint64_t size = 0;
  uint64_t generation = 0;
  uint64_t records = 0;  // 0: no area, as in a volatile pool, or the one that the record lies in, up to that record
};

// The part of a log chunk that belongs to a savepoint.
struct ChunkPart {
  uint64_t id = 0;
  uint64_t bytes = 0;
};

struct SavepointEntry {
  uint64_t id = 0;  // drawn as those of tables are, and never used again
  std::string name;
  uint64_t sequence = 0;          // reads see nothing newer
  uint64_t micros = 0;            // when it was made, by the system's date
  std::vector<ChunkPart> chunks;  // by age; those that the state does not name are in its tables
  AreaPlace area;
};

inline uint64_t IdOf(const SavepointEntry& savepoint) { return savepoint.id; }

// The longest name, in bytes.
inline constexpr size_t kMostSavepointName = 255;

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_EDIT_SAVEPOINT_ENTRY_H_
