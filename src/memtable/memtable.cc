#include "src/memtable/memtable.h"

#include <algorithm>
#include <string>

namespace miodb {

namespace {

// Decides how many bits are set for a key; how many keys there will be is not known.
constexpr int kFilterBitsPerKey = 10;

Status Damaged(const BLinkTree::Entry* entry) {
  return Status::Corruption("log record of write " + std::to_string(TagSequence(entry->tag)), "damaged");
}

// Parses a record. It was good when its entry was made, but it lies on a medium that may have changed since, so its
// sizes are checked against what the entry remembers in DRAM before anything behind them is touched: a damaged record
// is Corruption and no read outside of it.
Status View(const BLinkTree::Entry* entry, RecordView* record) {
  if (ParseRecord(entry->record, entry->record + entry->record_size, record) && record->size() == entry->record_size) {
    return Status::OK();
  }
  return Damaged(entry);
}

// A walk forward follows the list so many entries ahead of itself, asking for each entry and, when that is there, for
// its record: both lie where they were written, so every one of them may be a miss of the cache.
constexpr int kLookAhead = 4;

// Sees what is linked when it comes by, also entries that were added after it was made. Their sequences are above the
// one of whoever reads, who passes them; so an iterator over a memtable that is being written to shows the state of
// its own sequence.
class MemTableIterator final : public InternalIterator {
 public:
  MemTableIterator(const BLinkTree* tree, uint64_t newest) : tree_(tree), newest_(newest) { CHECK(tree_ != nullptr); }

  bool Valid() const override { return entry_ != nullptr; }
  void SeekToFirst() override { Jump(tree_->First()); }
  void SeekToLast() override { Jump(tree_->Last()); }
  void Seek(const Slice& key, uint64_t sequence) override { Jump(tree_->Seek(key, sequence)); }
  void Next() override {
    DCHECK(Valid());
    // After a jump two entries a step, until the distance is there.
    const int steps = distance_ < kLookAhead ? 2 : 1;
    distance_ += steps - 1;
    for (int i = 0; i < steps && ahead_ != nullptr; i++) LookAhead();
    Go(entry_->Next());
  }
  void Prev() override {
    DCHECK(Valid());
    Jump(tree_->Before(entry_));
  }
  void NextFrom(const Slice& end, uint64_t sequence) override {
    DCHECK(Valid());
    if (newest_ >= sequence) return Next();
    Jump(tree_->Seek(end, kMaxSequence));
  }
  void PrevBefore(const Slice& begin, uint64_t sequence) override {
    DCHECK(Valid());
    if (newest_ >= sequence) return Prev();
    const BLinkTree::Entry* const entry = tree_->Seek(begin, kMaxSequence);
    Jump(entry != nullptr ? tree_->Before(entry) : tree_->Last());
  }
  const RecordView& record() const override {
    DCHECK(Valid());
    return record_;
  }
  Status status() const override { return status_; }

 private:
  void Jump(const BLinkTree::Entry* entry) {
    ahead_ = entry;
    distance_ = 0;
    Go(entry);
  }

  // A hint only: what is linked in between meanwhile lengthens the distance.
  void LookAhead() {
    DCHECK(ahead_ != nullptr);
    const Slice key = BLinkTree::KeyOf(ahead_);
    __builtin_prefetch(ahead_->record);
    __builtin_prefetch(key.data() + key.size());
    ahead_ = ahead_->Next();
    if (ahead_ != nullptr) __builtin_prefetch(ahead_);
  }

  // Stops at damage, and stays stopped: an entry that cannot be read may be the one that hides the next.
  void Go(const BLinkTree::Entry* entry) {
    entry_ = entry;
    if (entry == nullptr) return;
    Status s = View(entry, &record_);
    if (s.ok()) return;
    status_ = std::move(s);
    entry_ = nullptr;
  }

