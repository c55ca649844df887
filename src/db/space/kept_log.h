// KeptLog: the log that the pool has, and for how long it has it once it is flushed (Options::keep_log_bytes).
//
//   flush     The edit that takes a memtable's chunks out of the log keeps them, and lets the oldest go that are then
//             above the limit. So there is no edit more, and never more than the limit.
//   open      Kept chunks are claimed like any other space, and not replayed. Those above the limit are let go.
//   no space  The older half is let go, as often as somebody finds no space, and before writers are slowed down.
//
// Kept chunks follow one another, and the last one ends with the flushed sequence: where something is missing, because
// records came by a log file, all before it is let go.
//
// Threads: as annotated. After a crash: before an edit the chunks of before, after it those of after it.

#ifndef MIODB_SRC_DB_SPACE_KEPT_LOG_H_
#define MIODB_SRC_DB_SPACE_KEPT_LOG_H_

#include <cstdint>
#include <vector>

#include "src/db/context/control.h"
#include "src/db/context/db_context.h"
#include "src/db/space/log_source.h"
#include "src/db/state/tree.h"
#include "src/util/check/check.h"

namespace miodb {

class KeptLog final : public LogSource {
 public:
  KeptLog(const DbContext& db, Control* control, Tree* tree) : db_(db), control_(control), tree_(tree) {
    CHECK(control != nullptr && tree != nullptr);
  }

  // Adds to the edit of a flush that it takes the memtable's chunks out of the log, and keeps the chunks that may be
  // kept. *extents: those of the kept chunks.
  void AddFlushed(const MemTable& memtable, VersionEdit* edit, ChunkExtents* extents) const REQUIRES(db_mutex);

  // Has the edit let go of what is above the limit.
  void Fit(VersionEdit* edit) const REQUIRES(db_mutex) { Keep({}, true, edit, nullptr); }

  // Lets go of the older half. False if there is nothing to let go of, or if that failed.
  bool LetGo() REQUIRES(db_mutex);

  // Bytes of the pool that are kept, those that tables refer to as well.
  uint64_t bytes() const REQUIRES(db_mutex) { return tree_->versions->manifest().kept.space; }

  // In chunks that are kept or that memtables have.
  uint64_t LastVisible() const override;
  Status FindPart(uint64_t sequence, LogPart* part) const override EXCLUDES(db_mutex);

 private:
  // A chunk that a flush has taken out of the log.
  struct Flushed {
    KeptChunk place;
    ExtentRef extent;
  };

  uint64_t limit() const;
  void Keep(const std::vector<Flushed>& flushed, bool follows, VersionEdit* edit, ChunkExtents* extents) const
      REQUIRES(db_mutex);

  const DbContext& db_;
  Control* const control_;
  Tree* const tree_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_SPACE_KEPT_LOG_H_
