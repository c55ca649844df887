// A walk over the index of a table or of several tables in a row, for merges. Reads index nodes in order and, unless
// prefixes cannot decide, no record.

#ifndef MIODB_PMTABLE_INDEX_CURSOR_H_
#define MIODB_PMTABLE_INDEX_CURSOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "pmtable/pmtable.h"
#include "pmtable/table_builder.h"

namespace miodb {

// The entries of a table from one position to before another.
struct TablePiece {
  TablePiece(std::shared_ptr<const PMTable> whole)  // NOLINT(google-explicit-constructor): a table is a piece of itself
      : table(std::move(whole)), end(table->entries()) {}
  TablePiece(std::shared_ptr<const PMTable> of, uint64_t first, uint64_t last)
      : table(std::move(of)), begin(first), end(last) {
    CHECK(begin < end && end <= table->entries());
  }

  uint64_t entries() const { return end - begin; }
  bool whole() const { return entries() == table->entries(); }

  std::shared_ptr<const PMTable> table;
  uint64_t begin = 0;
  uint64_t end;
};

// Threads: one. Damage ends the walk; see status().
class IndexCursor {
 public:
  // Pieces in key order, not overlapping; at least one. *failed is set when the walk ends at damage.
  IndexCursor(std::vector<TablePiece> pieces, bool* failed);

  bool Valid() const { return valid_; }
  void Next();  // REQUIRES: Valid()

  // The figures of this entry that are known without reading its record. same_key_as_last is not set.
  const IndexEntry& entry() const {
    DCHECK(valid_);
    return entry_;
  }

  // The table of this entry, or the last one that the cursor was in.
  const PMTable& table() const {
    DCHECK(table_ != nullptr);
    return *table_;
  }

  // Reads the record. An error is also kept in status() and ends the walk.
  bool ReadRecord(RecordView* record);

  // Bytes of the records that were read so.
  uint64_t record_bytes_read() const { return record_bytes_read_; }

  const Status& status() const { return status_; }

  // The order of the keys of two cursors; a record that cannot be read ends that cursor's walk.
  static int CompareKeys(IndexCursor* a, IndexCursor* b);

 private:
  void EnterPiece();
  void EnterLeaf(int position);
  void LoadEntry();
  void Fail(Status status);

  const std::vector<TablePiece> pieces_;
  bool* const failed_;
  bool valid_ = false;
  size_t piece_ = 0;
  const PMTable* table_ = nullptr;
  const LeafNode* node_ = nullptr;
  uint64_t leaf_ = 0;
  uint64_t leaf_end_ = 0;  // behind the piece's last leaf
  int position_ = 0;
  int leaf_entries_ = 0;  // up to the end of the piece
  IndexEntry entry_ = {};
  uint64_t record_bytes_read_ = 0;
  Status status_;
};

// Reads the record of an entry of the table, verified. Corruption as well if the two do not fit each other: a merge
// that went by the entry here and by the record there would have keys in two orders.
Status ReadRecordOf(const PMTable& table, const IndexEntry& entry, RecordView* record);

// Whether what is known of two keys proves them different or equal; if not, the records have to be asked. *order is
// then the sign of the comparison, 0 if equal.
bool KnownOrder(const IndexEntry& a, const IndexEntry& b, int* order);

}  // namespace miodb

#endif  // MIODB_PMTABLE_INDEX_CURSOR_H_
