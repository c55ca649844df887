// Judges what a database holds after a crash: is it the state after some prefix of the writes, and a long enough one?
//
// The order in which the database numbered the writes of several threads is not known, but it agrees with the clock:
// what had ended before another began came first. So a state is right if there is a moment of the round such that of
// every writer exactly the operations are there that had ended by then, and perhaps the one that was under way. With a
// log that moment is the end: only what was under way when the worker was killed is in doubt. Without, it may be any
// moment since the beginning of the last flush that returned OK.

#ifndef MIODB_TESTS_STRESS_DB_STRESS_HISTORY_H_
#define MIODB_TESTS_STRESS_DB_STRESS_HISTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/stress/db_stress/expected_state.h"
#include "tests/stress/db_stress/plan.h"

namespace miodb::test {

// A value for every key of StressData::keys(), or nothing where there is none.
using FoundValues = std::vector<std::optional<std::string>>;

class History {
 public:
  History(uint64_t seed, const StressData& data, const StressRound& round, ExpectedState* state)
      : seed_(seed), data_(data), round_(round), state_(state) {}

  // Empty if what was found is right; else what is wrong. When it is right, the state's verified_* say what was found.
  std::string Judge(const FoundValues& found);

 private:
  // A version of a unit, there from operation first of its writer up to before operation end.
  struct Span {
    uint32_t version;
    uint64_t first;
    uint64_t end;
  };
  // Moments [begin, end) at which so many operations of a writer can have been there.
  struct Moments {
    uint64_t operations;
    uint64_t begin;
    uint64_t end;
  };

  void Replay(int writer);
  bool Matches(const FoundValues& found, uint32_t unit, uint32_t version) const;
  std::string FindMoments(int writer, const FoundValues& found, std::vector<Moments>* moments) const;
  std::string Complain(uint32_t unit, const FoundValues& found) const;
  bool FindCut(const std::vector<std::vector<Moments>>& moments, uint64_t* cut) const;
  void Keep(int writer, uint64_t operations);

  const uint64_t seed_;
  const StressData& data_;
  const StressRound& round_;
  ExpectedState* const state_;
  std::vector<std::vector<Span>> spans_;  // by unit, ascending
  std::vector<uint32_t> last_;            // by unit: the last version used
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_STRESS_DB_STRESS_HISTORY_H_
