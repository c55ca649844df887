// CpuCensus: how many background threads of a database work, and whether that leaves too few CPUs for its writers.
//
// Threads: all calls from any. The count is advice: whoever asks goes on with what it was a moment ago.

#ifndef MIODB_SRC_DB_CONTEXT_CPU_CENSUS_H_
#define MIODB_SRC_DB_CONTEXT_CPU_CENSUS_H_

#include <atomic>
#include <cstddef>

#include "src/util/check/check.h"

namespace miodb {

class CpuCensus {
 public:
  // cpus: the number that writers and background threads share.
  explicit CpuCensus(size_t cpus) : cpus_(cpus) {}

  // A background thread that works for as long as this lives.
  class Work {
   public:
    explicit Work(CpuCensus* census) : census_(census) { census_->working_.fetch_add(1, std::memory_order_relaxed); }
    ~Work() {
      [[maybe_unused]] const size_t before = census_->working_.fetch_sub(1, std::memory_order_relaxed);
      DCHECK_GT(before, 0u);
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

   private:
    CpuCensus* const census_;
  };

  // Whether so many writers and the background threads that work are more than there are CPUs.
  bool Short(size_t writers) const {
    return working_.load(std::memory_order_relaxed) + writers > cpus_;  // relaxed: advice
  }

 private:
  const size_t cpus_;
  std::atomic<size_t> working_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CONTEXT_CPU_CENSUS_H_
