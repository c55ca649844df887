// An object that is told of a database's background work and of its troubles: for monitoring, and for programs that act
// on them.
//
//   class Alarm : public miodb::EventListener {
//     void OnError(const miodb::ErrorInfo& info) override { Page("store", info.status.ToString()); }
//   };
//   Alarm alarm;
//   options.listeners.push_back(&alarm);
//
// A class derives from EventListener and overrides what it wants to hear of; the rest does nothing. Members may be
// added to the structs, and calls to the class, in later versions, so a listener is compiled with the library's
// headers.
//
// In C, Python and Java there are no listeners: programs there look at properties.
//
// Threads: each database has one thread that makes all calls, one after the other, in the order of the events, and
// holds no lock of the database. The calling thread is not the thread in which something happened: events come a little
// later, and nothing in the database waits for them. A listener that is given to several databases is called by a
// thread of each.
//
// A listener may call everything of the database that does not wait for background work, such as Get, GetProperty and
// iterators. Listeners must not write, call Flush, CompactRange or WaitForIdle, or delete the database. A listener that
// takes long delays the events behind it; of more than 1024 that wait the newest are dropped, and OnDropped tells how
// many.
//
// For what else there is: figures that are looked at now and then are properties (db.h, "miodb.counters" and
// "miodb.prometheus"); what happens to each call is measured by Options::statistics and perf_context.h; what is done in
// the background, in words, is in the info log. A listener is for what should be known when it happens.
//
// Cost: an event is a few allocations in the thread that notes it, and there is one for a flush, a merge, a stall or a
// change of space, not for a call. Without listeners there is neither a queue nor a thread.
//
// Ownership: listeners are the program's and outlive the database. Arguments are valid for the call. When deleting the
// database returns, all calls have been made.
//
// After fork() a child has no such thread, and is told nothing.
//
// Units: microseconds and bytes. Errors: a listener has no way to report one, and must not throw.

#ifndef MIODB_INCLUDE_LISTENER_H_
#define MIODB_INCLUDE_LISTENER_H_

#include <cstdint>

#include "miodb/export.h"
#include "miodb/status.h"

namespace miodb {

// A memtable became tables of level 0.
struct MIODB_EXPORT FlushInfo {
  // From the beginning of the work to its end; the memtable may have waited before.
  uint64_t micros = 0;

  // Records of the memtable, versions that are hidden included.
  uint64_t entries = 0;

  uint64_t index_bytes = 0;  // written; the payload stays where the log put it
};

// Tables were merged, in the pool or on SSD, or moved from the one to the other.
struct MIODB_EXPORT MergeInfo {
  // Whether the result is on SSD: it is for drains out of the pool and for compactions there.
  bool on_ssd = false;

  // Counted from 0 in the pool, where the last one is the repository, and from 0 anew on SSD.
  int output_level = 0;

  uint64_t micros = 0;

  // In the pool: indexes alone, since payload stays where it is, and of what was written also records that were copied.
  // On SSD: of files.
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
};

// A writer waited for room for a millisecond or longer, and those behind it with it. Where writers are slowed down in
// small steps, as a limit comes near, that is in "miodb.throttle-micros" and in the times of stalls, and not told here.
struct MIODB_EXPORT StallInfo {
  uint64_t micros = 0;
};

// Something in the background failed. The first error that makes the database read-only is told once; errors of the SSD
// tier each time that a job fails.
struct MIODB_EXPORT ErrorInfo {
  // Place and reason, as the next write gets it, or the property "miodb.ssd-error".
  Status status;

  // Whether the database takes no writes any more, until it is opened again. Else it tries again by itself.
  bool is_read_only = false;
};

// How much room the pool has: what it may take, less what is in use and what merges need for themselves.
enum class SpaceLevel : int {
  kEnough = 0,
  kNearLimit = 1,  // garbage is collected early, and writers are slowed down, the more the less is left
  kFull = 2,       // a write was refused with NoSpace; until there is enough again
};

// The room in the pool has come to another level. If the pool fills up, delete keys, give a larger pool_size at the
// next open, or add a region (DB::AddRegion), from a thread of the program's.
struct MIODB_EXPORT SpaceInfo {
  SpaceLevel level = SpaceLevel::kEnough;

  // Figures of the whole pool at that moment; the free bytes need not be in one piece.
  uint64_t free_bytes = 0;
  uint64_t capacity_bytes = 0;
};

class MIODB_EXPORT EventListener {
 public:
  virtual ~EventListener();

  // The defaults do nothing.

  // When the tables are installed, so that reads find them there.
  virtual void OnFlush(const FlushInfo& info);

  // When the new tables are written. They are installed next, unless the merge was given up for the close of the
  // database or for a write, or failed, of which OnError tells.
  virtual void OnMerge(const MergeInfo& info);

  // When the wait is over.
  virtual void OnStall(const StallInfo& info);

  virtual void OnError(const ErrorInfo& info);

  // When the level is another than the one that was told last; kEnough comes first only after one of the others.
  virtual void OnSpace(const SpaceInfo& info);

  // So many events came while too many waited, and are told no more.
  virtual void OnDropped(uint64_t events);
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_LISTENER_H_
