// Savepoints: states of the database that keep a name (DB::CreateSavepoint), and views of them.
//
// Making one, step by step:
//
//   0 Have the column families stand still (FamilyGate::Still) until step 3 is done. Else families would be as in step
//     3, and records as in step 1 or 2: a batch over families would be in the savepoint by half.
//   1 Between two groups of writes: note the last sequence, and how far the log chunks of all memtables are filled.
//     Where a fence is slow the log is synced up to here.
//   2 If memtables have records that are in no chunk of the pool: wait for their flush.
//   3 One edit names the savepoint. Its state is the manifest's at that edit: all that was flushed by then, and of the
//     log what step 1 noted. Parts of chunks of which a flush has made tables meanwhile count for nothing, and if it
//     has flushed writes that came after step 1, these belong to the savepoint too. So a savepoint has all writes up to
//     its sequence and none behind it.
//
// A state that is held without a name (Freeze) is taken in the same way.
//
// Threads: all calls by any; changes wait for each other. After a crash: before an edit the savepoints without it,
// after the edit with it.

#ifndef MIODB_SRC_DB_COPY_SAVEPOINTS_H_
#define MIODB_SRC_DB_COPY_SAVEPOINTS_H_

#include <memory>
#include <string>
#include <vector>

#include "src/db/calls/requests.h"
#include "src/db/state/tree.h"
#include "src/db/write/write_path.h"
#include "src/util/threads/mutex.h"

namespace miodb {

// A state that is held for a while: it has no name, and nobody finds it again.
struct FrozenState {
  VersionEdit state;           // leads from nothing to it; of log chunks it names the parts that belong to it
  VersionRef version;          // of tables and files
  std::vector<ExtentRef> log;  // of the log chunks
};

class Savepoints {
 public:
  Savepoints(const DbContext& db, const WritePath::Parts& parts, WritePath* write, Requests* requests)
      : db_(db),
        control_(parts.control_),
        tree_(parts.tree_),
        space_(parts.space_),
        write_(write),
        requests_(requests) {
    CHECK(write != nullptr && requests != nullptr);
  }

  // As DB's calls of these names.
  Status Create(const Slice& name) EXCLUDES(db_mutex);
  Status Drop(const Slice& name) EXCLUDES(db_mutex);
  Status List(std::vector<SavepointInfo>* savepoints) EXCLUDES(db_mutex);

  // Holds the state between two writes, with all that was written before the call. Where records are in no chunk of the
  // pool it waits for a flush, and the state ends in front of the first that is in none.
  Status Freeze(FrozenState* frozen) EXCLUDES(db_mutex);

  // Lets go of it.
  void Thaw(FrozenState* frozen) EXCLUDES(db_mutex);

  // NotFound if there is none of this name. *savepoint stays as it is, also if the savepoint is dropped meanwhile.
  Status Find(const Slice& name, SavepointRef* savepoint) EXCLUDES(db_mutex);

 private:
  struct Moment;

  Status CheckName(const Slice& name) EXCLUDES(db_mutex);
  std::vector<const LogChunk*> FilledChunks() const REQUIRES(db_mutex);  // of all memtables, by age
  Status Look(Moment* moment) EXCLUDES(db_mutex);
  Status TakeState(FrozenState* frozen, bool* all) EXCLUDES(db_mutex);
  Status Apply(VersionEdit edit, const ChunkExtents& chunks) EXCLUDES(db_mutex);
  Status Name(const Slice& name, const Moment& moment) EXCLUDES(db_mutex);

  const DbContext& db_;
  Control* const control_;
  Tree* const tree_;
  Space* const space_;
  WritePath* const write_;
  Requests* const requests_;

  Mutex create_mutex_;  // one is made at a time: so moments are in the order of ids
  Mutex mutex_;         // one edit at a time, after it: so ids are in the order of edits
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_COPY_SAVEPOINTS_H_
