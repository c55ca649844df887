#include "ycsbc/workload/insert_counter.h"

#include <thread>

namespace miodb::ycsb {

InsertCounter::InsertCounter(uint64_t first)
    : next_(first), end_(first), acknowledged_(new std::atomic<bool>[kRingSize]()) {}

void InsertCounter::Acknowledge(uint64_t number) {
  // A thread that was held up long enough for the others to go once round the ring: they wait for it here.
  while (number - end_.load(std::memory_order_acquire) >= kRingSize) std::this_thread::yield();

  // seq_cst here and on is_advancing_: either this thread gets the right to advance, or the one that has it looks at
  // the slot once more after giving it up. With less, both could miss the other's store.
  Slot(number).store(true);
  while (Slot(end_.load()).load()) {
    if (is_advancing_.exchange(true)) return;
    uint64_t end = end_.load(std::memory_order_relaxed);  // Only the holder of is_advancing_ changes it.
    while (Slot(end).load()) {
      Slot(end).store(false);
      end++;
      // Release: partner of the acquire in End.
      end_.store(end);
    }
    is_advancing_.store(false);
  }
}

}  // namespace miodb::ycsb
