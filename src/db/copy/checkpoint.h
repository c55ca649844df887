// Checkpoint: the state of one moment as a database of its own, in another directory (DB::CreateCheckpoint).
//
// Making one, step by step:
//
//   1 Make DIRECTORY.tmp (workshop.h).
//   2 Hold the state (Savepoints::Freeze). Nothing that it names changes or goes any more, so writers go on.
//   3 Write the pool, with another uuid and the same secret (pool_copy.h): every extent that the state names at its own
//     offset, and a manifest whose first edit is the state.
//   4 Give table files of the SSD tier second names in DIRECTORY.tmp/ssd, or copy them to where that cannot be.
//   5 Write STORE, without which nobody opens the pool. Everything is durable by now.
//   6 Rename DIRECTORY.tmp to DIRECTORY, and remove CHECKPOINT.
//
// Threads: any; calls for different directories at the same time.
// After a crash: DIRECTORY.tmp, which the next call for DIRECTORY takes up; or the checkpoint, maybe with the file
// CHECKPOINT still in it. The database itself is not changed.

#ifndef MIODB_SRC_DB_COPY_CHECKPOINT_H_
#define MIODB_SRC_DB_COPY_CHECKPOINT_H_

#include <string>

#include "src/db/context/db_context.h"
#include "src/db/context/db_mutex.h"
#include "src/db/copy/savepoints.h"
#include "src/util/check/check.h"

namespace miodb {

class Checkpoint {
 public:
  Checkpoint(const DbContext& db, Savepoints* savepoints) : db_(db), savepoints_(savepoints) {
    CHECK(savepoints != nullptr);
  }
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  // As DB::CreateCheckpoint.
  Status Create(const std::string& directory) EXCLUDES(db_mutex);

 private:
  const DbContext& db_;
  Savepoints* const savepoints_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_COPY_CHECKPOINT_H_
