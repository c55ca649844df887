// Bytewise order that counts how often it is asked; serves every engine, since their Comparator classes agree.
// Engines have fast paths for their own bytewise comparator, which this one does not get: use it to count, not to time.

#ifndef MIODB_BENCHMARKS_COMMON_ENGINES_COUNTING_COMPARATOR_H_
#define MIODB_BENCHMARKS_COMMON_ENGINES_COUNTING_COMPARATOR_H_

#include <atomic>
#include <cstdint>
#include <string>

namespace miodb::bench {

template <class Comparator, class Slice>
class CountingComparator : public Comparator {
 public:
  // REQUIRES: base outlives this.
  explicit CountingComparator(const Comparator* base) : base_(base) {}

  int Compare(const Slice& a, const Slice& b) const override {
    // Relaxed: a statistic, read when the threads are done.
    calls_.fetch_add(1, std::memory_order_relaxed);
    return base_->Compare(a, b);
  }
  // The same name, so that a store written with the plain comparator opens with this one.
  const char* Name() const override { return base_->Name(); }
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    base_->FindShortestSeparator(start, limit);
  }
  void FindShortSuccessor(std::string* key) const override { base_->FindShortSuccessor(key); }

  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }

 private:
  const Comparator* base_;
  mutable std::atomic<uint64_t> calls_{0};
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_ENGINES_COUNTING_COMPARATOR_H_
