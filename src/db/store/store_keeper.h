// StoreKeeper: a database and its file STORE, which names the parts (format/store_descriptor.h). An open believes it:
//
//   STORE              pool     what there is
//   missing            no       no database
//   missing            yes      a pool of which nothing says whose it is: refused
//   damaged            any      refused
//   being made         no       no database: its making was cut off before anybody could write to it
//   being made, in use yes      the database; of a making only the uuid counts
//   in use             no       a database of which the pool is missing: refused, whatever create_if_missing says
//
// A volatile pool is never there: its database is there if STORE says "in use".
//
// An open looks twice. Before it has the lock, so that a refused open leaves nothing behind; and once it has it, since
// another process may have made or removed the database meanwhile. Only what was found then decides what the open makes
// and, if it fails, what it takes away again.
//
// Writing: "being made", with the pool's uuid, before there is anything else of a new database, and again by an open
// that has made one and fails, before it takes the parts away; "in use" in every open, when all parts are there and
// before anybody can write, background threads included; with a volatile pool the state of its SSD tier, whenever that
// changes (log_floor.cc). Nobody else writes the file while the database is open.
//
// The origin says whose copy the database is. Nothing in the path of a write looks at it; so each open makes of it what
// holds whoever writes from then on: "up to the last write that there is". Where that is not the last write any more,
// something else was written, and the origin is forgotten.
//
// Threads: store() and what finds or checks: the open's before there are others, and the close's. What keeps something:
// any, under a lock of their own, which is held over the replacement; no other lock is taken under it.
// After a crash: STORE as it was, or as it is to be.

#ifndef MIODB_SRC_DB_STORE_STORE_KEEPER_H_
#define MIODB_SRC_DB_STORE_STORE_KEEPER_H_

#include <string>

#include "src/db/context/db_context.h"
#include "src/db/context/db_mutex.h"
#include "src/db/store/store_file.h"
#include "src/util/threads/mutex.h"

namespace miodb {

// The database before an open. While the answer is unknown, nothing may be taken away: a database may be there.
enum class Existence {
  kUnknown,
  kNew,         // nothing
  kPool,        // a database with a pool
  kFilesAlone,  // the files of a database whose pool was volatile
};

class StoreKeeper {
 public:
  explicit StoreKeeper(const DbContext& db) : db_(db) {}
  StoreKeeper(const StoreKeeper&) = delete;
  StoreKeeper& operator=(const StoreKeeper&) = delete;

  // Whether the database has a STORE at all: not where nothing of it outlives the process.
  bool Keeps() const;

  // Finds out whether there is a database, by STORE and by whether its pool is there. On failure there is one, or it is
  // not known.
  Status Find(bool pool_is_there);
  Existence existence() const { return existence_; }
  bool existed() const { return existence_ == Existence::kPool || existence_ == Existence::kFilesAlone; }

  // Makes the content of STORE durable. Before this call nothing is made or removed by it.
  Status Trust();

  // Whether the pool that was opened is the one that STORE names, and no other database's too.
  Status CheckPool();

  // Makes STORE say what there is now, and syncs it. coming: and where a region is going to be: readers look for it
  // there as soon as the pool has it.
  Status Keep(StoreState state, const std::string& coming = "");

  // As Keep, at the end of a recovery that has found writes up to this one: an origin that does not hold for them is
  // forgotten. A copy that followed may yet be given its source's last write once more (Families::FinishDrops).
  Status KeepOpened(uint64_t last_sequence);

  // Before anybody can write: a copy that followed has the source's writes up to this one.
  Status EndFollowing(uint64_t last_sequence);

  // As DB::FollowSource, of a database with writes up to this one.
  Status Follow(const Slice& identity, uint64_t last_sequence);

  // The identity of the source, if the database is known to be a copy, and behind a space the last write of the source
  // that it has, unless it follows; else empty.
  std::string OriginText();

  // Makes STORE say this of a volatile pool's database (StoreDescriptor). On failure it is as it was, unless *in_doubt
  // is the failure as well: then a crash leaves either.
  Status KeepSsdState(uint64_t log_reach, std::string state, Status* in_doubt) EXCLUDES(db_mutex);

  // The content of STORE when it is written next, and whether the log was in use when it was written last.
  StoreDescriptor& store() { return store_; }
  bool log_was_in_use() const { return stored_.log.in_use; }

 private:
  using Origin = StoreDescriptor::Origin;

  Status CheckOrigin(const Uuid& source, uint64_t last_sequence) const;
  Status Refusal(bool pool_is_there) const;
  Status MissingStore() const;
  Status MissingPool(const std::string& path) const;

  const DbContext& db_;
  Mutex mutex_;                                // one replacement at a time
  Existence existence_ = Existence::kUnknown;  // when the open looked for it
  StoreDescriptor store_;                      // what STORE is to say
  StoreDescriptor stored_;                     // what it says
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_STORE_STORE_KEEPER_H_
