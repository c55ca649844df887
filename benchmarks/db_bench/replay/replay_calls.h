// The calls of a replay (replayer.h), made to one database by one worker.
//
// Column families: a trace has their ids alone. The database's family of that id is taken, as in a copy of the one that
// was traced; else one with the name "replayed-<id>", which is made.
//
// Threads: one.

#ifndef MIODB_BENCHMARKS_DB_BENCH_REPLAY_REPLAY_CALLS_H_
#define MIODB_BENCHMARKS_DB_BENCH_REPLAY_REPLAY_CALLS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "miodb/db.h"
#include "miodb/trace.h"
#include "miodb/write_batch.h"

namespace miodb::bench {

class ReplayCalls {
 public:
  // With keeps_iterators an iterator is kept after its seek, for the scan record that tells how to move it.
  explicit ReplayCalls(DB* db) : db_(db) {}

  // Makes the call that the record stands for. NotSupported if that cannot be done, and then nothing happened.
  Status Make(const TraceRecord& record, bool keeps_iterators);

  // Moves of iterators so far.
  uint64_t steps() const { return steps_; }

  // Bytes of keys and values of writes so far.
  uint64_t written_bytes() const { return written_bytes_; }

 private:
  // An iterator between its seek and its scan record. The bounds are what it refers to.
  struct Open {
    uint64_t seek_micros;
    std::string key;
    std::string lower, upper;
    Slice lower_slice, upper_slice;
    std::unique_ptr<Iterator> iterator;
  };

  Status FindFamily(uint32_t id, ColumnFamilyHandle** family);
  Status Write(const TraceRecord& record);
  Status Get(const TraceRecord& record);
  Status MultiGet(const TraceRecord& record);
  Status Seek(const TraceRecord& record, bool keeps_iterators);
  Status Scan(const TraceRecord& record);

  DB* const db_;
  std::map<uint32_t, ColumnFamilyHandle*> families_;  // by their ids in the trace
  WriteBatch batch_;
  std::string value_;
  std::vector<ColumnFamilyHandle*> key_families_;
  std::vector<Slice> keys_;
  std::vector<std::string> values_;
  std::deque<std::unique_ptr<Open>> open_;  // Oldest first.
  uint64_t steps_ = 0;
  uint64_t written_bytes_ = 0;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_REPLAY_REPLAY_CALLS_H_
