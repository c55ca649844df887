// Requests: callers who wait for background work: a flush, everything in the repository, nothing left to do.
//
// Threads: all calls by any. After a crash: each call only hastens what would be done anyway.

#ifndef MIODB_SRC_DB_CALLS_REQUESTS_H_
#define MIODB_SRC_DB_CALLS_REQUESTS_H_

#include "src/db/background/flusher.h"
#include "src/db/background/merger.h"
#include "src/db/background/ssd_tier.h"
#include "src/db/context/workers.h"
#include "src/db/write/write_path.h"
#include "src/util/check/check.h"

namespace miodb {

class Requests : private WritePath::Parts {
 public:
  Requests(const DbContext& db, const WritePath::Parts& parts, WritePath* write)
      : WritePath::Parts(parts), db_(db), write_(write) {
    CHECK(write != nullptr);
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  // Waits until what was written before the call is in tables. With a volatile pool its log is durable.
  Status Flush() EXCLUDES(db_mutex);

  // Waits until all that is there at the call is in the repository, then has tombstones of the range dropped.
  Status CompactRange(const Slice* begin, const Slice* end) EXCLUDES(db_mutex);

  // Waits until no background work is running or due.
  Status WaitForIdle() EXCLUDES(db_mutex);

 private:
  Status FlushAll() EXCLUDES(db_mutex);
  Status Settle() EXCLUDES(db_mutex);

  const DbContext& db_;
  WritePath* const write_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CALLS_REQUESTS_H_
