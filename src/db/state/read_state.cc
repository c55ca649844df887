// How readers pin a read state with a hazard pointer, and how one that nobody pins any more is freed. Why that is safe
// is told in the header.

#include "src/db/state/read_state.h"

#include <algorithm>
#include <new>
#include <utility>

#include "src/util/bytes/make_room.h"
#include "src/util/check/check.h"

namespace miodb {

ReadState::ReadState(MemTableRef newest, std::vector<MemTableRef> sealed, VersionRef tables)
    : memtable(std::move(newest)), immutables(std::move(sealed)), version(std::move(tables)) {
  CHECK(memtable != nullptr && version != nullptr);
  for (const MemTableRef& older : immutables) older->ranges().AppendTo(&older_ranges);
  if (version->ranges != nullptr) older_ranges.push_back(version->ranges.get());
}

// The newest source with an answer need not have the newest deletion that the sequence sees, so all are asked.
uint64_t ReadState::NewestRange(const Slice& key, uint64_t sequence) const {
  uint64_t newest = 0;
  DCHECK(memtable != nullptr);
  if (const MemTableRanges::View* const view = memtable->ranges().view(); view != nullptr) {
    for (const RangeSet* set : {view->most.get(), view->newest.get()}) {
      if (set != nullptr) newest = std::max(newest, set->NewestAt(key, sequence));
    }
  }
  for (const RangeSet* set : older_ranges) newest = std::max(newest, set->NewestAt(key, sequence));
  return newest;
}

std::vector<const RangeSet*> ReadState::RangeSets() const {
  std::vector<const RangeSet*> sets;
  DCHECK(memtable != nullptr);
  memtable->ranges().AppendTo(&sets);
  sets.insert(sets.end(), older_ranges.begin(), older_ranges.end());
  return sets;
}

// Entries of memtables, tables and files. A deletion in a table is taken to hide one older entry; of those in memtables
// nobody knows how many there are.
uint64_t ReadState::EstimateKeys() const {
  DCHECK(memtable != nullptr && version != nullptr);
  uint64_t entries = memtable->count(), tombstones = 0;
  for (const MemTableRef& sealed : immutables) entries += sealed->count();
  for (const Run* run : version->runs) {
    for (const TableRef& table : run->tables) {
      entries += table->entries();
      tombstones += table->tombstones();
    }
  }
  const SsdLevels* const ssd = version->ssd.get();
  for (size_t level = 0; ssd != nullptr && level < ssd->levels.size(); level++) {
    for (const SstRef& file : ssd->levels[level]) {
      entries += file->meta().entries;
      tombstones += file->meta().tombstones;
    }
  }
  return entries - std::min(entries, 2 * tombstones);
}

namespace {

// Gives each living thread a small number of its own; a number is used again after its thread has ended.
class ThreadNumbers {
 public:
  int Take() {
    MutexLock lock(&mutex_);
    if (free_.empty()) {
      free_.reserve(static_cast<size_t>(Given()) + 1);        // so that Give, in a destructor, needs no memory
      return given_.fetch_add(1, std::memory_order_seq_cst);  // seq_cst: see read_state.h
    }
    const int number = free_.back();
    free_.pop_back();
    DCHECK(number >= 0 && number < Given());
    return number;
  }
  void Give(int number) {
    MutexLock lock(&mutex_);
    DCHECK(number < Given() && free_.size() < free_.capacity());  // no memory is needed
    free_.push_back(number);
  }
  // All numbers ever taken are below it.
  int Given() const { return given_.load(std::memory_order_seq_cst); }  // as above
  static ThreadNumbers* Instance() {
    // Needs no memory, and is never destroyed: threads may end after main.
    alignas(ThreadNumbers) static char space[sizeof(ThreadNumbers)];
    static ThreadNumbers* const instance = new (space) ThreadNumbers;
    return instance;
  }

