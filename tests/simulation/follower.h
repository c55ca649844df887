// Follows a simulated database: applies what its update stream gives and compares that with the model.

#ifndef MIODB_TESTS_SIMULATION_FOLLOWER_H_
#define MIODB_TESTS_SIMULATION_FOLLOWER_H_

#include <cstdint>
#include <string>

#include "tests/simulation/oracle.h"

namespace miodb::sim {

// A database that keeps so much log has all of it, so its stream has to begin with the first write.
inline constexpr uint64_t kKeepAllLog = 1 << 20;

// From the oldest write that the stream has, and that the oracle knows what was before, up to sequence p: the state
// after every batch is the oracle's, no write is missing and none comes twice. Empty, or what is wrong.
std::string CheckUpdates(DB* db, const Oracle& oracle, uint64_t p);

}  // namespace miodb::sim

#endif  // MIODB_TESTS_SIMULATION_FOLLOWER_H_
