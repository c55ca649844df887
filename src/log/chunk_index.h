// The index of a log chunk that is complete: places of its records in key order, at the chunk's end. With it a recovery
// takes up the chunk without a look at its frames.
//
//   chunk   frames | free | u32 places[count] | footer
//   footer  u64 checksum | u64 first sequence | u64 count | u64 bytes of the frames
//
//   places    of records, as offsets in the chunk, in the order of record_order.h. The chunk holds the writes from the
//             first sequence on, count of them
//   checksum  over all of this but itself, seeded with the pool's secret and the chunk's id
//
// An index is a hint: a chunk without one, or with one that does not check, is read frame by frame. The index is made
// when everything in the chunk is durable and nothing more comes, so it never says more than the frames do. The first
// sequence, the count and the bytes are what the frames would have given a recovery; records are verified when the
// memtable that takes them is flushed.
//
// Threads: WriteChunkIndex by one for each chunk, of which the frames stay as they are; reading by any.
// After a crash: any part of an index, which its checksum refuses.

#ifndef MIODB_SRC_LOG_CHUNK_INDEX_H_
#define MIODB_SRC_LOG_CHUNK_INDEX_H_

#include <cstdint>
#include <string>

#include "src/log/log_chunk.h"
#include "src/log/log_chunk_place.h"
#include "src/nvm/persist/persist.h"
#include "src/util/bytes/key_order.h"

namespace miodb {

// What was read. The places are those of the medium, which has to stay mapped.
struct ChunkIndex {
  const uint32_t* places = nullptr;
  uint64_t count = 0;
  uint64_t first_sequence = 0;
  uint64_t frame_bytes = 0;

  uint64_t last_sequence() const { return first_sequence + count - 1; }
};

// Bytes of an index over so many records.
uint64_t ChunkIndexBytes(uint64_t count);

// Bytes to keep free for it in a chunk of this size, if a record and its frame take so many on average.
uint64_t ChunkIndexRoom(uint64_t chunk_bytes, uint64_t record_bytes);

// Makes the index of a chunk. False, and nothing is stored, if there is no room, or if the chunk has something else
// than writes of single keys, one behind the other in sequence. Not fenced: it need not be durable at any time.
// REQUIRES: the chunk is complete and in the pool, and all of it is durable.
bool WriteChunkIndex(Persist* persist, const KeyOrder& order, uint64_t secret, const LogChunk& chunk);

// False: there is none, or it does not check. base: where the chunk's bytes lie, of which the index's are read.
bool ReadChunkIndex(const LogChunkPlace& place, const char* base, uint64_t secret, ChunkIndex* index);

// The checksum of an index with these figures and places.
uint64_t ChunkIndexChecksum(const ChunkIndex& index, uint64_t secret, uint64_t chunk_id);

// The difference between an index that was read and the frames of its chunk; empty if there is none. REQUIRES: the
// frames are whole.
std::string ChunkIndexProblem(const KeyOrder& order, const char* base, const ChunkIndex& index);

}  // namespace miodb

#endif  // MIODB_SRC_LOG_CHUNK_INDEX_H_
