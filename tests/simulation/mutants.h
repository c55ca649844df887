// Mutation testing: every copy, flush and fence of the engine, and every fault of util/check/mutation.h, one at a time.
// A mutant that no image shows is a site that no crash test needs, or a gap in the tests.

#ifndef MIODB_TESTS_SIMULATION_MUTANTS_H_
#define MIODB_TESTS_SIMULATION_MUTANTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/util/check/mutation.h"
#include "tests/simulation/sim_medium.h"

namespace miodb::sim {

struct Mutant {
  std::string name;  // for --mutant
  std::string text;  // what is wrong with it
  SiteFault fault;
  Mutation mutation = Mutation::kNone;
};

// All of them. The sites are those that have called the door so far, so run a few histories first.
std::vector<Mutant> AllMutants();

// False if there is none of this name. As above.
bool FindMutant(const std::string& name, Mutant* mutant);

}  // namespace miodb::sim

#endif  // MIODB_TESTS_SIMULATION_MUTANTS_H_
