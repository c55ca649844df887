// Where the time of a thread's puts and gets goes, stage by stage. Off unless a thread asks for it.
//
//   SetPerfLevel(kPerfTimes);
//   GetPerfContext()->Reset();
//   db->Get(...);
//   puts(GetPerfContext()->ToString().c_str());
//   SetPerfLevel(kPerfOff);
//
// Threads: every thread has a level and a context of its own; what other threads and the background do is not in it.
// The writes of several threads may be made by one of them, the leader: then its stages hold the work for all of them,
// and the time of the others is put_wait. A MultiGet adds to the stages of the tables that it looks into and counts as
// no get; iterators are not in it.
//
// Ownership: the context belongs to the thread and lives as long as it. Another thread gets its figures only by a
// copy: the struct is a plain value, and Add sums up those of several threads.
//
// Costs: off, a thread-local load and a branch for each stage; on, a clock reading for each, which is part of what is
// shown. So measure some of many calls, not all.
//
// Units: nanoseconds of the system's monotonic clock; calls, filters and tables are counts. Time in which a thread
// waits for a CPU counts in the stage in which the thread waits.
//
// Errors: none.

#ifndef MIODB_PERF_CONTEXT_H_
#define MIODB_PERF_CONTEXT_H_

#include <cstdint>
#include <string>

#include "miodb/export.h"

namespace miodb {

// The measurements of a thread: nothing, or the time of each stage of its puts and gets.
enum PerfLevel { kPerfOff = 0, kPerfTimes = 1 };

// The sums of what a thread has spent while its level was kPerfTimes. All of them grow until Reset, over all databases
// that the thread uses. A call that began before the level was set is in none of them.
//
// The stages of a put are the steps of a write (docs/architecture.md, "One put"). The stages of a get are the places in
// which it looks for the key, one after the other. The total is larger than the sum of the stages: ToString shows the
// difference as "rest".
struct MIODB_EXPORT PerfContext {
  uint64_t puts = 0;          // Put, Delete and Write calls
  uint64_t put_total = 0;     // from call to return
  uint64_t put_wait = 0;      // for its turn, or for the leader that did its work
  uint64_t put_room = 0;      // to have space in the log; seldom more than a look
  uint64_t put_log = 0;       // to checksum the frame and copy it into the log
  uint64_t put_memtable = 0;  // to insert into the memtable
  uint64_t put_fence = 0;     // until the frame was durable
  uint64_t put_leave = 0;     // to hand the queue on and wake others

  // Of gets. A key that is found in a memtable has nothing in the later stages, so means over many gets say how often
  // each place is reached as well as how long it takes.
  uint64_t gets = 0;
  uint64_t get_total = 0;     // from call to return; what is in no stage is pinning a version, and copying the value
  uint64_t get_memtable = 0;  // memtables, with their filters
  uint64_t get_filter = 0;    // filters of tables
  uint64_t get_index = 0;     // index nodes of tables
  uint64_t get_record = 0;    // records that tables refer to, with comparing keys
  uint64_t get_ssd = 0;       // tables on SSD
  uint64_t filters_asked = 0;
  uint64_t tables_searched = 0;  // whose filter did not rule the key out
  uint64_t records_kept = 0;     // that were found in DRAM instead of such a table (Options::record_cache_size)

  // Everything to zero, so that what follows is measured from here on.
  void Reset() { *this = PerfContext(); }
  // Adds each figure of the other context to this one's: for a program that sums up its threads.
  void Add(const PerfContext& other);

  // Two lines: the mean nanoseconds of a put and of a get, and of each stage, over the calls that were measured; the
  // second ends with filters asked, tables searched and records kept. For people: the words and their order may change
  // between versions.
  std::string ToString() const;
};

// Sets the level of the calling thread, which is kPerfOff at first, and gives its context: never nullptr, and the same
// context at every call. Setting a level does not reset the context, so measuring may be switched on for every n-th
// call.
MIODB_EXPORT void SetPerfLevel(PerfLevel level);
MIODB_EXPORT PerfContext* GetPerfContext();

}  // namespace miodb

#endif  // MIODB_PERF_CONTEXT_H_
