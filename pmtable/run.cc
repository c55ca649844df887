// A run: tables whose key ranges do not overlap, in order. A get asks one of them, and a walk goes through them one
// after the other.

#include "pmtable/run.h"

#include "src/util/bytes/prefetch.h"
#include "src/util/check/check.h"
#include "src/util/clock/perf_clock.h"

namespace miodb {

namespace {

// A walk asks for the records ahead of it in groups of so many entries. All of a group at once, so that their misses of
// the caches and of the page table overlap.
constexpr uint64_t kPrefetchGroup = 8;

// So much of a record is asked for: most keys have ended there.
constexpr size_t kPrefetchedKeyBytes = 33;

// Records of at most so many bytes that lie in key order are lines in a row, of which the processor fetches the next by
// itself.
constexpr uint64_t kInARowBytes = 256;

// Walks the tables of a run one after the other; they do not overlap, so there is nothing to merge. Asks for the
// records ahead of the walk (kPrefetchGroup), because they lie where the log put them and every one may be a miss.
// With kVerify a leaf is checked once when it is entered, from either side, and each record when it is shown.
class RunIterator final : public RecordIterator {
 public:
  RunIterator(const Run* run, const KeyOrder& order, Checksums checksums)
      : run_(run), order_(order), checksums_(checksums) {}

  bool Valid() const override { return table_ != nullptr; }

  void SeekToFirst() override {
    if (run_->tables.empty()) return;
    Enter(0, 0);
  }

  void SeekToLast() override {
    if (run_->tables.empty()) return;
    DCHECK_GT(run_->tables.back()->entries(), 0u);
    Enter(run_->tables.size() - 1, run_->tables.back()->entries() - 1);
  }

  // A position behind the last entry of the table found means that its keys end there, so the first entry of the next
  // table is the answer. An error of an earlier move stays in status_: the merge above gives the walk up.
  void Seek(const Slice& key, uint64_t sequence) override {
    table_ = nullptr;
    size_t index = run_->FindTable(order_, key);
    if (index == run_->tables.size()) return;
    const PMTable& table = *run_->tables[index];
    uint64_t position;
    Status s = table.Seek(key, sequence, checksums_, &position);
    DCHECK(!s.ok() || position <= table.entries());
    if (!s.ok()) {
      status_ = std::move(s);
    } else if (position < table.entries()) {
      Enter(index, position);
    } else if (++index < run_->tables.size()) {
      Enter(index, 0);
    }
  }

  void Next() override {
    DCHECK(Valid());
    if (++position_ < table_->entries()) {
      if (position_ + 1 >= asked_end_) AskAhead();
      Load(1);
    } else if (index_ + 1 < run_->tables.size()) {
      Enter(index_ + 1, 0);
    } else {
      table_ = nullptr;
    }
  }

  void Prev() override {
    DCHECK(Valid());
    if (position_ > 0) {
      position_--;
      if (position_ <= asked_begin_) AskBehind();
      Load(-1);
    } else if (index_ > 0) {
      Enter(index_ - 1, run_->tables[index_ - 1]->entries() - 1);
    } else {
      table_ = nullptr;
    }
  }

  // Tables that are older as a whole are passed by their bounds, which are in DRAM; the last one is sought in. A search
  // that leads back shows that the table is out of order; a walk that followed it would never end.
  void NextFrom(const Slice& end, uint64_t sequence) override {
    DCHECK(Valid());
    if (table_->max_sequence() >= sequence) return Next();
    const size_t began = index_;
    while (order_.Compare(table_->largest(), end) < 0) {
      if (++index_ == run_->tables.size()) {
        table_ = nullptr;
        return;
      }
      table_ = run_->tables[index_].get();
      DCHECK_GT(table_->entries(), 0u);
      if (table_->max_sequence() >= sequence || order_.Compare(table_->smallest(), end) >= 0) return Enter(index_, 0);
    }
    uint64_t position = 0;
    Status s = table_->Seek(end, kMaxSequence, checksums_, &position);
    const bool goes_on = index_ != began || position > position_;
    if (s.ok() && goes_on && position < table_->entries()) return Enter(index_, position);
    Lose(s.ok() ? Misplaced() : std::move(s));
  }

  void PrevBefore(const Slice& begin, uint64_t sequence) override {
    DCHECK(Valid());
    if (table_->max_sequence() >= sequence) return Prev();
    const size_t began = index_;
    while (order_.Compare(table_->smallest(), begin) >= 0) {
      if (index_ == 0) {
        table_ = nullptr;
        return;
      }
      table_ = run_->tables[--index_].get();
      DCHECK_GT(table_->entries(), 0u);
      const uint64_t last = table_->entries() - 1;
      if (table_->max_sequence() >= sequence || order_.Compare(table_->largest(), begin) < 0) {
        return Enter(index_, last);
      }
    }
    uint64_t position = 0;
    Status s = table_->Seek(begin, kMaxSequence, checksums_, &position);
    const bool goes_on = index_ != began || position <= position_;
    if (s.ok() && goes_on && position > 0) return Enter(index_, position - 1);
    Lose(s.ok() ? Misplaced() : std::move(s));
  }

 private:
  void Lose(Status s) {
    DCHECK(!s.ok());
    status_ = std::move(s);
    table_ = nullptr;
  }

