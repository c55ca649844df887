// Memory that receives the payload of one memtable: log chunks in the pool, or DRAM when the log is off.
//
// A segment is the list of chunks of one memtable, in the order in which they were filled. The leader of the current
// write group is the only one to append; once the memtable is sealed nobody does, and the flush may read. The hand-over
// happens under the database mutex.
//
// After a crash: a chunk is named in the manifest before its first frame is written, so recovery knows where to
// look. The id of a chunk seeds the frames' checksums and is never used again.

#ifndef MIODB_SRC_LOG_LOG_CHUNK_H_
#define MIODB_SRC_LOG_LOG_CHUNK_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/nvm/pool/pool.h"

namespace miodb {

struct LogChunk {
  // The stages of a chunk, in this order only. Under the database mutex.
  enum class Stage : uint8_t {
    kWritten,   // frames come, or it is not one that gets an index
    kComplete,  // no more frames come, and all of them are durable
    kIndexed,   // it has its index, as far as it can have one (chunk_index.h)
    kRead,      // of a recovery, which reads it by its index
    kFlushed,   // the same, and tables have its frames: readers from before the flush may read the index still
  };

  // The pages that frames are stored into. Set before anybody else knows the chunk.
  enum class Pages : uint8_t {
    kAny,    // pages that are there, as large as the medium has them: no put takes a fault
    kSmall,  // of a file whose frames are synced, and a sync of one writes no more than the page
  };

  LogChunk() = default;
  LogChunk(const LogChunk&) = delete;
  LogChunk& operator=(const LogChunk&) = delete;
  // The index lies in what the flush has cut off, so that is free only when the last reader of the memtable has gone.
  ~LogChunk() {
    if (stage == Stage::kFlushed) extent->ReleaseTrimmed();
  }

  uint64_t id = 0;
  ExtentRef extent;                // null when the log is off
  std::unique_ptr<char[]> memory;  // then this holds the bytes
  ExtentRef reserved;              // and a flush copies them here, so that it cannot lack the space
  char* base = nullptr;
  uint64_t capacity = 0;          // for frames
  std::atomic<uint64_t> used{0};  // written by the leader alone; others read it for estimates
  uint64_t first_sequence = 0;    // of the first frame, known when writers or a recovery take the chunk
  Stage stage = Stage::kWritten;
  Pages pages = Pages::kAny;
  uint64_t syncs = 0;           // of its frames, in file mode. The leader's alone, as what comes next
  uint64_t made_for_syncs = 0;  // up to there blocks are written ahead of synced frames (WritePath::FenceLog)

  bool in_pool() const { return extent != nullptr; }
  uint64_t room() const {
    const uint64_t filled = used.load(std::memory_order_relaxed);  // relaxed: see used
    DCHECK_LE(filled, capacity);
    return capacity - filled;
  }
  bool Contains(const char* p) const { return p >= base && p < base + capacity; }
};

struct Segment {
  std::vector<std::unique_ptr<LogChunk>> chunks;

  uint64_t used_bytes() const {
    uint64_t sum = 0;
    for (const auto& chunk : chunks) sum += chunk->used.load(std::memory_order_relaxed);  // relaxed: see used
    return sum;
  }
};

}  // namespace miodb

#endif  // MIODB_SRC_LOG_LOG_CHUNK_H_
