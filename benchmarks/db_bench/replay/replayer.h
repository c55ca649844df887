// Replaying a trace: makes the calls that it records again, on a database that usually is a copy of the traced one as
// it was when the trace began.
//
// When. A call is made no earlier than (its time - the time of the trace's begin) / fast_forward after the replay
// began, and late calls at once: none is left out. Without pacing the replay makes calls as fast as the database takes
// them.
//
// Order. With one worker strictly that of the trace. With several, calls with the same first key go to the same worker
// in their order, and a write to several keys waits for all calls before it and holds up those behind it. So the
// writes to each key happen in the order of the trace, and the content in the end is the same for any number of
// workers. Between different keys calls may overtake each other. A deletion of a range counts as a write to several.
//
// What. Writes with default options (merges where the database has an operator), gets, multi-gets, seeks. Where the
// trace says how far an iterator was moved, it is moved that far; otherwise it is only sought. NotFound is success.
// Calls that the database cannot do (merges without an operator, deletes of ranges, column families other than 0) and
// records of unknown types are counted as unsupported and left out; a write is left out as a whole.
//
// Threads: one per worker besides the caller's, which reads the trace and keeps the time; with one worker only the
// caller's. No call of the database may throw: MioDB's do not.

#ifndef MIODB_BENCHMARKS_DB_BENCH_REPLAY_REPLAYER_H_
#define MIODB_BENCHMARKS_DB_BENCH_REPLAY_REPLAYER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "miodb/db.h"
#include "miodb/status.h"
#include "miodb/trace.h"

namespace miodb::bench {

// A call that has just been made.
struct ReplayedCall {
  int worker = 0;
  TraceType type = kTraceBegin;
  uint64_t nanos = 0;          // What it took.
  uint64_t lag_micros = 0;     // How much too late it began.
  uint64_t offset = 0;         // Of its record in the file.
  uint64_t written_bytes = 0;  // Of keys and values.
};

struct ReplayOptions {
  // How much faster than in the trace time goes: above 0; below 1 is slower.
  double fast_forward = 1;

  // No waiting; fast_forward does not matter.
  bool as_fast_as_possible = false;

  // 1 to 1024. For the form of ReplayTrace with one database.
  int workers = 1;

  // Called after every call, by the worker that made it. The replay stops when it returns false.
  std::function<bool(const ReplayedCall&)> on_call;
};

// The results of the records of a type.
struct ReplayCounts {
  uint64_t issued = 0;
  uint64_t succeeded = 0;
  uint64_t failed = 0;
  uint64_t unsupported = 0;  // Not issued.
};

struct ReplayReport {
  std::map<TraceType, ReplayCounts> counts;
  ReplayCounts total;
  uint64_t steps = 0;   // Moves of iterators behind their seeks.
  uint64_t micros = 0;  // What the replay took.
  uint64_t lag_micros_max = 0;
  uint64_t lag_micros_total = 0;  // Over all issued calls.
  bool stopped = false;           // on_call wished so.

  // The failure whose record comes first in the trace, and that record's offset in the file; OK if there was none.
  Status first_failure;
  uint64_t first_failure_offset = 0;
};

// Replays what the reader has still to deliver. Returns OK when all of the trace was read, whatever the calls returned:
// the report has that. InvalidArgument if an option is out of range; what the reader says if the trace is damaged,
// after replaying what comes before.
Status ReplayTrace(DB* db, TraceReader* reader, const ReplayOptions& options, ReplayReport* report);

// The same with one worker for each entry, which makes its calls to that one. They may be different views of one store.
Status ReplayTrace(const std::vector<DB*>& views, TraceReader* reader, const ReplayOptions& options,
                   ReplayReport* report);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_REPLAY_REPLAYER_H_
