// Takes the times of PerfContext where a thread wants them (miodb/perf_context.h).
//
//   PerfClock clock;
//   ... queue ...            clock.Lap(&PerfContext::put_wait);
//   ... write the frame ...  clock.Lap(&PerfContext::put_log);
//
// Each Lap adds the time since the last one, or since the clock was made.

#ifndef MIODB_SRC_UTIL_CLOCK_PERF_CLOCK_H_
#define MIODB_SRC_UTIL_CLOCK_PERF_CLOCK_H_

#include "miodb/perf_context.h"
#include "src/util/clock/clock.h"

namespace miodb {

// The calling thread's context while it wants times, else null. Found without a call also in a shared library.
[[gnu::tls_model("initial-exec")]] extern thread_local constinit PerfContext* t_perf;

class PerfClock {
 public:
  using Field = uint64_t PerfContext::*;

  PerfClock() : context_(t_perf) {
    if (context_ != nullptr) [[unlikely]]
      start_ = last_ = NowNanos();
  }

  void Lap(Field stage) {
    if (context_ != nullptr) [[unlikely]]
      AddLap(stage);
  }

  // All the time since the clock was made, and one more call.
  void End(Field total, Field calls) {
    if (context_ != nullptr) [[unlikely]]
      AddTotal(total, calls);
  }

  void Count(Field counter) {
    if (context_ != nullptr) [[unlikely]]
      context_->*counter += 1;
  }

 private:
  void AddLap(Field stage);
  void AddTotal(Field total, Field calls);

  PerfContext* const context_;
  uint64_t start_ = 0;
  uint64_t last_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_CLOCK_PERF_CLOCK_H_
