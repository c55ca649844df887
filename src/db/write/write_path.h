// WritePath: the way of a write, from the queue of writers to the sequence that readers see (write_path.cc tells it
// step by step), and the room that it needs (write_room.cc).
//
// Threads: any thread calls Update, Write and RequestFlush; what only the leader of a write group touches needs no
// lock, because each hand-over of the queue orders it (write_queue.h). After a crash: of a group nothing or all
// of it before its fence, all of it afterwards.

#ifndef MIODB_SRC_DB_WRITE_WRITE_PATH_H_
#define MIODB_SRC_DB_WRITE_WRITE_PATH_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "miodb/write_batch.h"
#include "src/db/space/space.h"
#include "src/db/state/tree.h"
#include "src/db/write/lifetimes.h"
#include "src/db/write/write_lanes.h"
#include "src/db/write/write_pace.h"
#include "src/db/write/write_queue.h"
#include "src/db/write/write_turns.h"
#include "src/log/frame_writer.h"
#include "src/util/check/check.h"

namespace miodb {

class FileLog;
class Flusher;
class LogFiles;
class Merger;
class SsdTier;
class StallClock;
class Workers;

// The parts of the database that a write may ask for something.
struct WritePathParts {
  Control* const control_;
  Tree* const tree_;
  Scheduler* const scheduler_ PT_GUARDED_BY(db_mutex);
  Space* const space_;
  LogFiles* const logs_;
  Flusher* const flusher_;
  Merger* const merger_;
  SsdTier* const tier_;
  Workers* const workers_;
  CpuCensus* const census_;
};

class WritePath : private WritePathParts {
 public:
  using Parts = WritePathParts;

  WritePath(DbContext& db, const Parts& parts);

  // Returns when the write is as durable as it was asked to be and visible, or with the error that it met. condition:
  // nullptr, or asked in between two groups, in whatever thread: the write is done if it returns OK, else that is the
  // result. The condition reads; a bad_alloc that it throws is an IOError. REQUIRES: the condition waits for no writer.
  Status Write(const WriteOptions& options, WriteBatch* updates, const WriteCondition* condition = nullptr);

  // Writes a single update, of whichever family. type, key: as a batch has them (src/api/batch/write_batch_internal.h).
  Status Update(const WriteOptions& options, uint8_t type, const Slice& key, const Slice& value);

  // Deletes what a column family has that was dropped, and that nobody else can write to any more.
  Status EraseFamily(const WriteOptions& options, uint32_t family);

  // Asks look in between two groups, in whatever thread, with nothing being written and all that was written visible.
  // Returns what it returns. REQUIRES: it waits for no writer.
  Status BetweenWrites(const WriteCondition& look) EXCLUDES(db_mutex);

  // Makes what was written before durable, as a write with sync does, and then asks the look, if there is one, before
  // anything else is written. OK without a log, which has nothing to sync. REQUIRES: as of BetweenWrites.
  Status Sync(const WriteCondition& look = nullptr) EXCLUDES(db_mutex);

  // Seals the memtable, unless it is empty, from inside of the queue: the leader of a group owns it.
  Status RequestFlush() REQUIRES(db_mutex);

  // Seals the memtable if that is wanted (MemoryBudget) and nobody writes at the moment. Waits for nothing but writers
  // in lanes. False: it did not.
  bool SealIfAsked() EXCLUDES(db_mutex);

  // ---- the open, before anybody else writes

  // Frames can be written from now on, with the pool's secret.
  void OpenFrames();
  FrameWriter* frame_writer() { return frame_writer_.get(); }

  // The log ends with this sequence, which reads see.
  void SetSequence(uint64_t last_sequence);
  uint64_t sequence() const { return allocated_sequence_; }

  // Writes go to the tree's first memtable.
  void Begin() REQUIRES(db_mutex);

  // Writes a batch of the log once more, with the numbers that it has. REQUIRES: it follows the last sequence.
  Status Replay(const Slice& batch) EXCLUDES(db_mutex);

