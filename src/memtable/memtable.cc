#include "src/memtable/memtable.h"

#include <algorithm>
#include <new>
#include <string>

namespace miodb {

namespace {

// Decides how many bits are set for a key; how many keys there will be is not known.
constexpr int kFilterBitsPerKey = 10;

Status DamagedWrite(uint64_t sequence) {
  return Status::Corruption("log record of write " + std::to_string(sequence), "damaged");
}

Status Damaged(const BLinkTree::Entry* entry) { return DamagedWrite(TagSequence(entry->tag)); }

// Parses a record. The record was good when its entry was made, but its medium may have changed since. So its sizes are
// checked against the entry in DRAM before anything behind them is touched: a damaged record is Corruption and no read
// outside of it.
Status View(const BLinkTree::Entry* entry, RecordView* record) {
  if (ParseRecord(entry->record, entry->record + entry->record_size, record) && record->size() == entry->record_size) {
    return Status::OK();
  }
  return Damaged(entry);
}

// A walk forward follows the list so many entries ahead of itself, asking for each entry and, when that is there, for
// its record: both lie where they were written, so every one of them may be a miss of the cache.
constexpr int kLookAhead = 4;

// Versions that a walk passes one by one before it tells the memtable, whose line other threads write, too.
constexpr uint32_t kToldSteps = 64;

// What a flush and the merges after it cost, in steps of a walk: by itself, and for each entry.
constexpr uint64_t kStepsOfFlush = 64 * 1024;
constexpr uint64_t kStepsOfFlushedEntry = 4;

// Sees what is linked when it comes by, also entries that were added after it was made. Their sequences are above the
// one of whoever reads, who passes them; so an iterator over a memtable that is being written to shows the state of
// its own sequence.
class MemTableIterator final : public RecordIterator {
 public:
  MemTableIterator(const MemTable* memtable, uint64_t newest)
      : memtable_(memtable), tree_(&memtable->tree()), newest_(newest) {}

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
    const BLinkTree::Entry* const before = tree_->Before(entry_);
    if (before != nullptr && !tree_->InOrder(before, entry_)) return Lose();
    Jump(before);
  }
  void NextFrom(const Slice& end, uint64_t sequence) override {
    DCHECK(Valid());
    if (newest_ >= sequence) {
      NotePassed();
      return Next();
    }
    Jump(tree_->Seek(end, kMaxSequence));
    if (Valid() && memtable_->order().Compare(record_.key, end) < 0) Lose();
  }
  void PrevBefore(const Slice& begin, uint64_t sequence) override {
    DCHECK(Valid());
    if (newest_ >= sequence) {
      NotePassed();
      return Prev();
    }
    Jump(tree_->SeekBefore(begin, kMaxSequence));  // in one look, since others insert
    if (Valid() && memtable_->order().Compare(record_.key, begin) >= 0) Lose();
  }

 private:
  void NotePassed() {
    if (++passed_ % kToldSteps == 0) memtable_->NotePassed(kToldSteps);
  }

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

