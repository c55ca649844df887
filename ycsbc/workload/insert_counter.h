// Numbers the records that are inserted while others read: hands out numbers, and knows up to which number every insert
// has returned, so that a reader never asks for a record that is still on its way.
//
// Threads: any. Memory: one bit of news for each insert in flight, in a ring of fixed size.

#ifndef MIODB_YCSBC_WORKLOAD_INSERT_COUNTER_H_
#define MIODB_YCSBC_WORKLOAD_INSERT_COUNTER_H_

#include <atomic>
#include <cstdint>
#include <memory>

namespace miodb::ycsb {

class InsertCounter {
 public:
  // The next number is "first"; all below count as inserted.
  explicit InsertCounter(uint64_t first);

  uint64_t Next() { return next_.fetch_add(1, std::memory_order_relaxed); }

  // The insert of this number has returned, with whatever result.
  void Acknowledge(uint64_t number);

  // The number below which all inserts are acknowledged. Acquire: partner of the release in Acknowledge, so that a
  // thread that reads this sees all inserts below.
  uint64_t End() const { return end_.load(std::memory_order_acquire); }

 private:
  // More inserts cannot be in flight: a thread has one at a time.
  static constexpr uint64_t kRingSize = uint64_t{1} << 16;

  std::atomic<bool>& Slot(uint64_t number) { return acknowledged_[number % kRingSize]; }

  std::atomic<uint64_t> next_;
  std::atomic<uint64_t> end_;
  std::atomic<bool> is_advancing_{false};
  std::unique_ptr<std::atomic<bool>[]> acknowledged_;
};

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_WORKLOAD_INSERT_COUNTER_H_
