// Traces: files that record the calls made to a database, to be analysed, replayed and modelled (docs/tracing.md).
//
// The format is that of RocksDB's query traces, version 0.2, so that tools for those read what is written here; 0.1 is
// read too. The format has no checksums and leaves out how far iterators were moved. So there are records of our own
// among the others, with type numbers that RocksDB's replay skips; TraceOptions::own_records leaves them out.
//
//   std::unique_ptr<miodb::TraceWriter> writer;
//   status = miodb::NewFileTraceWriter(path, &writer);
//   if (status.ok()) status = db->StartTrace(miodb::TraceOptions(), std::move(writer));
//   ...
//   status = db->EndTrace();
//
// A trace holds keys and values as they were given, so it is as confidential as the database. A call is recorded when
// it is made, whether it succeeds or not; calls of the library itself (flushes, merges) are not in it.
//
// Threads: a TraceWriter given to a database is called by one thread at a time, with a lock held that every traced
// call waits for: a writer that waits makes all calls wait. A TraceReader belongs to one thread.
//
// Ownership: StartTrace takes the writer over, and deletes it when the trace ends or the database is deleted. Slices
// that a reader delivers refer to memory of the reader and are good until its next call.
//
// After a crash: a file without an end record, possibly cut within its last record; TraceReader::torn tells.
// Nothing is synced while a trace runs.
//
// Errors: those of writing a trace end it and are given by EndTrace; the calls that are traced never fail because of
// it. Errors of reading name the file and the offset.
//
// Units: times are microseconds since 1970, sizes bytes. Times in one trace never go back: they are taken from the
// wall clock at its start and from the monotonic clock from there on.

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

// The type of a record. The numbers are those of the file and never change; numbers in between are RocksDB's, for calls
// that MioDB does not have.
enum TraceType : int {
  // The first and the last record of a trace. A TraceReader reads them and does not deliver them.
  kTraceBegin = 1,
  kTraceEnd = 2,
  // A Put, a Delete or a Write: one record, with its updates as a batch.
  kTraceWrite = 3,
  // A Get, whichever kind, found or not; a MultiGet is one record with all its keys.
  kTraceGet = 4,
  // A Seek of an iterator, with its bounds. RocksDB also records SeekForPrev, a call that LevelDB's iterators do not
  // have.
  kTraceSeek = 5,
  kTraceSeekForPrev = 6,
  kTraceMultiGet = 13,
  // Our own.
  kTraceScan = 64,         // How far an iterator was moved after a seek; written when that is over.
  kTraceSeekToFirst = 65,  // LevelDB's calls that have no key.
  kTraceSeekToLast = 66,
  kTraceChecksum = 67,  // Of everything before it; a TraceReader checks it and does not deliver it.
  kTraceAccesses = 68,  // Accesses to the pool's memory: see TraceAccesses. Only in traces of Options::device_trace.
};

// Bits for TraceOptions::filter: each names calls to leave out.
enum TraceFilter : int {
  kTraceFilterNone = 0,
  kTraceFilterGet = 1 << 0,
  kTraceFilterWrite = 1 << 1,
  kTraceFilterSeek = 1 << 2,  // Also seeks to the first and the last key.
  kTraceFilterSeekForPrev = 1 << 3,
  kTraceFilterMultiGet = 1 << 4,
};

// The content of a trace and its limits. A value out of range makes StartTrace return InvalidArgument.
struct MIODB_EXPORT TraceOptions {
  // Bytes. Once the file is larger, calls are no longer recorded; the end record is, so such a trace is whole. Looked
  // at before each record, so the file may be larger by one.
  uint64_t max_trace_file_size = uint64_t{64} << 30;

  // Every n-th call that passes the filter is recorded, by one count over all types. 1 or more. Scans go with the seek
  // that they follow: they are recorded if it was, and not counted.
  uint64_t sampling_frequency = 1;

  // Types of calls that are not recorded: a sum of TraceFilter bits. Calls that are left out do not count for the
  // sampling.
  uint64_t filter = kTraceFilterNone;

  // Writes are recorded in the order in which the database applies them, and only those that it applied, by the leader
  // of each group; otherwise when they are called. Replaying writes of several threads to the same keys gives the same
  // content only with this. Their times are then those of being applied.
  bool preserve_write_order = false;

