// The process that is killed: opens the database, lets writers and readers loose on it, and closes it when asked to.

#ifndef MIODB_TESTS_STRESS_DB_STRESS_WORKER_H_
#define MIODB_TESTS_STRESS_DB_STRESS_WORKER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "miodb/db.h"
#include "miodb/write_batch.h"
#include "tests/stress/db_stress/expected_state.h"
#include "tests/stress/db_stress/faulty_files.h"
#include "tests/stress/db_stress/plan.h"

namespace miodb::test {

class StressWorker {
 public:
  StressWorker(const StressFlags& flags, const StressData& data, const StressRound& round, ExpectedState* state)
      : flags_(flags), data_(data), round_(round), state_(state) {}

  // The exit status of the process: 0, or 1 after a failure, which was printed.
  int Run(const std::string& path);

 private:
  void Fail(const std::string& what);
  bool Done() const;
  void WriteLoop(int writer);
  void AddUpdates(uint32_t unit, uint32_t version, WriteBatch* batch) const;
  Status WriteOperation(int writer, uint64_t n, const std::vector<uint32_t>& units, const uint32_t* versions);
  // Asks for work that would otherwise come seldom, and for figures.
  void DisturbLoop();
  bool Disturb(uint64_t dice, const std::string& from, const std::string& to);

  const StressFlags flags_;
  const StressData& data_;
  const StressRound round_;
  ExpectedState* const state_;
  std::unique_ptr<FaultyFiles> faulty_files_;  // outlives db_; null: none fail
  std::unique_ptr<DB> db_;
  std::atomic<bool> failed_{false};
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_STRESS_DB_STRESS_WORKER_H_
