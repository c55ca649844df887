// Recovery: from a manifest and a log to a state that can be written to (recovery.cc tells it step by step).
//
// With a volatile pool (log_floor.h) there are no tables and no chunks: the files of the SSD tier are taken up, and
// what the log has above the floor is written once more, by Replay, when the background threads run.
//
// Threads: the open's alone.

#ifndef MIODB_SRC_DB_OPEN_RECOVERY_H_
#define MIODB_SRC_DB_OPEN_RECOVERY_H_

#include <map>
#include <memory>
#include <vector>

#include "src/db/background/flusher.h"
#include "src/db/space/log_files.h"
#include "src/db/space/log_floor.h"
#include "src/db/space/space.h"
#include "src/db/state/tree.h"
#include "src/db/write/write_path.h"
#include "src/log/log_history.h"
#include "src/util/check/check.h"

namespace miodb {

class Recovery {
 public:
  Recovery(const DbContext& db, const WritePath::Parts& parts, LogFloor* floor, KeptLog* kept, WritePath* write)
      : db_(db),
        tree_(parts.tree_),
        space_(parts.space_),
        logs_(parts.logs_),
        flusher_(parts.flusher_),
        floor_(floor),
        kept_(kept),
        write_(write) {
    CHECK(floor != nullptr && kept != nullptr && write != nullptr);
  }
  Recovery(const Recovery&) = delete;
  Recovery& operator=(const Recovery&) = delete;

  // From a manifest and a log to a state that can be written to.
  Status Recover() REQUIRES(db_mutex);

  // The same with a volatile pool: takes up the files of the SSD tier, and finds out which log files are to be read.
  Status RecoverVolatile() REQUIRES(db_mutex);

  // Writes what those log files hold into the pool once more. Before the database is anybody else's.
  Status Replay() EXCLUDES(db_mutex);

 private:
  Status CheckRegionLimits();
  Status ReplayLog(const std::vector<ExtentRef>& extents, uint64_t* last_sequence, VersionEdit* edit)
      REQUIRES(db_mutex);
  Status ReplayHistory(const LogHistory& log, const std::map<uint64_t, ExtentRef>& extents, VersionEdit* edit,
                       const LogPiece** last_sealed) REQUIRES(db_mutex);
  Status RemoveOrphans() REQUIRES(db_mutex);
  std::unique_ptr<LogHistory> NewHistory(LogPolicy policy) const;
  void LogChunks(const LogHistory& log) const;
  Status ReplayBatch(const Slice& batch, MemTable* memtable);

  const DbContext& db_;
  Tree* const tree_;
  Space* const space_;
  LogFiles* const logs_;
  Flusher* const flusher_;
  LogFloor* const floor_;
  KeptLog* const kept_;
  WritePath* const write_;
  std::unique_ptr<LogHistory> to_replay_;  // of a volatile pool, between RecoverVolatile and Replay
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_OPEN_RECOVERY_H_
