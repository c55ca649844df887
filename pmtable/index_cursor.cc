#include "pmtable/index_cursor.h"

#include <algorithm>
#include <cstring>

#include "src/util/check/check.h"

namespace miodb {

// Merges read indexes from the first entry to the last, so the cursor has no Seek, keeps one leaf in view, and
// verifies every leaf that it enters: what a merge writes is a new table with good checksums, and damage that it did
// not notice would be damage for ever.
IndexCursor::IndexCursor(std::vector<TablePiece> pieces, bool* failed) : pieces_(std::move(pieces)), failed_(failed) {
  CHECK(!pieces_.empty());
  CHECK(failed_ != nullptr);
  EnterPiece();
}

// Ends the walk. *failed is shared by all cursors of a merge, which then stops: merging on without one input would
// bring back what that input hides. The first error stays.
void IndexCursor::Fail(Status status) {
  CHECK(!status.ok());
  if (status_.ok()) status_ = std::move(status);
  valid_ = false;
  *failed_ = true;
}

void IndexCursor::EnterPiece() {
  valid_ = piece_ < pieces_.size();
  if (!valid_) return;
  const TablePiece& piece = pieces_[piece_];
  table_ = piece.table.get();
  CHECK_GT(piece.entries(), 0u);
  leaf_ = piece.begin / kNodeFanout;
  leaf_end_ = (piece.end + kNodeFanout - 1) / kNodeFanout;
  EnterLeaf(static_cast<int>(piece.begin % kNodeFanout));
}

// Sets what all entries of the leaf have in common, so that LoadEntry copies 8 bytes of key only. known is padded with
// zeros, which KnownOrder relies on.
void IndexCursor::EnterLeaf(int position) {
  CHECK(leaf_ < leaf_end_ && leaf_end_ <= table_->leaf_count());
  Status s = table_->CheckLeaf(leaf_, Checksums::kVerify);
  if (!s.ok()) {
    Fail(std::move(s));
    return;
  }
  node_ = &table_->Leaf(leaf_);
  leaf_entries_ = table_->LeafEntries(leaf_);
  if (leaf_ + 1 == leaf_end_) leaf_entries_ = static_cast<int>(pieces_[piece_].end - leaf_ * kNodeFanout);
  CHECK(leaf_entries_ > position && leaf_entries_ <= table_->LeafEntries(leaf_));
  position_ = position;
  const NodeHeader& header = node_->header;
  memcpy(entry_.known, header.prefix, header.prefix_size);
  memset(entry_.known + header.prefix_size, 0, kMaxKnownBytes - header.prefix_size);
  entry_.complete = header.suffix_size != kSuffixUnknown;
  entry_.known_size =
      static_cast<uint8_t>(header.prefix_size + (entry_.complete ? size_t{header.suffix_size} : kHeadSize));
  DCHECK(entry_.Sound());
  LoadEntry();
}

// The head is stored as an integer in the machine's order, its highest byte being the key's first, so it is turned
// around to be bytes again.
void IndexCursor::LoadEntry() {
  DCHECK(position_ >= 0 && position_ < leaf_entries_);
  const uint64_t head = __builtin_bswap64(node_->head[position_]);
  memcpy(entry_.known + node_->header.prefix_size, &head, kHeadSize);
  entry_.word = IndexWord(node_->word[position_]);
  entry_.hash = node_->Hash(position_);
}

void IndexCursor::Next() {
  DCHECK(valid_);
  if (++position_ < leaf_entries_) {
    LoadEntry();
    return;
  }
  if (++leaf_ < leaf_end_) {
    EnterLeaf(0);
    return;
  }
  CHECK_LT(piece_, pieces_.size());
  piece_++;
  EnterPiece();
}

// Verifies the record: it is read because its key decides the order, or because it is copied.
bool IndexCursor::ReadRecord(RecordView* record) {
  Status s = ReadRecordOf(*table_, entry_, record);
  record_bytes_read_ += s.ok() ? record->size() : 0;
  if (s.ok()) return true;
  Fail(std::move(s));
  return false;
}

namespace {

// Whether the record can be what the entry tells of. Where keys are not ordered by their bytes, an entry knows none.
bool Fits(const IndexEntry& entry, bool bytewise, const RecordView& record) {
  DCHECK(entry.Sound());
  const Slice& key = record.key;
  const size_t compared = std::min<size_t>(entry.known_size, key.size());
  if (bytewise &&
      (memcmp(entry.known, key.data(), compared) != 0 || (entry.complete && key.size() != entry.known_size) ||
       std::any_of(entry.known + compared, entry.known + entry.known_size, [](char c) { return c != 0; }))) {
    return false;
  }
  return record.sequence() > 0 && IsKnownType(record.type()) && record.type() == entry.word.type() &&
         record.size() <= entry.word.size();
}

}  // namespace

Status ReadRecordOf(const PMTable& table, const IndexEntry& entry, RecordView* record) {
  DCHECK(record != nullptr);
  Status s = table.ReadRecord(entry.word, Checksums::kVerify, record);
  if (!s.ok() || Fits(entry, table.order().bytewise(), *record)) return s;
  return Status::Corruption(table.pool()->path(), "table " + std::to_string(table.number()) +
                                                      " has an entry that does not fit its record at offset " +
                                                      std::to_string(entry.word.ref()));
}

// The known bytes of a key that is not complete are a prefix of it; those of a complete one are all of it, and the
// zeros behind them compare as "nothing more". So different known bytes decide in any case; equal ones decide only if
// both keys are complete, and then the shorter key comes first, because a zero of the key and a zero of the padding
// look alike.
bool KnownOrder(const IndexEntry& a, const IndexEntry& b, int* order) {
  DCHECK(a.Sound() && b.Sound());
  // The two keys are padded with zeros up to their known bytes: a complete key is known for ever.
  const size_t a_known = a.complete ? kMaxKnownBytes : a.known_size;
  const size_t b_known = b.complete ? kMaxKnownBytes : b.known_size;
  *order = memcmp(a.known, b.known, std::min(a_known, b_known));
  if (*order != 0) return true;
  if (!a.complete || !b.complete) return false;
  *order = int{a.known_size} - int{b.known_size};
  return true;
}

// The records are read only where prefixes and heads do not decide. If one cannot be read its cursor has failed, the
// merge ends, and the answer does not matter.
int IndexCursor::CompareKeys(IndexCursor* a, IndexCursor* b) {
  const KeyOrder& order = a->table_->order();
  DCHECK(a != b && order.comparator() == b->table_->order().comparator());
  int c;
  if (order.bytewise() && KnownOrder(a->entry_, b->entry_, &c)) return c;
  RecordView ra, rb;
  if (!a->ReadRecord(&ra) || !b->ReadRecord(&rb)) return 0;
  return order.Compare(ra.key, rb.key);
}

}  // namespace miodb
