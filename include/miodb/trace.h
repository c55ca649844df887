// Traces: files that record the calls made to a database, to be analysed, replayed and modelled (docs/tracing.md).
//
// The format is that of RocksDB's query traces, version 0.2, so that tools for those read what is written here; 0.1 is
// read too. It has no checksums and leaves out how far iterators were moved. So there are records of our own among the
// others, with type numbers that RocksDB's replay skips; TraceOptions::own_records leaves them out.
//
//   std::unique_ptr<miodb::TraceWriter> writer;
//   status = miodb::NewFileTraceWriter(path, &writer);
//   if (status.ok()) status = db->StartTrace(miodb::TraceOptions(), std::move(writer));
//   ...
//   status = db->EndTrace();
//
// Threads: a TraceWriter given to a database is called by one thread at a time. A TraceReader belongs to one thread.
//
// What a crash leaves: a file without an end record, possibly cut within its last record; TraceReader::torn tells.
//
// Units: times are microseconds since 1970, sizes bytes.

#ifndef MIODB_INCLUDE_TRACE_H_
#define MIODB_INCLUDE_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "miodb/export.h"
#include "miodb/slice.h"
#include "miodb/status.h"

namespace miodb {

// The numbers are those of the file.
enum TraceType : int {
  kTraceBegin = 1,
  kTraceEnd = 2,
  kTraceWrite = 3,
  kTraceGet = 4,
  kTraceSeek = 5,
  kTraceSeekForPrev = 6,
  kTraceMultiGet = 13,
  // Our own.
  kTraceScan = 64,         // How far an iterator was moved after a seek; written when that is over.
  kTraceSeekToFirst = 65,  // LevelDB's calls that have no key.
  kTraceSeekToLast = 66,
  kTraceChecksum = 67,  // Of everything before it; a TraceReader checks it and does not deliver it.
};

// Bits for TraceOptions::filter.
enum TraceFilter : int {
  kTraceFilterNone = 0,
  kTraceFilterGet = 1 << 0,
  kTraceFilterWrite = 1 << 1,
  kTraceFilterSeek = 1 << 2,  // Also seeks to the first and the last key.
  kTraceFilterSeekForPrev = 1 << 3,
  kTraceFilterMultiGet = 1 << 4,
};

struct MIODB_EXPORT TraceOptions {
  // Once the file is larger, calls are no longer recorded; the end record is.
  uint64_t max_trace_file_size = uint64_t{64} << 30;

  // Every n-th call that passes the filter is recorded, by one count over all types. 1 or more.
  uint64_t sampling_frequency = 1;

  // Types of calls that are not recorded: a sum of TraceFilter bits.
  uint64_t filter = kTraceFilterNone;

  // Writes are recorded in the order in which the database applies them, and only those that it applied; otherwise when
  // they are called. Replaying writes of several threads to the same keys gives the same content only with this.
  bool preserve_write_order = false;

  // Whether to write scan lengths, seeks to the first and last key, and checksums, which RocksDB does not know.
  bool own_records = true;
};

// Where a trace goes. Calls fail with IOError naming the place; after the first failure tracing stops.
class MIODB_EXPORT TraceWriter {
 public:
  TraceWriter() = default;
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  virtual ~TraceWriter();

  virtual Status Write(const Slice& data) = 0;

  // No other call may follow.
  virtual Status Close() = 0;

  // Bytes written so far.
  virtual uint64_t GetFileSize() = 0;
};

// A writer to a file, which is created or emptied. Small records are collected in a buffer.
MIODB_EXPORT Status NewFileTraceWriter(const std::string& path, std::unique_ptr<TraceWriter>* writer);

// One change of a write.
struct MIODB_EXPORT TraceUpdate {
  // RocksDB has five kinds; MioDB's own writes have the first two.
  enum Kind : int { kPut, kDelete, kSingleDelete, kDeleteRange, kMerge };

  Kind kind = kPut;
  uint32_t column_family = 0;
  Slice key;
  Slice value;  // The operand of a merge; the end of a deleted range.
};

// Walks the updates of a write in their order. Any bytes may be given.
//
//   TraceUpdates updates(record.batch);
//   while (updates.Next(&update)) ...
class MIODB_EXPORT TraceUpdates {
 public:
  // The bytes must outlive this.
  explicit TraceUpdates(const Slice& batch);

  // Stores the next update, which refers to the batch's bytes, and returns true; false at the end and at damage.
  bool Next(TraceUpdate* update);

  // Whether the walk ended at damage. What a TraceReader delivers has none.
  bool damaged() const { return damaged_; }

 private:
  Slice rest_;
  uint32_t remaining_ = 0;
  bool damaged_ = false;
};

struct MIODB_EXPORT TraceKey {
  uint32_t column_family = 0;
  Slice key;
};

// A recorded call. Slices refer to bytes of the reader and stay valid until it moves on.
struct MIODB_EXPORT TraceRecord {
  TraceType type = kTraceBegin;
  uint64_t micros = 0;  // When the call was made.
  uint64_t offset = 0;  // Of the record in the file.

  Slice batch;                 // kTraceWrite: see TraceUpdates
  uint32_t column_family = 0;  // Of the others; 0 is the default one, and MioDB has no more.
  Slice key;                   // kTraceGet, kTraceSeek, kTraceSeekForPrev; the seek's of kTraceScan
  Slice lower_bound;           // Of seeks; empty: none
  Slice upper_bound;
  std::vector<TraceKey> keys;  // kTraceMultiGet
  uint64_t seek_micros = 0;    // kTraceScan: micros of the seek
  uint64_t nexts = 0;          // kTraceScan: steps forward and backward
  uint64_t prevs = 0;
};

// Reads the records of a trace in their order.
//
//   std::unique_ptr<TraceReader> reader;
//   Status s = TraceReader::Open(path, &reader);
//   if (!s.ok()) ...
//   for (TraceRecord record; reader->Next(&record);) ...
//   if (!reader->status().ok()) ...
class MIODB_EXPORT TraceReader {
 public:
  // Opens a trace and reads its first record. NotFound or IOError if the file cannot be read; Corruption, naming the
  // file and the offset, if that record is not the beginning of a trace; NotSupported if it is of another version.
  static Status Open(const std::string& path, std::unique_ptr<TraceReader>* reader);

  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;
  ~TraceReader();

  // Stores the next record and returns true; false at the end and at damage. Begin, end and checksum records are not
  // delivered. Records of an unknown type are: they have a type, times and an offset, and nothing else.
  bool Next(TraceRecord* record);

  // OK, or why Next stopped: Corruption with the file, the offset and the reason.
  Status status() const;

  // Whether Next stopped at a record that the end of the file cuts, as a crash leaves it. status() is then Corruption;
  // everything before is whole. False if a checksum and an end record end the file: then a length is damaged.
  bool torn() const;

  // Whether the end record was met: the trace was ended in order.
  bool ended() const;

  // Whether a record of our own was met so far. Where there are any, one comes before the first call.
  bool has_own_records() const;

  // Goes back to the record behind the first.
  Status Rewind();

  // From the first record.
  uint64_t start_micros() const;
  int format_version() const;         // 1 or 2, for 0.1 and 0.2
  const std::string& writer() const;  // The version of the program that wrote it, such as "7.8".

  const std::string& path() const;
  uint64_t offset() const;      // Behind the last record that was read.
  uint64_t file_bytes() const;  // When the trace was opened.

 private:
  struct Rep;
  explicit TraceReader(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_TRACE_H_
