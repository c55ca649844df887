// The place of a log chunk in the pool, as the manifest says it.

#ifndef MIODB_SRC_LOG_LOG_CHUNK_PLACE_H_
#define MIODB_SRC_LOG_LOG_CHUNK_PLACE_H_

#include <cstdint>
#include <string>

#include "src/format/pm_ref.h"
#include "src/util/check/check.h"

namespace miodb {

// A log chunk: an extent in which recovery looks for frames.
struct LogChunkPlace {
  uint64_t id = 0;
  PmRef offset = 0;
  uint64_t size = 0;
  bool sealed = false;  // recovered once: frames end exactly at sealed_size, nothing is ever appended
  uint64_t sealed_size = 0;

  // The bytes in which frames may lie.
  uint64_t frame_limit() const {
    DCHECK(!sealed || sealed_size <= size);  // an edit that says otherwise is refused
    return sealed ? sealed_size : size;
  }
};

inline std::string ChunkName(const LogChunkPlace& place) {
  return "log chunk " + std::to_string(place.id) + " at offset " + std::to_string(place.offset);
}

}  // namespace miodb

#endif  // MIODB_SRC_LOG_LOG_CHUNK_PLACE_H_
