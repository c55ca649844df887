// LogFloor: up to where the log is not needed any more, and SSD_MANIFEST, which says it for a volatile pool.
//
// With a pool that lasts, the floor is the manifest's flushed sequence, and none of this is needed.
//
// Threads: Read by the open; the rest as annotated.

#ifndef MIODB_SRC_DB_LOG_FLOOR_H_
#define MIODB_SRC_DB_LOG_FLOOR_H_

#include <cstdint>
#include <vector>

#include "compaction/ssd_schedule.h"
#include "src/db/log_files.h"
#include "src/db/tree.h"
#include "src/util/check.h"
#include "src/version/ssd_manifest.h"

namespace miodb {

class LogFloor {
 public:
  LogFloor(const DbContext& db, Control* control, Tree* tree, LogFiles* logs, const SsdSchedule* ssd_schedule)
      : db_(db), control_(control), tree_(tree), logs_(logs), ssd_schedule_(ssd_schedule) {
    CHECK(control != nullptr && tree != nullptr);
    CHECK(logs != nullptr && ssd_schedule != nullptr);
  }
  LogFloor(const LogFloor&) = delete;
  LogFloor& operator=(const LogFloor&) = delete;

  // Reads what there is of the database, or makes up its id.
  Status Read(bool exists);

  // SSD_MANIFEST as the open found it.
  const SsdManifest& manifest() const { return manifest_; }

  // The files of the tier are in the tree by now.
  void ForgetFiles() { manifest_.state.files.clear(); }

  // The epoch of the root, or of SSD_MANIFEST, as the open found it, and that of now.
  uint64_t opened_epoch() const { return opened_epoch_; }
  uint64_t epoch() const REQUIRES(db_mutex) { return db_.pool->is_volatile() ? manifest_epoch_ : db_.pool->epoch(); }

  // The floor that SSD_MANIFEST has when the open begins.
  void Begin() REQUIRES(db_mutex) { floor_ = manifest_.state.flushed_sequence; }

  // Whether the log is too long for the sake of what is in the buffer.
  bool BufferHoldsLog() const REQUIRES(db_mutex);

  // Whether a drain would make a log that is too long shorter. One that damage keeps from draining has to stay.
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
  Control* const control_;
  Tree* const tree_;
  LogFiles* const logs_;
  const SsdSchedule* const ssd_schedule_ PT_GUARDED_BY(db_mutex);

  SsdManifest manifest_;  // as the open found it
  uint64_t opened_epoch_ = 0;
  uint64_t manifest_epoch_ GUARDED_BY(db_mutex) = 0;  // of SSD_MANIFEST
  uint64_t floor_ GUARDED_BY(db_mutex) = 0;           // of SSD_MANIFEST
  bool busy_ GUARDED_BY(db_mutex) = false;            // SSD_MANIFEST is being replaced
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_LOG_FLOOR_H_
