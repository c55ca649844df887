// The expected content of a database that db_stress torments: a file of its own, outside of the database, mapped by
// supervisor, worker and verifier. Stores of the worker to this file survive its kill.
//
// Every write passes three points here: its operation is begun (it may be there from now on), it is called, and it has
// ended (it must be there, or it was refused and must not). Each point takes a tick of one clock, so that it is known
// which operations were over before which others began.

#ifndef MIODB_TESTS_STRESS_DB_STRESS_EXPECTED_STATE_H_
#define MIODB_TESTS_STRESS_DB_STRESS_EXPECTED_STATE_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "tests/stress/db_stress/plan.h"

namespace miodb::test {

enum class StressPhase : int { kStarting, kOpening, kWriting, kFlushing, kCompacting, kClosing, kClosed, kFailed };

constexpr uint64_t kRefused = uint64_t{1} << 63;

// Ticks at which an operation began and ended. ended: 0 under way; with kRefused, nothing of it happened.
struct OperationTimes {
  std::atomic<uint64_t> begun;
  std::atomic<uint64_t> ended;
};

struct UnitState {
  // While a worker runs: the last version begun, and the last one acknowledged.
  std::atomic<uint32_t> begun;
  std::atomic<uint32_t> committed;
  // When it was started: the version that was there, and the last one ever used. Those between are lost for good.
  uint32_t base_current;
  uint32_t base_last;
  // The verifier's findings.
  uint32_t verified_current;
  uint32_t verified_last;
};

struct ExpectedState {
  std::atomic<StressPhase> phase;
  std::atomic<bool> stop;          // the worker is asked to close
  std::atomic<uint64_t> clock;     // ticks; 0 is before everything
  std::atomic<uint64_t> flushed;   // a tick: what ended before it is flushed
  std::atomic<uint64_t> verified;  // rounds that a verifier has finished
  std::atomic<bool> closed;        // the last worker closed the database itself

  // Since the file was made.
  std::atomic<uint64_t> operations;
  std::atomic<uint64_t> refusals;
  std::atomic<uint64_t> reads;
  std::atomic<uint64_t> steps;
  std::atomic<uint64_t> keys_verified;
  std::atomic<uint64_t> merges;
  std::atomic<uint64_t> file_faults;

  struct alignas(64) Writer {
    std::atomic<uint64_t> begun;  // operations of this round
  };
  Writer writers[kMaxStressWriters];
  UnitState units[kMaxStressUnits];
  OperationTimes times[kMaxStressWriters][kMaxStressOperations + 1];  // [0] is not used

  uint64_t Tick() { return clock.fetch_add(1) + 1; }

  // Before a worker is started: forgets the operations of the last round.
  void StartRound();
  // After a verifier has finished: its findings are what the next round starts from.
  void TakeOver(uint32_t unit_count);
  // A new database.
  void StartGeneration();

  // Maps the file, which is made if need be. Ends the program on failure.
  static ExpectedState* Map(const std::string& path);
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_STRESS_DB_STRESS_EXPECTED_STATE_H_
