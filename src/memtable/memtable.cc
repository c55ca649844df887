#include "src/memtable/memtable.h"

#include "src/util/check.h"

namespace miodb {

namespace {

// Parses a record that this process wrote or recovery has checked.
void View(const SkipList::Node* node, RecordView* record) {
  CHECK(ParseRecord(node->record, node->record + node->record_size, record));
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
  Status status() const override { return Status::OK(); }

 private:
  void Go(const SkipList::Node* node) {
    node_ = node;
    if (node != nullptr) View(node, &record_);
  }

  const SkipList* const list_;
  const SkipList::Node* node_ = nullptr;
  RecordView record_;
};

}  // namespace

bool MemTable::Get(const Slice& key, uint64_t sequence, RecordView* record) const {
  const SkipList::Node* const node = list_.Seek(key, sequence);
  if (node == nullptr || !order_.Equal(SkipList::KeyOf(node), key)) return false;
  View(node, record);
  return true;
}

std::unique_ptr<InternalIterator> MemTable::NewIterator() const { return std::make_unique<MemTableIterator>(&list_); }

}  // namespace miodb
