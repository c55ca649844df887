// A sorted file of keys and values in LevelDB's table format, as TableBuilder writes it. For programs that use such
// files without a database; a database's own are opened by the database.
//
// Threads: a Table may be read by any number of threads at once. Each iterator belongs to one.
//
// Ownership: the file and what Options points at (comparator, filter policy, block cache) stay the caller's and must
// outlive the table; the table must outlive its iterators.
//
// Errors: Corruption names an offset of the file.

#ifndef MIODB_INCLUDE_TABLE_H_
#define MIODB_INCLUDE_TABLE_H_

#include <cstdint>

#include "miodb/export.h"
#include "miodb/iterator.h"
#include "miodb/status.h"

namespace miodb {

class RandomAccessFile;
class Slice;
struct Options;
struct ReadOptions;

class MIODB_EXPORT Table {
 public:
  // Opens the table in bytes [0, file_size) of the file and stores it in *table, for the caller to delete; nullptr on
  // failure. Of the options comparator, filter_policy, block_cache and paranoid_checks matter.
  static Status Open(const Options& options, RandomAccessFile* file, uint64_t file_size, Table** table);

  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  ~Table();

  // A walk over the table's pairs, on none of them at first. Of the options verify_checksums and fill_cache matter. At
  // damage the walk ends, with a status. The caller deletes it.
  Iterator* NewIterator(const ReadOptions& options) const;

  // About where in the file the data of this key begins, or would: of a key behind the last one, where the data ends.
  // Counts the bytes in the file, so compressed ones.
  uint64_t ApproximateOffsetOf(const Slice& key) const;

 private:
  struct Rep;

  explicit Table(Rep* rep) : rep_(rep) {}

  Rep* const rep_;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_TABLE_H_