  // Whether to write scan lengths, seeks to the first and last key, and checksums, which RocksDB does not know.
  // Without them damage in the middle of a trace may go unnoticed, and a reader cannot tell a trace that was cut from
  // one with a damaged length.
  bool own_records = true;
};

// Where a trace goes. Derive from it to send traces elsewhere than to a file. Calls fail with IOError naming the
// place; after the first failure tracing stops, and EndTrace still closes. A writer must not throw and must not call
// the database.
class MIODB_EXPORT TraceWriter {
 public:
  TraceWriter() = default;
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  virtual ~TraceWriter();

  // Adds one record, or several, behind what was written before. The bytes live during the call. Bytes that a writer
  // keeps in a buffer are lost if the process dies.
  virtual Status Write(const Slice& data) = 0;

  // Writes what is still in a buffer and ends the trace's file. No other call may follow.
  virtual Status Close() = 0;

  // Bytes written so far, those in a buffer too. Called for every record, so it must be cheap.
  virtual uint64_t GetFileSize() = 0;
};

// Stores in *writer a writer to a file of the system's own Env, which is created, with mode 0600, or emptied. Small
// records are collected in a buffer. IOError, and *writer null, if the file cannot be made.
MIODB_EXPORT Status NewFileTraceWriter(const std::string& path, std::unique_ptr<TraceWriter>* writer);

// A single change of a write. Slices refer to the bytes of the record, or of the batch, that it was read from.
struct MIODB_EXPORT TraceUpdate {
  // The kinds of RocksDB. A program that replays a trace decides how to treat kinds that its store does not have.
  enum Kind : int { kPut, kDelete, kSingleDelete, kDeleteRange, kMerge };

  Kind kind = kPut;
  uint32_t column_family = 0;
  Slice key;
  Slice value;  // The operand of a merge; the end of a deleted range.
};

// Walks the updates of a write in their order. Any bytes may be given, damaged ones too: nothing is read outside of
// them, and no memory is taken. A value; the thread that has it uses it alone.
//
//   TraceUpdates updates(record.batch);
//   while (updates.Next(&update)) ...
class MIODB_EXPORT TraceUpdates {
 public:
  // A walk over a batch in LevelDB's format: a sequence and a count, which must be that of the updates, and these. The
  // bytes must outlive this.
  explicit TraceUpdates(const Slice& batch);

  // Stores the next update, which refers to the batch's bytes, and returns true; false at the end and at damage.
  bool Next(TraceUpdate* update);

  // Whether the walk ended at damage: an unknown kind of update, one that is cut, or another number of them than the
  // batch says. Batches that a TraceReader delivers have no damage.
  bool damaged() const { return damaged_; }

 private:
  Slice rest_;
  uint32_t remaining_ = 0;
  bool damaged_ = false;
};

// An access to the memory of the pool. The numbers of kinds and purposes are those of the file and never change.
struct MIODB_EXPORT TraceAccess {
  enum Kind : int {
    kRead = 0,   // Of a table's index or records, of a block that is copied; records of memtables are not in a trace.
    kWrite = 1,  // Bytes that were stored and are on their way to the medium.
    kFlush = 2,  // Bytes that were in their place before and are sent on their way.
    kFence = 3,  // Whatever the thread wrote before is durable when the fence ends. Has no offset and no bytes.
  };
  // Why bytes are written, or a fence is made. Reads have no purpose.
  enum Purpose : int {
    kLog = 0,
    kMemtableFlush = 1,
    kMerge = 2,
    kLazyCopy = 3,
    kEvacuation = 4,
    kManifest = 5,
    kNoPurpose = 31,
  };
  // Larger ones are several accesses, each of which but the last ends at a multiple of 4096.
  static constexpr uint32_t kMostBytes = (uint32_t{16} << 20) - 4096;

  Kind kind = kRead;
  Purpose purpose = kNoPurpose;
  uint16_t thread = 0;  // Counted from 0, in the order of their first accesses; after 65535 from 0 again.
  uint32_t bytes = 0;
  uint64_t offset = 0;  // In the pool, whose regions lie behind one another; below 2^48.
  uint64_t nanos = 0;   // Since the trace began; never goes back.
};

// Walks the accesses of a record in their order. Any bytes may be given, as for TraceUpdates. A value; the thread that
// has it uses it alone.
class MIODB_EXPORT TraceAccesses {
 public:
  // The bytes must outlive this.
  explicit TraceAccesses(const Slice& accesses);

