// The state that a read looks at: memtables and version of one moment, and the way to pin it without a lock.
//
// ReadStates::Pin protects the current state for the length of a call with a hazard pointer in a slot of the calling
// thread: two stores and two loads, no shared cache line is written. ReadStates::Ref keeps a pinned state for longer
// (iterators, pinned slices).
//
// Why a pinned state is not freed: a reader stores the pointer into its slot and then looks whether it still is the
// current one; whoever retires a state first replaces the current one and then looks into all slots. All four are
// sequentially consistent, so one of the two sees the other. The same holds for slots that no thread had yet: a thread
// takes its number before it stores, and how many were taken is read after the replacement. For references the slots
// are read first, the count after: a reader counts itself before it clears its slot.
//
// The slot also keeps up to which sequence its thread has seen all to be visible, so that most gets need not look at
// the last sequence, a line that every put writes (ReadPath::Find).
//
// A thread has one slot for each database. A read inside of a read, as a comparator or an Env of the user's may do it,
// finds the slot taken and counts a reference under the mutex instead, as a thread without a slot does.
// In a child of fork() an Unref frees nothing.
//
// Threads: Pin, Ref, Unref by any; Publish with the database mutex held.

#ifndef MIODB_SRC_DB_STATE_READ_STATE_H_
#define MIODB_SRC_DB_STATE_READ_STATE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/memtable/memtable.h"
#include "src/util/check/check.h"
#include "src/util/threads/fork_guard.h"
#include "src/util/threads/mutex.h"
#include "src/version/version.h"

namespace miodb {

using MemTableRef = std::shared_ptr<MemTable>;

class ReadStates;

struct ReadState {
  ReadState() = default;
  ReadState(MemTableRef newest, std::vector<MemTableRef> sealed, VersionRef tables);

  ReadStates* owner = nullptr;
  uint64_t number = 0;  // by Publish: a later state has a higher one
  MemTableRef memtable;
  std::vector<MemTableRef> immutables;  // sealed, newest first
  VersionRef version;

  // Range deletions of all but the memtable, which may get some at any time.
  std::vector<const RangeSet*> older_ranges;

  bool has_ranges() const { return memtable->ranges().view() != nullptr || !older_ranges.empty(); }

  // The newest deletion of a range with the key at or below the sequence; 0: none. The deletion hides older versions.
  uint64_t NewestRange(const Slice& key, uint64_t sequence) const;

  // All sets that a read is to ask, of which those of the memtable are the newest.
  std::vector<const RangeSet*> RangeSets() const;

  // How many memtables, runs and levels of files a seek has to search, chunks of recovered memtables each.
  size_t sources() const {
    DCHECK(version != nullptr);
    size_t sources = memtable->sources() + version->runs.size();
    for (const MemTableRef& sealed : immutables) sources += sealed->sources();
    return sources + (version->ssd != nullptr ? version->ssd->levels.size() : 0);
  }

  // How many keys there are, by the numbers of entries.
  uint64_t EstimateKeys() const;

  std::atomic<int64_t> references{0};
};

class ReadStates {
  static constexpr int kSlots = 128;  // threads beyond that count references instead

  struct alignas(64) Slot {
    std::atomic<ReadState*> state{nullptr};
    uint64_t visible = 0;  // of the slot's thread; whoever takes over a thread's number comes after it
  };

 public:
  ReadStates() = default;
  ~ReadStates();
  ReadStates(const ReadStates&) = delete;
  ReadStates& operator=(const ReadStates&) = delete;

  // Keeps the current state alive while it lives.
  class Pin {
   public:
    explicit Pin(ReadStates* states);
    ~Pin();
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

    ReadState* get() const { return state_; }
    ReadState* operator->() const {
      DCHECK(state_ != nullptr);
      return state_;
    }

    // Whether no later state was published. A sequence that was read after the pin and before this is then shown whole:
    // what is written after a seal lies in the memtable of a later state. acquire: the load of the sequence comes
    // before.
    bool IsCurrent() const { return states_->current_.load(std::memory_order_acquire) == state_; }

    // A sequence up to which everything is visible, as far as this thread knows without a look: what was last set.
    uint64_t visible() const { return slot_ != nullptr ? slot_->visible : 0; }
    void SetVisible(uint64_t sequence) {
      DCHECK_GE(sequence, visible());
      if (slot_ != nullptr) slot_->visible = sequence;
    }

   private:
    ReadStates* const states_;
    Slot* slot_;  // null: the thread has no slot that is free and holds a reference
    ReadState* state_;
  };

  // Keeps a pinned state for as long as wanted. Each Ref is answered by one Unref.
  static void Ref(ReadState* state) {
    DCHECK(state != nullptr);
    // relaxed: the pin keeps it; Unref orders
    [[maybe_unused]] const int64_t before = state->references.fetch_add(1, std::memory_order_relaxed);
    DCHECK_GE(before, 0);
  }
  void Unref(ReadState* state);

  // Makes state the current one and retires the one before.
  void Publish(std::unique_ptr<ReadState> state);

  // Frees retired states that nobody holds. True if some are still held.
  bool Reclaim();

 private:
  bool Held(ReadState* state) const;

  const ForkGuard fork_guard_;

  std::atomic<ReadState*> current_{nullptr};
  Slot slots_[kSlots];
  Mutex mutex_;
  uint64_t published_ GUARDED_BY(mutex_) = 0;
  std::vector<ReadState*> retired_ GUARDED_BY(mutex_);
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_STATE_READ_STATE_H_
