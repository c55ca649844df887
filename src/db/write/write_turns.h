// Where CPUs are short, writers take turns of a millisecond instead of meeting at every put.
//
// Two writers that never pause hand the queue (write_queue.h) to each other at every put. The one that waits spins, or
// sleeps and has to be woken, and either costs about as much as a put. Flushes and merges need this time if they have
// no CPUs besides those of the writers; and when they fall behind, all writers wait. With turns one of them writes as
// if it were alone while the others sleep. The total is that of one writer, and one put in a thousand waits for its
// turn.
//
// Turns begin when writers met at least every 4 us, on average over a millisecond, while a CPU was missing. They end
// after one at whose end nobody waits or CPUs are not short any more, and after three in a row without many puts. Turns
// are advice: a writer out of turn meets others in the queue, and nothing else comes of it.
//
// Threads: all calls from any.

#ifndef MIODB_SRC_DB_WRITE_WRITE_TURNS_H_
#define MIODB_SRC_DB_WRITE_WRITE_TURNS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "src/db/context/cpu_census.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class WriteTurns {
 public:
  // census: of the background threads beside the writers; lives longer than this.
  explicit WriteTurns(const CpuCensus* census) : census_(census) { CHECK(census != nullptr); }

  // Before a put: waits for the calling thread's turn if turns are taken, some turns at most.
  void Take() {
    if (taken_.load(std::memory_order_relaxed)) [[unlikely]]  // relaxed: advice
      WaitForTurn();
  }

  // After a put that met another one.
  void Met() {
    if (!taken_.load(std::memory_order_relaxed) && Short(2)) NoteMeeting();  // relaxed: advice
  }

  // Whether so many writers and the background threads that work are more than there are CPUs.
  bool Short(size_t writers) const { return census_->Short(writers); }

  bool taken() const { return taken_.load(std::memory_order_relaxed); }  // relaxed: for tests and statistics

 private:
  static constexpr uint64_t kTurnNanos = 1000 * 1000;
  static constexpr uint64_t kGraceNanos = 200 * 1000;
  static constexpr uint32_t kManyPuts = 256;  // in a turn
  static constexpr int kIdleTurns = 3;        // with fewer; one may have been without a CPU

  struct Waiter {
    explicit Waiter(Mutex* mutex) : mine(mutex) {}
    CondVar mine;
    bool has_turn = false;
  };

  void NoteMeeting();
  void WaitForTurn();
  void Begin(const void* holder, uint64_t now) REQUIRES(mutex_);
  void End() REQUIRES(mutex_);

  const CpuCensus* const census_;
  std::atomic<bool> taken_{false};

  // State of the turn that is running. Written under the mutex, but for the number of puts, which the holder alone
  // counts.
  std::atomic<const void*> holder_{nullptr};
  std::atomic<uint64_t> end_nanos_{0};
  std::atomic<uint32_t> puts_{0};

  Mutex mutex_;
  std::deque<Waiter*> waiting_ GUARDED_BY(mutex_);  // the next one first
  int idle_turns_ GUARDED_BY(mutex_) = 0;           // in a row
  uint32_t meetings_ GUARDED_BY(mutex_) = 0;
  uint64_t meetings_since_ GUARDED_BY(mutex_) = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_WRITE_WRITE_TURNS_H_