  // Stores the next access and returns true; false at the end and at damage.
  bool Next(TraceAccess* access);

  // Whether the walk ended at damage. Records that a TraceReader delivers have none.
  bool damaged() const { return damaged_; }

  // Where the pool's first byte was mapped in the process: offsets are counted from there.
  uint64_t base() const { return base_; }

 private:
  Slice rest_;
  uint64_t base_ = 0;
  uint64_t nanos_ = 0;
  bool damaged_ = false;
};

// A key of a call with several keys.
struct MIODB_EXPORT TraceKey {
  uint32_t column_family = 0;
  Slice key;
};

// A recorded call. Slices refer to bytes of the reader and stay valid until it moves on. Members that a type does not
// use are empty or 0.
struct MIODB_EXPORT TraceRecord {
  TraceType type = kTraceBegin;
  uint64_t micros = 0;  // When the call was made.
  uint64_t offset = 0;  // Of the record in the file.

  Slice batch;  // kTraceWrite: see TraceUpdates
  // The family of all other calls, by its id (column_family.h); 0 is the default family. Names are not in a trace.
  uint32_t column_family = 0;
  Slice key;          // kTraceGet, kTraceSeek, kTraceSeekForPrev; the seek's of kTraceScan
  Slice lower_bound;  // Of seeks; empty: none
  Slice upper_bound;
  std::vector<TraceKey> keys;  // kTraceMultiGet
  uint64_t seek_micros = 0;    // kTraceScan: micros of the seek
  uint64_t nexts = 0;          // kTraceScan: steps forward and backward
  uint64_t prevs = 0;
  Slice accesses;  // kTraceAccesses: see TraceAccesses
};

// Reads the records of a trace in their order, those of RocksDB's traces too. A TraceReader has a window of the file in
// memory, which grows to the largest record. The bytes may be anybody's: a damaged length is never believed beyond the
// end of the file.
//
//   std::unique_ptr<TraceReader> reader;
//   Status s = TraceReader::Open(path, &reader);
//   if (!s.ok()) ...
//   for (TraceRecord record; reader->Next(&record);) {
//     if (record.type != kTraceWrite) continue;
//     TraceUpdate update;
//     for (TraceUpdates updates(record.batch); updates.Next(&update);) Count(update.kind, update.key.size());
//   }
//   if (!reader->status().ok()) ...   // damage; what was delivered before it is whole
class MIODB_EXPORT TraceReader {
 public:
  // Opens a trace and reads its first record, and stores the reader in *reader, null on failure. NotFound or IOError
  // if the file cannot be read; Corruption, naming the file and the offset, if that record is not the beginning of a
  // trace; NotSupported if it is of another version. A trace that is still being written can be read up to what its
  // writer has flushed.
  static Status Open(const std::string& path, std::unique_ptr<TraceReader>* reader);

  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;
  ~TraceReader();

  // Stores the next record and returns true; false at the end and at damage. Begin, end and checksum records are not
  // delivered. Records of an unknown type are: they have a type, times and an offset, and nothing else.
  bool Next(TraceRecord* record);

  // OK, or why Next stopped: Corruption with the file, the offset and the reason; IOError if the file could not be
  // read or there is no memory for a record. Stays so until Rewind. OK at the end of the file also without an end
  // record: ended() tells.
  Status status() const;

  // Whether Next stopped at a record that the end of the file cuts, as a crash leaves it. status() is then Corruption;
  // everything before is whole. False where a length is damaged: that of a checksum or an end record, or, if the file
  // ends with both, one before them.
  bool torn() const;

  // Whether the end record was met: the trace was ended in order.
  bool ended() const;

  // Whether a record of our own was met so far. Where there are any, one comes before the first call, so the first
  // Next has the answer.
  bool has_own_records() const;

  // Opens the file once more and goes back to the record behind the first, for a second pass. Forgets an error, and
  // takes what the file has gained since. Errors as of Open; on failure Next gives nothing.
  Status Rewind();

  // The content of the first record: when the trace began, the version of the format, and the name of the writer. Good
  // from Open on.
  uint64_t start_micros() const;
  int format_version() const;         // 1 or 2, for 0.1 and 0.2
  const std::string& writer() const;  // The version of the program that wrote it, such as "7.8".

  // Where the trace is, and how far the reader has come: for messages and for showing progress.
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