  const BLinkTree* const tree_;
  const uint64_t newest_;
  const BLinkTree::Entry* entry_ = nullptr;
  const BLinkTree::Entry* ahead_ = nullptr;  // null: the end was seen
  int distance_ = 0;                         // entries from entry_ to ahead_, but for what came in between
  RecordView record_;
  Status status_;
};

}  // namespace

// Under an order by which different bytes may be one key there is no filter: the hash of one spelling says nothing of
// another.
MemTable::MemTable(KeyOrder order, BlockPool* blocks, size_t filter_bytes, uint64_t secret, BloomFilter::Pages pages)
    : arena_(blocks), tree_(order, &arena_), order_(order), secret_(secret) {
  if (filter_bytes > 0 && order.bytewise()) {
    filter_ = std::make_unique<BloomFilter>(filter_bytes * 8 / kFilterBitsPerKey, kFilterBitsPerKey, pages);
  }
}

// The answer, of the first entry at or behind (key, sequence): that is the newest version that may be seen, if it has
// the key.
[[gnu::always_inline]] inline Status MemTable::Read(const BLinkTree::Entry* entry, const LookupKey& key, bool verify,
                                                    bool* found, RecordView* record) const {
  *found = entry != nullptr && order_.Equal(BLinkTree::KeyOf(entry), key.key);
  if (!*found) return Status::OK();
  Status s = View(entry, record);
  return s.ok() && verify && !record->Verify(secret_) ? Damaged(entry) : s;
}

// The filter is asked first and may be asked without any order of memory: its bits are set before the entry is linked,
// and the sequence that makes the entry visible is published after both.
Status MemTable::Get(const LookupKey& key, bool verify, bool* found, RecordView* record) const {
  DCHECK_LE(key.sequence, kMaxSequence);
  *found = false;
  if (!MayHave(key)) return Status::OK();
  return Read(tree_.Seek(key.key, key.sequence), key, verify, found, record);
}

bool MemTable::Search::Step(const LookupKey& key, bool verify, PrefetchList* wanted, Status* s, bool* found,
                            RecordView* record) {
  DCHECK(memtable_ != nullptr && s->ok());
  switch (stage_) {
    case Stage::kFilter:
      *found = false;
      if (!memtable_->MayHave(key)) return true;
      tree_.Start(memtable_->tree_, key.key, key.sequence);
      stage_ = Stage::kTree;
      return false;
    case Stage::kTree:
      if (!tree_.Step()) return false;
      if (tree_.entry() == nullptr) return true;
      wanted->Add(tree_.entry()->record, std::min<size_t>(tree_.entry()->record_size, kMostPrefetchedBytes));
      stage_ = Stage::kRecord;
      return false;
    case Stage::kRecord:
      *s = memtable_->Read(tree_.entry(), key, verify, found, record);
      return true;
  }
  return true;
}

void MemTable::BeginBeside(size_t lanes) {
  DCHECK(!empty());  // so nobody takes a memtable for empty whose writers are not counted yet
  while (lanes_.size() < lanes) lanes_.push_back(std::make_unique<ArenaPiece>(&arena_));
}

// Sequences in a memtable have no gaps, so the last one says how many there are.
void MemTable::EndBeside(uint64_t last_sequence) {
  CHECK_GE(last_sequence, max_sequence_);
  tree_.EndBeside(last_sequence - max_sequence_);
  max_sequence_ = last_sequence;
}

// A range has no entry in the tree and none in the filter.
void MemTable::AddRange(const Slice& begin, const Slice& end, uint64_t sequence) {
  DCHECK_GT(sequence, max_sequence_);
  ranges_.Add(order_, begin, end, sequence);
  if (min_sequence_ == 0) min_sequence_ = sequence;
  max_sequence_ = sequence;
}

std::unique_ptr<InternalIterator> MemTable::NewIterator(uint64_t newest) const {
  return std::make_unique<MemTableIterator>(&tree_, newest);
}

}  // namespace miodb
