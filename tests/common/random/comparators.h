// Orders of keys other than the default.

#ifndef MIODB_TESTS_COMMON_RANDOM_COMPARATORS_H_
#define MIODB_TESTS_COMMON_RANDOM_COMPARATORS_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "miodb/comparator.h"
#include "miodb/slice.h"

namespace miodb::test {

// The bytewise order backwards. Lives until the process ends.
const Comparator* ReverseComparator();

// The bytewise order of keys with A-Z taken as a-z, so that keys of different bytes are the same key. Lives until the
// process ends.
const Comparator* CaseInsensitiveComparator();

// The bytewise order; counts how often it is asked, by any thread.
class CountingComparator final : public Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override {
    count_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
    return a.compare(b);
  }
  const char* Name() const override { return "miodb.test.CountingComparator"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }  // relaxed: a count

 private:
  mutable std::atomic<uint64_t> count_{0};
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_RANDOM_COMPARATORS_H_
