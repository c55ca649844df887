// The images of a crash to look at: choices of the content that is left of every open line.
//
// All of them while they are few. Else a family in which every ordered pair of lines (u left, v not) occurs, because a
// bug in the order of stores is such a pair: none, all, and for each bit of a line's number the lines that have it and
// those that do not. In any case torn stores, lines left alone or left out where that is affordable, and some at
// random.

#ifndef MIODB_TESTS_SIMULATION_CHOICES_H_
#define MIODB_TESTS_SIMULATION_CHOICES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/common/random/random.h"
#include "tests/simulation/sim_medium.h"

namespace miodb::sim {

struct ChoiceLimits {
  uint64_t all = 4096;   // try every choice if there are no more than so many
  uint64_t single = 16;  // with up to so many lines: each one alone, each one left out, each one torn
  uint64_t random = 8;   // images drawn at random, beyond those above
};

// Whether there are few enough choices to try all.
bool FewEnough(const std::vector<SimMedium::OpenLine>& lines, const ChoiceLimits& limits);

// Calls visit with one choice for each line until it returns false. False if it did.
bool ForEachChoice(const std::vector<SimMedium::OpenLine>& lines, const ChoiceLimits& limits, Random* random,
                   const std::function<bool(const std::vector<Choice>&)>& visit);

// Checks the promise about pairs on what was visited.
class PairCover {
 public:
  explicit PairCover(size_t lines) : lines_(lines), words_((lines + 63) / 64), missed_(lines * words_) {}

  void Add(const std::vector<Choice>& choices);

  // Ordered pairs of different lines (u left in some way, v not) that no image had.
  uint64_t Missing() const;

 private:
  const size_t lines_;
  const size_t words_;
  std::vector<uint64_t> missed_;  // row u: bit v set if some image had u and not v
  std::vector<uint64_t> left_;
};

}  // namespace miodb::sim

#endif  // MIODB_TESTS_SIMULATION_CHOICES_H_