  // To be called when figures have changed by which writers are slowed down.
  void UpdateThrottle() REQUIRES(db_mutex);

 private:
  friend class DBPeer;  // tests that look inside

  // Whether it is known already that the keys with the mark of column families may be written. Then puts have what
  // lifetime they get, too.
  enum class FamilyKeys { kToCheck, kChecked };

  Status WriteOne(const WriteOptions& options, uint8_t type, const Slice& key, const Slice& value, FamilyKeys marks);
  Status WriteMarked(const WriteOptions& options, uint8_t type, const Slice& key, const Slice& value);
  Status WriteMarked(const WriteOptions& options, const WriteBatch* updates, const WriteCondition* condition);
  Status DoWrite(const WriteOptions& options, const WriteBatch* updates, const WriteCondition* condition,
                 FamilyKeys marks);
  Status Submit(Writer* writer);
  Status Lead(Writer* writer);
  bool MayUseLanes(const Writer& writer) const;
  bool GoesBeside(const Writer& writer);
  void CloseLanes();
  void OpenLanes();
  void ConsiderLanes(bool met);
  void WriteGroup(Writer* leader, Writer* last);
  Status WriteRecords(Writer* leader, Writer* last, uint64_t body_bytes, bool sync);
  void CollectRecords(Writer* leader, Writer* last);
  void InsertGroup(uint64_t first_sequence);
  Status FenceLog(uint64_t body_bytes, bool sync);
  void CompleteChunk() REQUIRES(db_mutex);
  bool GetsIndex(const LogChunk& chunk) const;
  uint64_t RecordBytes() const REQUIRES(db_mutex);
  Status MakeRoomForReplay(uint64_t frame_bytes);

  Status MakeRoom(uint64_t frame_bytes, Space::Demand demand) EXCLUDES(db_mutex);
  Status MakeRoomLocked(uint64_t frame_bytes, Space::Demand demand, StallClock* clock) REQUIRES(db_mutex);
  Status TakeChunk(uint64_t frame_bytes, Space::Demand demand, bool* taken, StallClock* clock) REQUIRES(db_mutex);
  bool ChunkForDeletes(uint64_t frame_bytes, Space::Demand demand) REQUIRES(db_mutex);
  Status NoRoom(bool* give_up, StallClock* clock) REQUIRES(db_mutex);
  void UseChunk(std::unique_ptr<LogChunk> chunk, uint64_t frame_bytes) REQUIRES(db_mutex);
  void Seal() REQUIRES(db_mutex);
  void Throttle(uint64_t bytes);

  DbContext& db_;
  WriteTurns turns_;
  bool fence_is_quick_ = false;  // then writers have no sync to share, and take turns

  WriteLanes lanes_;

  // The leader's.
  WriteQueue queue_;
  int meetings_ = 0;             // of writers, less those that were alone; at most twice as many as open the lanes;
                                 // below 0: lanes stay closed for so many groups
  Persist* persist_ = nullptr;   // the pool's
  FileLog* file_log_ = nullptr;  // of logs_; null: writes go to no files
  std::unique_ptr<FrameWriter> frame_writer_;
  std::vector<LogRecord> group_records_;
  LogChunk* chunk_ = nullptr;     // receives frames; the memtable owns it
  MemTable* writable_ = nullptr;  // the tree's memtable
  uint64_t allocated_sequence_ = 0;
  uint64_t unsynced_ = UINT64_MAX;  // bytes of frames since the last sync, in file mode; at first there was none
  WritePace pace_ GUARDED_BY(db_mutex);
  uint64_t throttle_debt_ = 0;  // nanoseconds of delay not yet slept

  // Nanoseconds a leader waits per KiB it writes; 0 far from any limit. Set under the mutex.
  std::atomic<uint64_t> throttle_nanos_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_WRITE_WRITE_PATH_H_
