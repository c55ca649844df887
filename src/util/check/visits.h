// Visits: how many elements of lists that grow with the data a thread visits while it holds the mutex of a database. No
// look and no edit may visit more of them the more data there is (tests/simulation/visits_test.cc).
//
// Counted in builds that check whole objects (kChecksWhole); in all others nothing is done.
//
// Threads: each counts for itself.

#ifndef MIODB_SRC_UTIL_CHECK_VISITS_H_
#define MIODB_SRC_UTIL_CHECK_VISITS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "src/util/check/check.h"

namespace miodb {

class Visits {
 public:
  static void Add(uint64_t elements) {
    if constexpr (kChecksWhole) count_ += elements;
  }

  // An edit names so many elements, and may look each up a few times.
  static void Allow(uint64_t elements) {
    if constexpr (kChecksWhole) allowed_ += 4 * elements;
  }

  // The thread has taken the mutex, or lets go of it.
  static void Begin() {
    if constexpr (kChecksWhole) count_ = allowed_ = 0;
  }
  static void End() {
    if constexpr (kChecksWhole) {
      uint64_t most = most_.load(std::memory_order_relaxed);  // relaxed: a figure
      const uint64_t count = count_ - std::min(count_, allowed_);
      while (most < count && !most_.compare_exchange_weak(most, count, std::memory_order_relaxed)) {
      }
    }
  }

  // The most between a Begin and its End besides what was allowed, of any thread, since the last call.
  static uint64_t TakeMost() { return most_.exchange(0, std::memory_order_relaxed); }

  // For as long as it lives nothing counts: checks of everything are no work of the database.
  class Pause {
   public:
    Pause() = default;
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    ~Pause() { count_ = before_; }

   private:
    const uint64_t before_ = count_;
  };

 private:
  inline static thread_local uint64_t count_ = 0, allowed_ = 0;
  inline static std::atomic<uint64_t> most_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_CHECK_VISITS_H_
