#include "src/memtable/memtable.h"

#include <string>

namespace miodb {

namespace {

// Decides how many bits are set for a key; how many keys there will be is not known.
constexpr int kFilterBitsPerKey = 10;

Status Damaged(const BLinkTree::Entry* entry) {
  return Status::Corruption("log record of write " + std::to_string(TagSequence(entry->tag)), "damaged");
}

// Parses a record. It was good when its entry was made, but it lies on a medium.
Status View(const BLinkTree::Entry* entry, RecordView* record) {
  if (ParseRecord(entry->record, entry->record + entry->record_size, record) && record->size() == entry->record_size) {
    return Status::OK();
  }
  return Damaged(entry);
}

class MemTableIterator final : public InternalIterator {
 public:
  explicit MemTableIterator(const BLinkTree* tree) : tree_(tree) {}

  bool Valid() const override { return entry_ != nullptr; }
  void SeekToFirst() override { Go(tree_->First()); }
  void SeekToLast() override { Go(tree_->Last()); }
  void Seek(const Slice& key, uint64_t sequence) override { Go(tree_->Seek(key, sequence)); }
  void Next() override { Go(entry_->Next()); }
  void Prev() override { Go(tree_->Before(entry_)); }
  const RecordView& record() const override { return record_; }
  Status status() const override { return status_; }

 private:
  void Go(const BLinkTree::Entry* entry) {
    entry_ = entry;
    if (entry == nullptr) return;
    Status s = View(entry, &record_);
    if (s.ok()) return;
    status_ = std::move(s);
    entry_ = nullptr;
  }

  const BLinkTree* const tree_;
  const BLinkTree::Entry* entry_ = nullptr;
  RecordView record_;
  Status status_;
};

}  // namespace

MemTable::MemTable(KeyOrder order, BlockPool* blocks, size_t filter_bytes, uint64_t secret, BloomFilter::Pages pages)
    : arena_(blocks), tree_(order, &arena_), order_(order), secret_(secret) {
  if (filter_bytes > 0 && order.bytewise()) {
    filter_ = std::make_unique<BloomFilter>(filter_bytes * 8 / kFilterBitsPerKey, kFilterBitsPerKey, pages);
  }
}

Status MemTable::Get(const LookupKey& key, bool verify, bool* found, RecordView* record) const {
  *found = false;
  if (filter_ != nullptr && !filter_->MayContain(key.hash)) return Status::OK();
  const BLinkTree::Entry* const entry = tree_.Seek(key.key, key.sequence);
  *found = entry != nullptr && order_.Equal(BLinkTree::KeyOf(entry), key.key);
  if (!*found) return Status::OK();
  Status s = View(entry, record);
  return s.ok() && verify && !record->Verify(secret_) ? Damaged(entry) : s;
}

std::unique_ptr<InternalIterator> MemTable::NewIterator() const { return std::make_unique<MemTableIterator>(&tree_); }

}  // namespace miodb
