#include "src/memtable/memtable.h"

#include <string>

namespace miodb {

namespace {

// Decides how many bits are set for a key; how many keys there will be is not known.
constexpr int kFilterBitsPerKey = 10;

// Parses a record. It was good when its node was made, but it lies on a medium.
Status View(const SkipList::Node* node, bool verify, RecordView* record) {
  if (ParseRecord(node->record, node->record + node->record_size, record) && record->size() == node->record_size &&
      (!verify || record->Verify())) {
    return Status::OK();
  }
  return Status::Corruption("log record of write " + std::to_string(TagSequence(node->tag)), "damaged");
}

class MemTableIterator final : public InternalIterator {
 public:
  explicit MemTableIterator(const SkipList* list) : list_(list) {}

  bool Valid() const override { return node_ != nullptr; }
  void SeekToFirst() override { Go(list_->First()); }
  void SeekToLast() override { Go(list_->Last()); }
  void Seek(const Slice& key, uint64_t sequence) override { Go(list_->Seek(key, sequence)); }
  void Next() override { Go(node_->Next(0)); }
  void Prev() override { Go(list_->Before(node_)); }
  const RecordView& record() const override { return record_; }
  Status status() const override { return status_; }

 private:
  void Go(const SkipList::Node* node) {
    node_ = node;
    if (node == nullptr) return;
    Status s = View(node, false, &record_);
    if (s.ok()) return;
    status_ = std::move(s);
    node_ = nullptr;
  }

  const SkipList* const list_;
  const SkipList::Node* node_ = nullptr;
  RecordView record_;
  Status status_;
};

}  // namespace

MemTable::MemTable(KeyOrder order, BlockPool* blocks, uint64_t seed, size_t filter_bytes)
    : arena_(blocks), list_(order, &arena_, seed), order_(order) {
  if (filter_bytes > 0 && order.bytewise()) {
    filter_ = std::make_unique<BloomFilter>(filter_bytes * 8 / kFilterBitsPerKey, kFilterBitsPerKey);
  }
}

Status MemTable::Get(const LookupKey& key, bool verify, bool* found, RecordView* record) const {
  *found = false;
  if (filter_ != nullptr && !filter_->MayContain(key.hash)) return Status::OK();
  const SkipList::Node* const node = list_.Seek(key.key, key.sequence);
  *found = node != nullptr && order_.Equal(SkipList::KeyOf(node), key.key);
  return *found ? View(node, verify, record) : Status::OK();
}

std::unique_ptr<InternalIterator> MemTable::NewIterator() const { return std::make_unique<MemTableIterator>(&list_); }

}  // namespace miodb