 private:
  Mutex mutex_;
  std::vector<int> free_ GUARDED_BY(mutex_);
  std::atomic<int> given_{0};
};

struct ThreadNumber {
  ThreadNumber() : number(ThreadNumbers::Instance()->Take()) {}
  ~ThreadNumber() { ThreadNumbers::Instance()->Give(number); }
  const int number;
};

int MyThreadNumber() {
  thread_local ThreadNumber mine;
  return mine.number;
}

}  // namespace

// The usual way: a store into the thread's own slot and a second look at the current state. The loop runs once more
// only if a new state was published in between. The other way, for a read inside of a read and for threads without a
// slot, costs the mutex and a count that threads share.
ReadStates::Pin::Pin(ReadStates* states) : states_(states), slot_(nullptr) {
  const int number = MyThreadNumber();
  DCHECK_GE(number, 0);
  Slot* const slot = number < kSlots ? &states->slots_[number] : nullptr;
  // relaxed: this thread's own
  if (slot == nullptr || slot->state.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
    MutexLock lock(&states->mutex_);                            // a state is not retired while this is held
    state_ = states->current_.load(std::memory_order_acquire);  // acquire: pairs with Publish
    DCHECK(state_ != nullptr);                                  // nobody reads before the first Publish
    Ref(state_);
    return;
  }
  slot_ = slot;
  ReadState* seen = states->current_.load(std::memory_order_acquire);  // acquire: pairs with Publish
  for (;;) {
    slot_->state.store(seen, std::memory_order_seq_cst);  // seq_cst: see the file comment
    state_ = states->current_.load(std::memory_order_seq_cst);
    if (state_ == seen) return;
    seen = state_;
  }
}

ReadStates::Pin::~Pin() {
  if (slot_ != nullptr) {
    DCHECK(slot_->state.load(std::memory_order_relaxed) == state_);  // relaxed: this thread's own
    slot_->state.store(nullptr, std::memory_order_release);          // release: all reads of the state come before
  } else {
    states_->Unref(state_);
  }
}

// The last reference to a retired state frees it, and whatever else nobody holds any more. In a child the object that
// the state belongs to is the parent's.
void ReadStates::Unref(ReadState* state) {
  DCHECK(state != nullptr && state->owner == this);
  if (fork_guard_.InChild()) return;
  // acq_rel: all reads of the state come before; whoever sees zero may free it.
  const int64_t before = state->references.fetch_sub(1, std::memory_order_acq_rel);
  DCHECK_GT(before, 0);
  if (before == 1 && current_.load(std::memory_order_relaxed) != state)
    Reclaim();  // relaxed: a wrong guess only delays
}

// The exchange comes before any look into the slots (Reclaim), which is what the header's argument rests on. Old states
// are freed here by the thread that publishes, which holds the database's mutex; what they alone held goes with them.
void ReadStates::Publish(std::unique_ptr<ReadState> state) {
  CHECK(state != nullptr && state->owner == nullptr);
  state->owner = this;
  {
    MutexLock lock(&mutex_);
    MakeRoom(&retired_);  // first: what throws for lack of memory changes nothing
    state->number = ++published_;
    // seq_cst: see the file comment. Also publishes what is in the state.
    ReadState* const old = current_.exchange(state.release(), std::memory_order_seq_cst);
    if (old != nullptr) retired_.push_back(old);
  }
  Reclaim();
}

// Slots first, the count afterwards: a reader that goes over from its slot to a reference counts before it clears.
bool ReadStates::Held(ReadState* state) const {
  const int used = std::min(kSlots, ThreadNumbers::Instance()->Given());
  for (int i = 0; i < used; i++) {
    if (slots_[i].state.load(std::memory_order_seq_cst) == state) return true;  // seq_cst: see the file comment
  }
  return state->references.load(std::memory_order_acquire) > 0;  // acquire: pairs with Unref
}

bool ReadStates::Reclaim() {
  // States are freed one at a time, so that no memory is needed: destructors of iterators and pinned slices end here.
  for (;;) {
    ReadState* free_now;
    {
      MutexLock lock(&mutex_);
      const auto free = std::find_if(retired_.begin(), retired_.end(), [this](ReadState* s) { return !Held(s); });
      if (free == retired_.end()) return !retired_.empty();
      free_now = *free;
      *free = retired_.back();
      retired_.pop_back();
    }
    delete free_now;
  }
}

// A state that an iterator or a pinned slice still holds is leaked: to free memtables under them would be worse.
ReadStates::~ReadStates() {
  const bool still_pinned = Reclaim();
  ReadState* const last = current_.load(std::memory_order_relaxed);  // relaxed: no reader is left
  DCHECK(last != nullptr || !still_pinned);
  if (last == nullptr) return;
  const bool iterator_or_pinned_slice_outlives_the_database = still_pinned || Held(last);
  DCHECK(!iterator_or_pinned_slice_outlives_the_database);
  if (!iterator_or_pinned_slice_outlives_the_database) delete last;
}

}  // namespace miodb