  // The place was found by the entries in DRAM, and the record there says another key: a walk that followed it might
  // come back for ever.
  void Lose() {
    status_ = Damaged(entry_);
    entry_ = nullptr;
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

  const MemTable* const memtable_;
  const BLinkTree* const tree_;
  const uint64_t newest_;
  uint32_t passed_ = 0;
  const BLinkTree::Entry* entry_ = nullptr;
  const BLinkTree::Entry* ahead_ = nullptr;  // null: the end was seen
  int distance_ = 0;                         // entries from entry_ to ahead_, but for what came in between
};

}  // namespace

// Under an order by which different bytes may be one key there is no filter: the hash of one spelling says nothing of
// another.
MemTable::MemTable(KeyOrder order, BlockPool* blocks, size_t filter_bytes, uint64_t secret, Filter filter)
    : arena_(blocks), tree_(order, &arena_), order_(order), secret_(secret) {
  if (!order.bytewise()) return;
  if (filter == Filter::kLater) {
    later_filter_bytes_ = filter_bytes;
  } else if (filter_bytes > 0) {
    own_filter_ = std::make_unique<BloomFilter>(filter_bytes * 8 / kFilterBitsPerKey, kFilterBitsPerKey);
    filter_.store(own_filter_.get(), std::memory_order_relaxed);  // relaxed: nobody else has the memtable yet
  }
}

// While a memtable has few keys, its tree says quickly enough which are absent, and a filter would take a page of
// memory for each of them. Nobody adds meanwhile, and those who ask do without it until it is complete.
void MemTable::StartFilter() {
  if (later_filter_bytes_ == 0) return;
  try {
    own_filter_ = std::make_unique<BloomFilter>(later_filter_bytes_ * 8 / kFilterBitsPerKey, kFilterBitsPerKey,
                                                BloomFilter::Pages::kAsUsed);
  } catch (const std::bad_alloc&) {
    return;
  }
  later_filter_bytes_ = 0;
  for (const BLinkTree::Entry* entry = tree_.First(); entry != nullptr; entry = entry->Next()) {
    own_filter_->Add(KeyHash(BLinkTree::KeyOf(entry)));
  }
  filter_.store(own_filter_.get(), std::memory_order_release);  // release: pairs with Asked
}

// The answer, of the first entry at or behind (key, sequence): that is the newest version that may be seen, if it has
// the key.
[[gnu::always_inline]] inline Status MemTable::Read(const BLinkTree::Entry* entry, const LookupKey& key, bool* found,
                                                    RecordView* record) const {
  *found = entry != nullptr && order_.Equal(BLinkTree::KeyOf(entry), key.key);
  if (!*found) return Status::OK();
  Status s = View(entry, record);
  return s.ok() && key.checksums == Checksums::kVerify && !record->Verify(secret_) ? Damaged(entry) : s;
}

// The filter is asked first and may be asked without any order of memory: its bits are set before the entry is linked,
// and the sequence that makes the entry visible is published after both.
Status MemTable::Get(const LookupKey& key, bool* found, RecordView* record) const {
  DCHECK_LE(key.sequence, kMaxSequence);
  if (GoesByChunks()) [[unlikely]]
    return GetFromChunks(key, found, record);
  *found = false;
  if (!MayHave(key) || tree_.First() == nullptr) return Status::OK();
  return Read(tree_.Seek(key.key, key.sequence), key, found, record);
}

bool MemTable::Search::Step(const LookupKey& key, PrefetchList* wanted, Status* s, bool* found, RecordView* record) {
  DCHECK(memtable_ != nullptr && s->ok());
  switch (stage_) {
    case Stage::kFilter:
      if (memtable_->GoesByChunks()) [[unlikely]] {
        *s = memtable_->GetFromChunks(key, found, record);
        return true;
      }
      *found = false;
      if (!memtable_->MayHave(key) || memtable_->tree_.First() == nullptr) return true;
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
      *s = memtable_->Read(tree_.entry(), key, found, record);
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

void MemTable::AddSorted(std::unique_ptr<SortedChunk> chunk) {
  const SortedChunk::Bytes bytes = chunk->bytes();
  CHECK_EQ(tree_.count(), 0u);
  CHECK(bytes.first_sequence > max_sequence_ && bytes.first_sequence <= bytes.last_sequence);
  if (chunk->count() > 0) {
    if (sorted_ == nullptr) sorted_ = std::make_unique<SortedChunks>(order_);
    sorted_->Add(std::move(chunk));
  }
  if (min_sequence_ == 0) min_sequence_ = bytes.first_sequence;
  max_sequence_ = bytes.last_sequence;
}

Status MemTable::GetFromChunks(const LookupKey& key, bool* found, RecordView* record) const {
  DCHECK(sorted_ != nullptr);
  Status s = sorted_->Get(key, found, record);
  if (!s.ok() || !*found || key.checksums == Checksums::kTrust || record->Verify(secret_)) return s;
  return DamagedWrite(record->sequence());
}

// A single walk goes over all chunks in key order, so that every insert is at the tree's end. Every record is verified
// here, because nobody has looked at the records of a chunk with an index, and flushed records are taken for whole ever
// after. An attempt after one that lacked memory goes on behind the last entry that is linked.
Status MemTable::BuildTree() {
  if (!GoesByChunks()) return Status::OK();
  const std::unique_ptr<InternalIterator> it = sorted_->NewIterator();
  const BLinkTree::Entry* const last = tree_.Last();
  if (last == nullptr) {
    it->SeekToFirst();
  } else {
    it->Seek(BLinkTree::KeyOf(last), TagSequence(last->tag));
    if (it->Valid()) it->Next();
  }
  for (; it->Valid(); it->Next()) {
    DCHECK(it->record().sequence() >= min_sequence_ && it->record().sequence() <= max_sequence_);
    const RecordView& record = it->record();
    if (!record.Verify(secret_)) return DamagedWrite(record.sequence());
    if (BloomFilter* const filter = Asked()) filter->Add(KeyHash(record.key));
    tree_.Insert(record.key, record.tag, record.begin, record.size());
  }
  Status s = it->status();
  if (!s.ok()) return s;
  CHECK_EQ(tree_.count(), sorted_->count());
  built_.store(true, std::memory_order_release);  // release: publishes the tree and the filter to GoesByChunks
  return s;
}

// A range has no entry in the tree and none in the filter.
void MemTable::AddRange(const Slice& begin, const Slice& end, uint64_t sequence) {
  DCHECK_GT(sequence, max_sequence_);
  ranges_.Add(order_, begin, end, sequence);
  if (min_sequence_ == 0) min_sequence_ = sequence;
  max_sequence_ = sequence;
}

// The sequence lies within those of the chunk.
void MemTable::AddSortedRange(const Slice& begin, const Slice& end, uint64_t sequence) {
  DCHECK(sequence >= min_sequence_ && sequence <= max_sequence_);
  ranges_.Add(order_, begin, end, sequence);
}

// relaxed: all of it is policy.
void MemTable::NotePassed(uint64_t steps) const {
  DCHECK_GT(steps, 0u);
  const uint64_t all = passed_steps_.fetch_add(steps, std::memory_order_relaxed) + steps;
  if (all < kStepsOfFlush + kStepsOfFlushedEntry * count()) return;
  Passed little = Passed::kLittle;
  passed_.compare_exchange_strong(little, Passed::kMuch, std::memory_order_relaxed);
}

std::unique_ptr<InternalIterator> MemTable::NewIterator(uint64_t newest) const {
  if (GoesByChunks()) return sorted_->NewIterator();
  return std::make_unique<MemTableIterator>(this, newest);
}

}  // namespace miodb
