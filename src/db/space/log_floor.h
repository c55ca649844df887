// LogFloor: up to where the log is not needed any more, which STORE says for a volatile pool.
//
// With a pool that lasts, the floor is the manifest's flushed sequence, and none of this is needed.
//
// Threads: Read by the open; the rest as annotated.

#ifndef MIODB_SRC_DB_SPACE_LOG_FLOOR_H_
#define MIODB_SRC_DB_SPACE_LOG_FLOOR_H_

#include <cstdint>
#include <vector>

#include "compaction/policy/ssd_schedule.h"
#include "src/db/space/log_files.h"
#include "src/db/state/tree.h"
#include "src/util/check/check.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

class LogFloor {
 public:
  LogFloor(const DbContext& db, StoreKeeper* store, Control* control, Tree* tree, LogFiles* logs,
           const SsdSchedule* ssd_schedule)
      : db_(db), store_(store), control_(control), tree_(tree), logs_(logs), ssd_schedule_(ssd_schedule) {
    CHECK(store != nullptr && control != nullptr && tree != nullptr);
    CHECK(logs != nullptr && ssd_schedule != nullptr);
  }
  LogFloor(const LogFloor&) = delete;
  LogFloor& operator=(const LogFloor&) = delete;

  // Reads what there is of the database, or makes up its id.
  Status Read(bool exists);

  // The id of the owner of table files and log files: the pool, or a volatile pool's database.
  uint64_t store_id() const { return store_id_; }

  // The state of the SSD tier that the open found in STORE, and up to where the log went at least.
  const VersionEdit& found() const { return found_; }
  uint64_t log_reach() const { return log_reach_; }

  // The files of the tier are in the tree by now.
  void ForgetFiles() {
    found_.files.clear();
    found_.ranges.clear();
  }

  // The epoch of the root, or of STORE with a volatile pool, as the open found it, and that of now.
  uint64_t opened_epoch() const { return opened_epoch_; }
  uint64_t epoch() const REQUIRES(db_mutex) { return db_.pool->is_volatile() ? epoch_ : db_.pool->epoch(); }

  // The floor that STORE has when the open begins.
  void Begin() REQUIRES(db_mutex) { floor_ = found_.flushed_sequence; }

  // Whether the log is too long for the sake of what is in the buffer.
  bool BufferHoldsLog() const REQUIRES(db_mutex);

  // Whether a drain would make a log that is too long shorter. A log that damage keeps from draining has to stay.
  bool WantsDrain() const REQUIRES(db_mutex);

  // By how much of its limit the log is too long, while writers that wait give it time to get shorter.
  double Excess() const REQUIRES(db_mutex);

  // Steps 1 and 2 for an edit that is to follow. If it fails in such a way that either state may be the durable one,
  // the database stops.
  Status MakeFilesDurable(const VersionEdit& edit) REQUIRES(db_mutex);

  // Retires log files when that is possible without a drain: what they hold was hidden by newer writes in the pool.
  bool Raise() REQUIRES(db_mutex);

  // Lets go of the log files that are not needed any more. Lets go of the mutex meanwhile.
  void RetireLog() REQUIRES(db_mutex);

 private:
  uint64_t Limit() const;
  bool TooLong() const;
  uint64_t Without(const std::vector<uint64_t>& drained) const REQUIRES(db_mutex);
  Status Replace(const VersionEdit& edit, Status* in_doubt) REQUIRES(db_mutex);

  const DbContext& db_;
  StoreKeeper* const store_;
  Control* const control_;
  Tree* const tree_;
  LogFiles* const logs_;
  const SsdSchedule* const ssd_schedule_ PT_GUARDED_BY(db_mutex);

  // As the open found them.
  uint64_t store_id_ = 0;
  VersionEdit found_;
  uint64_t log_reach_ = 0;
  uint64_t opened_epoch_ = 0;

  uint64_t epoch_ GUARDED_BY(db_mutex) = 0;  // of the state that STORE has
  uint64_t floor_ GUARDED_BY(db_mutex) = 0;  // of the same
  bool busy_ GUARDED_BY(db_mutex) = false;   // STORE is being replaced
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_SPACE_LOG_FLOOR_H_
