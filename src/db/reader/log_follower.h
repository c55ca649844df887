// LogFollower: memtables over the log chunks of a pool that another process may be writing to.
//
// Threads: one; memtables are read by any, up to the last sequence that they were told.
// After a crash of the owner: the frames up to the first that does not check, as the owner's recovery will find them.

#ifndef MIODB_SRC_DB_READER_LOG_FOLLOWER_H_
#define MIODB_SRC_DB_READER_LOG_FOLLOWER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "src/db/context/db_context.h"
#include "src/db/space/log_source.h"
#include "src/db/state/read_state.h"
#include "src/log/frame_reader.h"
#include "src/log/log_chunk_place.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

class LogFollower {
 public:
  // The context has the pool and the blocks, and outlives this.
  explicit LogFollower(const DbContext& db) : db_(db) {}
  LogFollower(const LogFollower&) = delete;
  LogFollower& operator=(const LogFollower&) = delete;

  // Goes over to the chunks of a state: those that it does not name are in its tables by now.
  Status SetChunks(const ManifestState& state);

  // The last write that has come by now. A writer may write faster than its writes are taken up, so a look goes that
  // far and no further.
  uint64_t FindEnd();

  // Reads what has come, up to the frame with this write. Corruption if a frame has records that this version does not
  // know. Under an order of the user's, keys with the mark of families have a place that depends on whether there are
  // families. While none are known, a frame with such keys waits until PassMarked: then they are known, or the keys are
  // ones of the default family.
  Status Follow(uint64_t end);
  bool waits() const { return waits_; }
  void PassMarked() { passed_ = last_sequence_ + 1; }

  // Up to this write everything is in the memtables, or in the tables of the state.
  uint64_t last_sequence() const { return last_sequence_; }

  // The part of the log with a write, if it is in one of the chunks.
  bool FindPart(uint64_t sequence, LogPart* part) const;

  // Where what is in the chunks begins: behind all that is in the tables of the state.
  uint64_t first_sequence() const { return first_sequence_; }

  // Memtables that are not empty, newest first. Only the first may get more records.
  std::vector<MemTableRef> MemTables() const;

 private:
  struct Chunk {
    LogChunkPlace place;
    ExtentRef extent;
    uint64_t position = 0;        // behind the last frame that was read, or passed over
    uint64_t found = 0;           // behind the last frame that FindEnd found
    uint64_t first_sequence = 0;  // of what the memtable has
    MemTableRef memtable;         // null: nothing of it is needed
  };

  MemTableRef NewMemTable(const Chunk& chunk) const;
  void Begin(Chunk* chunk);
  Status Insert(const FrameView& frame, Chunk* chunk);
  bool TakeUpByIndex(Chunk* chunk, Status* s);
  bool Waits(const FrameView& frame) const;
  Status Read(Chunk* chunk, uint64_t end);

  const DbContext& db_;
  // By id. Their age is that of what they have: a large frame gets a chunk of its own, with a higher id than those that
  // wait to be used.
  std::map<uint64_t, Chunk> chunks_;
  uint64_t first_sequence_ = 1;
  uint64_t last_sequence_ = 0;
  uint64_t end_ = 0;       // the last write that FindEnd found
  bool waits_ = false;     // the next frame has keys with the mark
  uint64_t passed_ = 0;    // first write of the frame that waits no longer
  uint64_t inserted_ = 0;  // the last write that a memtable got, of a frame that may not be whole yet
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READER_LOG_FOLLOWER_H_
