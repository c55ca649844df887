// Several writers in flight at once, in one thread: their steps through the lanes (db/write/write_lanes.h), each as a
// thread of its own of the medium, in an order that a seed draws.

#ifndef MIODB_TESTS_SIMULATION_BESIDE_H_
#define MIODB_TESTS_SIMULATION_BESIDE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "miodb/db.h"
#include "tests/simulation/oracle.h"
#include "tests/simulation/sim_medium.h"

namespace miodb::sim {

// Writes each of the updates by a writer of its own, all of them beside one another. Returns how many were written
// before one found no room, or, where the database takes no writers beside one another, 0. REQUIRES: at most
// kMostWriters.
size_t WriteBeside(DB* db, SimMedium* medium, const std::vector<Update>& updates, uint64_t seed, Oracle* oracle);

}  // namespace miodb::sim

#endif  // MIODB_TESTS_SIMULATION_BESIDE_H_