  // The bounds of a table say that it has a key which its index does not lead to, or its keys do not ascend.
  Status Misplaced() const {
    return Status::Corruption(table_->pool()->path(), "table " + std::to_string(table_->number()) + " is out of order");
  }

  // A position is all the state there is: entries are numbered through all leaves of a table.
  void Enter(size_t index, uint64_t position) {
    DCHECK_LT(index, run_->tables.size());
    index_ = index;
    table_ = run_->tables[index].get();
    position_ = position;
    DCHECK_GT(table_->entries(), 0u);
    asked_begin_ = asked_end_ = position;
    Load(0);
  }

  // The records at [begin, end), each with its key, which may lie in two lines. Where short records lie in order the
  // processor's own prefetchers see the second one coming. Inlined in any case, as PrefetchLines says.
  [[gnu::always_inline]] void AskFor(uint64_t begin, uint64_t end) const {
    DCHECK_LE(end, table_->entries());
    const bool ordered = table_->has(kTableOrdered);
    for (uint64_t p = begin; p < end; p++) {
      const IndexWord word = table_->WordAt(p);
      const char* const record = table_->pool()->At(word.ref());
      (ordered && word.size() <= kInARowBytes) ? __builtin_prefetch(record)
                                               : PrefetchLines(record, kPrefetchedKeyBytes);
    }
  }

  // The group behind the current entry, or before it.
  void AskAhead() {
    DCHECK_LT(position_, table_->entries());
    asked_begin_ = position_;
    asked_end_ = std::min(position_ + 1 + kPrefetchGroup, table_->entries());
    AskFor(position_ + 1, asked_end_);
  }
  void AskBehind() {
    asked_begin_ = position_ - std::min(position_, kPrefetchGroup);
    asked_end_ = position_ + 1;
    AskFor(asked_begin_, position_);
  }

  // direction: of the walk, 0 after a jump. A leaf is verified where the walk crosses
  // into it, which is at its first entry forward and at its last one backward.
  void Load(int direction) {
    DCHECK_LT(position_, table_->entries());
    Status s;
    if (checksums_ == Checksums::kVerify &&
        (direction == 0 || position_ % kNodeFanout == (direction > 0 ? 0 : kNodeFanout - 1))) {
      s = table_->CheckLeaf(position_ / kNodeFanout, checksums_);  // a leaf is entered
    }
    if (s.ok()) s = table_->RecordAt(position_, checksums_, &record_);
    if (s.ok()) return;
    status_ = std::move(s);
    table_ = nullptr;
  }

  const Run* const run_;
  const KeyOrder order_;
  const Checksums checksums_;
  size_t index_ = 0;
  const PMTable* table_ = nullptr;  // null: not valid
  uint64_t position_ = 0;
  uint64_t asked_begin_ = 0;  // positions whose records the walk has asked for
  uint64_t asked_end_ = 0;
};

}  // namespace

// Binary over the largest keys, which are in DRAM: no table is touched that cannot have the key.
size_t Run::FindTable(const KeyOrder& order, const Slice& key) const {
  const size_t i = tables.CountBefore([&](const TableRef& table) { return order.Compare(table->largest(), key) < 0; });
  DCHECK(i == tables.size() || order.Compare(tables[i]->largest(), key) >= 0);
  DCHECK(i == 0 || order.Compare(tables[i - 1]->largest(), key) < 0);
  return i;
}

bool Run::Overlaps(const KeyOrder& order, const Slice& smallest, const Slice& largest) const {
  DCHECK(order.Compare(smallest, largest) <= 0);
  const size_t i = FindTable(order, smallest);
  return i < tables.size() && order.Compare(tables[i]->smallest(), largest) <= 0;
}

std::vector<TableRef> Run::TablesIn(const KeyOrder& order, const KeyRange& range) const {
  DCHECK(!range.from.has_value() || !range.to.has_value() || order.Compare(*range.from, *range.to) <= 0);
  std::vector<TableRef> result;
  for (size_t i = range.from.has_value() ? FindTable(order, *range.from) : 0; i < tables.size(); i++) {
    if (range.IsBefore(order, tables[i]->smallest())) break;
    result.push_back(tables[i]);
  }
  return result;
}

bool Run::MayHave(const KeyOrder& order, const LookupKey& key) const {
  const size_t i = FindTable(order, key.key);
  if (i == tables.size() || order.Compare(tables[i]->smallest(), key.key) > 0) return false;
  DCHECK(order.Compare(key.key, tables[i]->largest()) <= 0);
  PerfClock clock;
  return tables[i]->MayHave(key, &clock);
}

// Tables of a run do not overlap, so all versions of a key lie in a single table.
Status Run::Get(const KeyOrder& order, const LookupKey& key, bool* found, RecordView* record) const {
  const PMTable* const table = TableFor(order, key.key);
  if (table != nullptr) return table->Get(key, found, record);
  *found = false;
  return Status::OK();
}

// The run, and so its tables and their payload, is kept by whoever pinned the version; the iterator keeps nothing.
std::unique_ptr<InternalIterator> NewRunIterator(const Run* run, const KeyOrder& order, Checksums checksums) {
  CHECK(run != nullptr);
  return std::make_unique<RunIterator>(run, order, checksums);
}

}  // namespace miodb
