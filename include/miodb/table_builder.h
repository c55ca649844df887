// Writes a sorted file of keys and values in LevelDB's table format, which Table reads; LevelDB and RocksDB do as well.
//
//   miodb::TableBuilder builder(options, file);
//   for (...) builder.Add(key, value);              // in ascending order
//   status = builder.Finish();
//   if (status.ok()) status = file->Sync();
//   if (status.ok()) status = file->Close();
//
// Threads: one at a time.
//
// Ownership: the file and what Options points at stay the caller's, who syncs and closes the file after Finish or
// Abandon. Keys and values are copied. A builder has one block in memory, the index, and the keys for the filter:
// these last two grow with the table.
//
// After a crash: a file without a footer, which Table::Open refuses; or, if it was finished and not synced, any
// part of one. Give a table its name when it is synced.
//
// Errors: the first one stays; later calls do nothing and return it. The file then has part of a table and is to be
// removed. Nothing here throws but the constructor, for want of memory.
//
// Units: sizes are bytes.

#ifndef MIODB_INCLUDE_TABLE_BUILDER_H_
#define MIODB_INCLUDE_TABLE_BUILDER_H_

#include <cstdint>

#include "miodb/export.h"
#include "miodb/options.h"
#include "miodb/status.h"

namespace miodb {

class Slice;
class WritableFile;

class MIODB_EXPORT TableBuilder {
 public:
  // Begins a table at the file's current end, which is to be its beginning. The options comparator, filter_policy,
  // block_size, block_restart_interval, compression and zstd_compression_level matter. Where block_restart_interval is
  // below 1, 1 is taken.
  TableBuilder(const Options& options, WritableFile* file);

  TableBuilder(const TableBuilder&) = delete;
  TableBuilder& operator=(const TableBuilder&) = delete;

  // REQUIRES: Finish or Abandon was called. Without either the process ends with a message, because nobody would
  // notice that the table is not whole.
  ~TableBuilder();

  // Uses these options from now on: block size and compression from the next block on, the restart interval not at
  // all. InvalidArgument, and nothing changed, if the comparator or the filter policy is another one. May be called at
  // any time; the result says nothing of errors that were met before.
  Status ChangeOptions(const Options& options);

  // Adds a pair. A key that does not come after the last one is InvalidArgument, from status() on: the pair is left
  // out, and so is everything behind it. Writes to the file whenever a block is full.
  // REQUIRES: neither Finish nor Abandon was called.
  void Add(const Slice& key, const Slice& value);

  // Ends the data block: what is added next lies in another one. Rarely of use: to keep pairs that are read together
  // in blocks of their own. Says nothing of durability.
  // REQUIRES: neither Finish nor Abandon was called.
  void Flush();

  // OK, or the first error: InvalidArgument of the caller's, what the file returned, NotSupported for a block of 4 GiB
  // and more, or IOError for want of memory.
  Status status() const;

  // Writes the rest of the table: the last block, the filter, the index and the footer. Returns status(). The file is
  // not touched any more afterwards, nor flushed, synced or closed.
  // REQUIRES: neither Finish nor Abandon was called.
  Status Finish();

  // Gives the table up. The file is not touched any more afterwards; what was written to it stays and is no table.
  // REQUIRES: neither Finish nor Abandon was called.
  void Abandon();

  // Pairs added so far, without those that were refused.
  uint64_t NumEntries() const;

  // Bytes written so far, without the block that is being filled; after Finish the size of the file, which Table::Open
  // is to be given.
  uint64_t FileSize() const;

 private:
  struct Rep;

  Rep* const rep_;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_TABLE_BUILDER_H_
