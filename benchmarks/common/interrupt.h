// Whether the run has to stop early: because of Ctrl-C (or SIGTERM), or because an operation failed.
//
// Threads: any. Every loop of a workload asks before each operation. A second signal ends the process at once; signals
// that come together are one request, because timeout(1), shells and terminals send one to the process and one to its
// group.

#ifndef MIODB_BENCHMARKS_COMMON_INTERRUPT_H_
#define MIODB_BENCHMARKS_COMMON_INTERRUPT_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

namespace miodb::bench {

class Interrupt {
 public:
  // A signal so long after the first is a second request.
  static constexpr std::chrono::nanoseconds kOneRequest = std::chrono::seconds(1);

  // Forgets earlier requests; from now on the first SIGINT or SIGTERM is a request instead of the end of the process.
  static void Install();

  // Relaxed: the flag carries no data; a loop that sees it an operation later is as good.
  static bool StopRequested() { return stop_.load(std::memory_order_relaxed); }
  static void RequestStop();

  // The signal that came, or 0.
  static int Signal() { return signal_.load(std::memory_order_relaxed); }

  // Waits until a descriptor is ready for these events of poll(2). False: the run has to stop, by a signal to whatever
  // thread, or a call of RequestStop by any, before or during the wait; needs Install.
  static bool Wait(int descriptor, short events);

  // Makes a call that waits for long; "stop" makes it return early, and is called from another thread, once, when the
  // run has to stop in the meantime.
  static void Watch(const std::function<void()>& call, const std::function<void()>& stop);

 private:
  static void OnSignal(int signal);

  static std::atomic<bool> stop_;
  static std::atomic<int> signal_;
  static std::atomic<int64_t> first_nanos_;  // When the first signal came, on the monotonic clock; 0: none came.
  static std::atomic<int> wake_;             // Readable once the run has to stop; -1 before the first Install.
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_INTERRUPT_H_
