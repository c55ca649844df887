// How memtables follow one another, and how readers get to see a change.

#include "src/db/state/tree.h"

#include <algorithm>

#include "src/util/check/check.h"
#include "src/util/files/page.h"

namespace miodb {

namespace {

// A memtable whose chunks have this share of write_buffer_size is worth preparing the next one for.
constexpr uint64_t kMemTableInUse = 16;

// A memtable whose chunks have this share of write_buffer_size is worth a filter.
constexpr size_t kFilterWanted = 128;

// A thread whose edit waits for another one's looks again after so long, should it miss the other's end.
constexpr uint64_t kTurnMicros = 1000;

// A memtable may have so many blocks of DRAM, however small write_buffer_size is.
constexpr uint64_t kLeastBlocks = 4;

}  // namespace

// The filter is cleared when it is made; of a memtable that a writer is waiting for, or that may stay nearly empty, it
// is left for later.
MemTableRef Tree::NewMemTable(MemTable::Filter filter) const {
  CHECK(db_.blocks != nullptr && db_.pool != nullptr);
  const size_t bytes = MemTable::FilterBytes(db_.options.filter_bits_per_key, db_.options.write_buffer_size);
  // A filter on a node that was asked for is taken by threads that the node is set for.
  if (db_.placement.dram_node != kAnyNode) filter = MemTable::Filter::kNow;
  return std::make_shared<MemTable>(db_.order, db_.blocks.get(), bytes, db_.pool->secret(), filter);
}

void Tree::StartFilter() {
  if (SegmentBytes() >= db_.options.write_buffer_size / kFilterWanted) memtable->StartFilter();
}

void Tree::Begin() {
  CHECK(memtable == nullptr && versions != nullptr);
  versions->WorkBy([this](const std::function<void()>& work) {
    control_->AssertHeld();  // for the analysis: edits are applied with the mutex held
    const DbUnlock unlock(control_);
    work();
  });
  memtable = NewMemTable(MemTable::Filter::kLater);
  Publish();
}

// The next memtable is made here, because clearing its filter takes longer than a writer should wait; and when the
// present one is in use, because a database that nobody writes to needs neither.
void Tree::PrepareMemTable() {
  MemTableRef current;
  {
    DbLock lock(control_);
    if (spare_ != nullptr || SegmentBytes() < db_.options.write_buffer_size / kMemTableInUse) return;
    current = memtable;
  }
  current->PopulateFilter();
  MemTableRef fresh = NewMemTable(MemTable::Filter::kNow);
  DbLock lock(control_);
  CHECK(spare_ == nullptr);  // one thread prepares
  spare_ = std::move(fresh);
}

uint64_t Tree::SegmentBytes() const {
  uint64_t bytes = 0;
  for (const auto& chunk : memtable->segment().chunks) {
    bytes += chunk->in_pool() ? chunk->extent->size() : chunk->capacity;
  }
  return bytes;
}

// By the size of its chunks and not by what is used of them, so that the log of one memtable has a bound whatever
// the last chunk still has room for. Nodes count for themselves: of records of a few bytes they are the larger part.
bool Tree::MemTableFull(uint64_t most_log) const {
  if (memtable->empty()) return false;
  const uint64_t limit = db_.options.write_buffer_size;
  return SegmentBytes() >= std::min<uint64_t>(limit, most_log) || memtable->ranges().has_had_its_share() ||
         memtable->memory_bytes() >= std::max<uint64_t>(limit, kLeastBlocks * db_.blocks->block_bytes());
}

// The spare is taken if it is ready. If it is not, the writer makes one itself: a little slower, and rare.
void Tree::Seal() {
  CHECK(!memtable->empty());  // its last sequence becomes the flushed one
  CHECK(immutables.empty() || immutables.front()->max_sequence() < memtable->min_sequence());
  CHECK(spare_ == nullptr || spare_->empty());
  MemTableRef fresh = spare_ != nullptr ? std::move(spare_) : NewMemTable(MemTable::Filter::kLater);
  spare_ = nullptr;
  immutables.push_front(memtable);
  memtable = std::move(fresh);
  seal_asked.store(nullptr, std::memory_order_relaxed);  // relaxed: a wish
}

void Tree::AskSeal() {
  DCHECK(memtable != nullptr && !memtable->empty());
  seal_asked.store(memtable.get(), std::memory_order_relaxed);  // relaxed: a wish
  control_->Wake(BackgroundStep::kFlush);
}

// The run of the flushed memtable is in the version already. Until Publish readers still get the state that has the
// memtable and not the run, so no read misses a record or meets it twice.
void Tree::DropFlushed(const MemTableRef& flushed) {
  CHECK(!immutables.empty() && immutables.back() == flushed);  // flushes go by age
  immutables.pop_back();
}

void Tree::AwaitEdit() {
  while (applying_) control_->SleepUntilDone(kTurnMicros);
}

Status Tree::Apply(VersionEdit edit, const Additions& added) {
  AwaitEdit();
  applying_ = true;
  const Version* const before = versions->current().get();
  Status s = versions->Apply(std::move(edit), added);
  if (versions->current().get() != before) version_changes++;
  applying_ = false;
  control_->SignalDone();
  return s;
}

// The state is made before anything changes, so that without memory readers go on with the old one.
void Tree::Publish() {
  CHECK(memtable != nullptr && versions->current() != nullptr);
  states.Publish(std::make_unique<ReadState>(memtable, std::vector<MemTableRef>(immutables.begin(), immutables.end()),
                                             versions->current()));
}

uint64_t Tree::NewId() {
  DbLock lock(control_);
  return versions->NewId();
}

namespace {

// With its filter, as far as it has been touched, a page by each key, and with records that are not in the pool. An
// empty memtable has nothing that a flush would give back.
uint64_t DramOf(const MemTable& memtable) {
  if (memtable.empty()) return 0;
  uint64_t bytes = memtable.memory_bytes() + std::min(memtable.filter_bytes(), memtable.count() * kPageBytes);
  for (const auto& chunk : memtable.segment().chunks) {
    if (!chunk->in_pool()) bytes += chunk->capacity;
  }
  return bytes;
}

}  // namespace

uint64_t Tree::MemTableBytes() const { return DramOf(*memtable); }

uint64_t Tree::SealedBytes() const {
  uint64_t bytes = 0;
  for (const MemTableRef& sealed : immutables) bytes += DramOf(*sealed);
  return bytes;
}

uint64_t Tree::MemTableMemory() const {
  uint64_t bytes = memtable->memory_bytes();
  for (const MemTableRef& sealed : immutables) bytes += sealed->memory_bytes();
  return bytes;
}

}  // namespace miodb
