// The runs of crash_explorer: random histories, all short histories, mutants; and the handling of a failure.
//
// Threads: one. Processes: what may abort (shrinking, mutants) runs in children.

#ifndef MIODB_TESTS_SIMULATION_CAMPAIGN_H_
#define MIODB_TESTS_SIMULATION_CAMPAIGN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/simulation/explorer.h"
#include "tests/simulation/mutants.h"

namespace miodb::sim {

// A history that went wrong, or nothing.
struct Failure {
  bool any = false;
  uint64_t config_seed = 0;
  History history;
  size_t first_explored = 0;
  std::string what;
};

// Settings that explore everything as far as it goes, and such that see many histories.
Settings ThoroughSettings(Mode mode);
Settings BroadSettings(Mode mode);

// For RunExhaustive: all subsets of lines, every recovery crashed, and every recovery of such a crash sampled.
Settings ShortHistorySettings(Mode mode);

// Tells what is about to run, so that a crash of the program can be reported with it.
using Announce = std::function<void(uint64_t config_seed, const History& history, size_t first_explored)>;

// Histories of seed, seed + 1, ... until the explorer has had its images.
Failure RunRandom(Explorer* explorer, uint64_t seed, const Announce& announce);

// A share of a search, so that several processes divide it among them: at is one of 0 to of - 1.
struct Share {
  uint64_t at = 0;
  uint64_t of = 1;
};

// All histories of exactly this length after each prelude; crashes in the last operation only, because those before
// are last operations of shorter histories.
Failure RunExhaustive(Explorer* explorer, int length, const Announce& announce, const Share& share = Share());

// How many histories RunExhaustive runs for a length, in all shares together.
uint64_t ExhaustiveHistories(Mode mode, int length);

// A history in which a region is added to the pool; crashes from then on.
Failure RunRegionAddition(Explorer* explorer, const Announce& announce);

// The same for column families that are made and dropped.
Failure RunFamilies(Explorer* explorer, const Announce& announce);

// The same for savepoints.
Failure RunSavepoints(Explorer* explorer, const Announce& announce);
// The same for merges of parts of the repository.
Failure RunParts(Explorer* explorer, const Announce& announce);
// The same for flushes and merges in shares, each of a thread of its own.
Failure RunShares(Explorer* explorer, const Announce& announce);
// The same for the update stream of a database that keeps all of its log.
Failure RunUpdates(Explorer* explorer, const Announce& announce);

// Operations can be taken out of the history of this failure one by one until it goes away: the shortest history found.
// Every attempt runs in a child, so that an abort is a failure like any other.
History Shrink(const Settings& settings, const Mutant& mutant, const Failure& failure);

struct MutantResult {
  bool caught = false;
  std::string by;       // mode of the explorer, a program, or "unflushed": no crash, but nobody flushes a store
  std::string how;      // what was reported
  uint64_t images = 0;  // that were needed, or that saw nothing
};

// Runs the explorer on a mutant in all modes, a few images in each, and looks for stores that nobody flushes; if the
// mutant survives, asks the programs, which get the name of a mutation in MIODB_MUTANT and are to fail; and at last
// runs the explorer once more, up to max_images in each mode.
MutantResult RunMutant(const Mutant& mutant, uint64_t seed, uint64_t max_images,
                       const std::vector<std::string>& programs);

// Runs histories without crashes in every mode, so that all sites are known.
void FindSites();

}  // namespace miodb::sim

#endif  // MIODB_TESTS_SIMULATION_CAMPAIGN_H_
