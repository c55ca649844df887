// The process that looks at what a killed worker left: opens the database, reads every key three ways, judges them, and
// looks at the pool's space.

#ifndef MIODB_TESTS_STRESS_DB_STRESS_VERIFIER_H_
#define MIODB_TESTS_STRESS_DB_STRESS_VERIFIER_H_

#include <memory>
#include <string>

#include "miodb/db.h"
#include "tests/stress/db_stress/expected_state.h"
#include "tests/stress/db_stress/history.h"
#include "tests/stress/db_stress/plan.h"

namespace miodb::test {

class StressVerifier {
 public:
  StressVerifier(const StressFlags& flags, const StressData& data, const StressRound& round, ExpectedState* state)
      : flags_(flags), data_(data), round_(round), state_(state) {}

  // The exit status of the process: 0, or 1 after a failure, which was printed. last: the database is not used any
  // more, so everything is deleted, and then it must be as empty as a new one.
  int Run(const std::string& path, bool last);

 private:
  std::string Verify(const std::string& path, bool last);
  Status Open(const std::string& path, uint64_t pool_size);
  // By Get, by a scan and by a backward scan, which must agree.
  std::string ReadAll(FoundValues* found);
  std::string ReadBackward(const FoundValues& found);
  std::string CheckSpace(const std::string& path);
  std::string CheckEmpty(const std::string& path);

  const StressFlags flags_;
  const StressData& data_;
  const StressRound round_;
  ExpectedState* const state_;
  std::unique_ptr<DB> db_;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_STRESS_DB_STRESS_VERIFIER_H_
