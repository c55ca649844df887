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
// and the time of the others is put_wait. Costs: off, a thread-local load and a branch for each stage; on, a clock
// reading for each, some 25 ns, which is part of what is shown. So measure some of many calls, not all.

#ifndef MIODB_PERF_CONTEXT_H_
#define MIODB_PERF_CONTEXT_H_

#include <cstdint>
#include <string>

#include "miodb/export.h"

namespace miodb {

enum PerfLevel { kPerfOff = 0, kPerfTimes = 1 };

// All times are nanoseconds and grow until Reset.
struct MIODB_EXPORT PerfContext {
  uint64_t puts = 0;          // Put, Delete and Write calls
  uint64_t put_total = 0;     // from call to return
  uint64_t put_wait = 0;      // for its turn, or for the leader that did its work
  uint64_t put_room = 0;      // to have space in the log; seldom more than a look
  uint64_t put_log = 0;       // to checksum the frame and copy it into the log
  uint64_t put_memtable = 0;  // to insert into the memtable
  uint64_t put_fence = 0;     // until the frame was durable
  uint64_t put_leave = 0;     // to hand the queue on and wake others

  uint64_t gets = 0;
  uint64_t get_total = 0;     // from call to return; what is in no stage is pinning a version, and copying the value
  uint64_t get_memtable = 0;  // memtables, with their filters
  uint64_t get_filter = 0;    // filters of tables
  uint64_t get_index = 0;     // index nodes of tables
  uint64_t get_record = 0;    // records that tables refer to, with comparing keys
  uint64_t get_ssd = 0;       // tables on SSD
  uint64_t filters_asked = 0;
  uint64_t tables_searched = 0;  // whose filter did not rule the key out

  void Reset() { *this = PerfContext(); }
  void Add(const PerfContext& other);

  // Two lines: the mean nanoseconds of a put and of a get, and of each stage.
  std::string ToString() const;
};

// Of the calling thread.
MIODB_EXPORT void SetPerfLevel(PerfLevel level);
MIODB_EXPORT PerfContext* GetPerfContext();

}  // namespace miodb

#endif  // MIODB_PERF_CONTEXT_H_
