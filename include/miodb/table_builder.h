// Writes a sorted file of keys and values in LevelDB's table format, which Table reads; LevelDB and RocksDB do as well.
//
// Threads: one at a time. Ownership: the file and what Options points at stay the caller's, who syncs and closes the
// file after Finish or Abandon.
//
// Errors: the first one stays; later calls do nothing and return it.

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
  // Of the options comparator, filter_policy, block_size, block_restart_interval, compression and
  // zstd_compression_level matter.
  TableBuilder(const Options& options, WritableFile* file);

  TableBuilder(const TableBuilder&) = delete;
  TableBuilder& operator=(const TableBuilder&) = delete;

  // REQUIRES: Finish or Abandon was called.
  ~TableBuilder();

  // Uses these options from now on: block size and compression from the next block on, the restart interval not at all.
  // InvalidArgument, and nothing changed, if the comparator or the filter policy is another one.
  Status ChangeOptions(const Options& options);

  // Adds a pair. A key that does not come after the last one is InvalidArgument, from status() on.
  // REQUIRES: neither Finish nor Abandon was called.
  void Add(const Slice& key, const Slice& value);

  // Ends the data block: what is added next lies in another one. Rarely of use.
  // REQUIRES: neither Finish nor Abandon was called.
  void Flush();

  // OK, or the first error.
  Status status() const;

  // Writes the rest of the table. The file is not touched any more afterwards.
  // REQUIRES: neither Finish nor Abandon was called.
  Status Finish();

  // Gives the table up. The file is not touched any more afterwards.
  // REQUIRES: neither Finish nor Abandon was called.
  void Abandon();

  // Pairs added so far.
  uint64_t NumEntries() const;

  // Bytes written so far; after Finish the size of the file.
  uint64_t FileSize() const;

 private:
  struct Rep;

  Rep* const rep_;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_TABLE_BUILDER_H_
