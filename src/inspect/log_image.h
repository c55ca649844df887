// Log chunks as they lie in the pool, damaged or not.

#ifndef MIODB_SRC_INSPECT_LOG_IMAGE_H_
#define MIODB_SRC_INSPECT_LOG_IMAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/inspect/problem.h"
#include "src/log/frame_reader.h"
#include "src/nvm/pool_image.h"
#include "src/version/version_edit.h"

namespace miodb {

struct ChunkImage {
  LogChunkPlace place;
  std::vector<FrameView> frames;  // all that check, also behind damage
  uint64_t frame_bytes = 0;
  std::vector<Problem> problems;

  uint64_t first_sequence() const { return frames.empty() ? 0 : frames.front().first_sequence; }
  uint64_t last_sequence() const { return frames.empty() ? 0 : frames.back().first_sequence + frames.back().count - 1; }
};

inline std::string ChunkName(const LogChunkPlace& place) {
  return "log chunk " + std::to_string(place.id) + " at offset " + std::to_string(place.offset);
}

// REQUIRES: image.IsExtent(place.offset, place.size), and place.sealed_size <= place.size.
ChunkImage ReadChunk(const PoolImage& image, const LogChunkPlace& place);

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_LOG_IMAGE_H_
