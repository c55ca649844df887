// A sorted file of keys and values in LevelDB's table format, as TableBuilder writes it. For programs that use such
// files without a database; a database's own are opened by the database.
//
//   miodb::RandomAccessFile* file = nullptr;
//   uint64_t size = 0;
//   miodb::Table* table = nullptr;
//   status = options.env->GetFileSize(path, &size);
//   if (status.ok()) status = options.env->NewRandomAccessFile(path, &file);
//   if (status.ok()) status = miodb::Table::Open(options, file, size, &table);
//   ... iterate, then delete the iterator, the table and the file, in this order
//
// Keys are the program's own, without sequences, in the order of Options::comparator, each once. Files that a database
// wrote, LevelDB's, RocksDB's or this one's, have 8 bytes more behind each user key: a Table shows these as a part of
// the key, and needs a comparator that knows of them.
//
// Threads: a Table may be read by any number of threads at once. Each iterator belongs to one.
//
// Ownership: the file and what Options points at (comparator, filter policy, block cache) stay the caller's and must
// outlive the table; the table must outlive its iterators. A table keeps its index in memory, and its filter; blocks
// are read when they are needed and stay in the block cache, if there is one.
//
// After a crash: a table that was not finished or not synced is refused by Open, as its footer is missing.
//
// Errors: Corruption names an offset of the file. Damage in one block leaves the others readable. Nothing here throws.

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
  // failure. Reads the footer, the index and the filter. These options matter: comparator, filter_policy, block_cache
  // and paranoid_checks, which has the index verified.
  //
  // Corruption if the file is no table, is shorter than it was, has a damaged footer or index, or an index with a
  // compression that nobody here knows; what the file returns if it cannot be read. A comparator of another name than
  // the one that the table was made with is not noticed, because the format does not say it.
  static Status Open(const Options& options, RandomAccessFile* file, uint64_t file_size, Table** table);

  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  ~Table();

  // A walk over the table's pairs, on none of them at first. The options verify_checksums, fill_cache and
  // readahead_size matter; bounds and snapshots mean nothing here. At damage the walk ends, with a status. The caller
  // deletes it, before the table. Never nullptr.
  Iterator* NewIterator(const ReadOptions& options) const;

  // About where in the file the data of this key begins, or would: of a key behind the last one, where the data ends.
  // Counts the bytes in the file, so compressed ones: the difference of two is about what the keys between them take
  // on the disk. From the index alone, so to the block; nothing is read.
  uint64_t ApproximateOffsetOf(const Slice& key) const;

 private:
  struct Rep;

  explicit Table(Rep* rep) : rep_(rep) {}

  Rep* const rep_;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_TABLE_H_
