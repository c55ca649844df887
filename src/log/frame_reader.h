// Reads frames back from a log chunk: recovery and the tools. secret: of the pool, which all checksums start with.

#ifndef MIODB_SRC_LOG_FRAME_READER_H_
#define MIODB_SRC_LOG_FRAME_READER_H_

#include <cstdint>

#include "src/format/record.h"

namespace miodb {

// A frame that checked. Its records lie in [body, end).
struct FrameView {
  const char* begin = nullptr;
  const char* body = nullptr;
  const char* end = nullptr;
  uint64_t first_sequence = 0;
  uint64_t count = 0;
};

// Reads the frame at p in the chunk with this id, of which limit is the end. False if the bytes are not a whole,
// undamaged frame of that chunk with consecutive sequences.
bool ReadFrame(const char* p, const char* limit, uint64_t secret, uint64_t chunk_id, FrameView* frame);

// The same where the chunk is not known. Every frame fits some id, so *chunk_id is what the checksum says and the frame
// counts only if that is at most max_chunk_id.
bool ReadFrameOfAnyChunk(const char* p, const char* limit, uint64_t secret, uint64_t max_chunk_id, FrameView* frame,
                         uint64_t* chunk_id);

// Looks in (p, limit) for another frame of this chunk whose first sequence is above after: the sign that what does not
// check at p was damaged, and not the end of what was written. Returns its place, or nullptr.
const char* FindLaterFrame(const char* p, const char* limit, uint64_t secret, uint64_t chunk_id, uint64_t after);

// Looks in [p, limit) for a frame of any chunk up to max_chunk_id whose first sequence is above after. Returns its
// place, or nullptr.
const char* FindFrameOfAnyChunk(const char* p, const char* limit, uint64_t secret, uint64_t max_chunk_id,
                                uint64_t after, FrameView* frame, uint64_t* chunk_id);

}  // namespace miodb

#endif  // MIODB_SRC_LOG_FRAME_READER_H_
