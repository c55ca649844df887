#include "pmtable/index_cursor.h"

#include <algorithm>
#include <cstring>

namespace miodb {

IndexCursor::IndexCursor(std::vector<std::shared_ptr<const PMTable>> tables, bool* failed)
    : tables_(std::move(tables)), failed_(failed) {
  EnterTable();
}

void IndexCursor::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
  valid_ = false;
  *failed_ = true;
}

void IndexCursor::EnterTable() {
  valid_ = table_index_ < tables_.size();
  if (!valid_) return;
  table_ = tables_[table_index_].get();
  leaf_ = 0;
  EnterLeaf();
}

void IndexCursor::EnterLeaf() {
  Status s = table_->CheckLeaf(leaf_, true);
  if (!s.ok()) {
    Fail(std::move(s));
    return;
  }
  node_ = &table_->Leaf(leaf_);
  leaf_entries_ = table_->LeafEntries(leaf_);
  position_ = 0;
  const NodeHeader& header = node_->header;
  memcpy(entry_.known, header.prefix, header.prefix_size);
  memset(entry_.known + header.prefix_size, 0, kMaxKnownBytes - header.prefix_size);
  entry_.complete = header.suffix_size != kSuffixUnknown;
  entry_.known_size =
      static_cast<uint8_t>(header.prefix_size + (entry_.complete ? size_t{header.suffix_size} : kHeadSize));
  LoadEntry();
}

void IndexCursor::LoadEntry() {
  const uint64_t head = __builtin_bswap64(node_->head[position_]);
  memcpy(entry_.known + node_->header.prefix_size, &head, kHeadSize);
  entry_.word = IndexWord(node_->word[position_]);
  entry_.hash = node_->Hash(position_);
}

void IndexCursor::Next() {
  if (++position_ < leaf_entries_) {
    LoadEntry();
    return;
  }
  if (++leaf_ < table_->leaf_count()) {
    EnterLeaf();
    return;
  }
  table_index_++;
  EnterTable();
}

bool IndexCursor::ReadRecord(RecordView* record) {
  Status s = table_->ReadRecord(entry_.word.ref(), true, record);
  if (s.ok()) return true;
  Fail(std::move(s));
  return false;
}

bool KnownOrder(const IndexEntry& a, const IndexEntry& b, int* order) {
  // Both are padded with zeros to what is known: a complete key is known for ever.
  const size_t a_known = a.complete ? kMaxKnownBytes : a.known_size;
  const size_t b_known = b.complete ? kMaxKnownBytes : b.known_size;
  *order = memcmp(a.known, b.known, std::min(a_known, b_known));
  if (*order != 0) return true;
  if (!a.complete || !b.complete) return false;
  *order = int{a.known_size} - int{b.known_size};
  return true;
}

int IndexCursor::CompareKeys(IndexCursor* a, IndexCursor* b) {
  const KeyOrder& order = a->table_->order();
  int c;
  if (order.bytewise() && KnownOrder(a->entry_, b->entry_, &c)) return c;
  RecordView ra, rb;
  if (!a->ReadRecord(&ra) || !b->ReadRecord(&rb)) return 0;
  return order.Compare(ra.key, rb.key);
}

}  // namespace miodb
