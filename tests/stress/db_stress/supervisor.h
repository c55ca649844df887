// Starts workers on a database, kills them, and has what they leave verified.

#ifndef MIODB_TESTS_STRESS_DB_STRESS_SUPERVISOR_H_
#define MIODB_TESTS_STRESS_DB_STRESS_SUPERVISOR_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "tests/stress/db_stress/expected_state.h"
#include "tests/stress/db_stress/plan.h"

namespace miodb::test {

struct SupervisorOptions {
  StressFlags stress;
  std::string program;    // this program, to be started as worker and verifier
  std::string directory;  // of database and expected state
  std::string check;      // a program that is given the closed database; empty: none
  double seconds = 0;     // 0: no limit
  uint64_t kills = 0;     // 0: no limit
  uint64_t reads = 0;     // checked reads and iterator steps; 0: no limit
  bool quiet = false;
};

class Supervisor {
 public:
  explicit Supervisor(const SupervisorOptions& options);

  // Returns the exit status of the program: 0 all passed, 1 something failed, 130 interrupted (bench::Interrupt).
  int Run();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Wait { kEnded, kReached, kTimeOut };

  bool Enough() const;
  // Runs a worker, kills it and verifies the database. Empty if all was right.
  std::string RunRound(const StressData& data, const StressRound& round, bool last);
  std::string RunWorker(const StressRound& round);
  std::string RunVerifier(const StressRound& round, bool last);
  std::string RunCheck() const;
  pid_t Start(const char* role, uint64_t round, bool last) const;
  Wait BringToTarget(pid_t pid, const StressRound& round, int* status);
  // Waits until the worker is in the phase that is to be hit, or until it has ended.
  Wait WaitForTarget(pid_t pid, KillTarget target, int* status) const;
  Wait WaitForEnd(pid_t pid, std::chrono::microseconds longest, int* status) const;
  void Progress(bool now);
  void Summary(const StressRound& round, const std::string& fault, bool interrupted);

  const SupervisorOptions options_;
  const std::string path_;  // of the database
  ExpectedState* state_;
  const Clock::time_point start_;
  Clock::time_point told_;
  uint64_t rounds_ = 0;  // that passed
  uint64_t kills_ = 0;
  uint64_t kills_in_phase_[8] = {};
  uint64_t verifier_kills_ = 0;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_STRESS_DB_STRESS_SUPERVISOR_H_
