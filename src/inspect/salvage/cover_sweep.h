// Tells which tables cover a key and a sequence, asked for ascending keys. For a repair that searches a pool
// (salvage.h).
//
// A sweep over the keys keeps the tables that the present key lies in, in a tree over their sequences, so that a
// question costs the logarithm of the number of tables, and no more than two comparisons of keys on average.
//
// Threads: one. The covers must outlive it.

#ifndef MIODB_SRC_INSPECT_SALVAGE_COVER_SWEEP_H_
#define MIODB_SRC_INSPECT_SALVAGE_COVER_SWEEP_H_

#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "src/util/bytes/key_order.h"

namespace miodb {

// The keys and sequences of an undamaged table, by its header.
struct Cover {
  uint64_t number;
  uint64_t min_sequence;
  uint64_t max_sequence;
  std::string smallest;
  std::string largest;
};

class CoverSweep {
 public:
  CoverSweep(const KeyOrder& order, const std::vector<Cover>& covers);

  // The highest number of a table that covers both; 0 if there is none. REQUIRES: key is not before the one of the call
  // before.
  uint64_t Highest(const Slice& key, uint64_t sequence);

 private:
  using Numbered = std::pair<uint64_t, size_t>;  // a table's number and index

  void MoveTo(const Slice& key);
  void Add(size_t index);

  const KeyOrder order_;
  const std::vector<Cover>& covers_;
  std::vector<size_t> by_smallest_;
  size_t added_ = 0;               // of by_smallest_
  std::vector<size_t> open_;       // a heap of those that were added and have not ended, the first to end on top
  std::vector<bool> ended_;        // by index
  std::vector<uint64_t> borders_;  // of sequences: between two of them the answer is the same
  // Leaves are the spaces between borders, the parent of n is n / 2. A node holds the tables that cover all of it and
  // not all of its parent; those that have ended are removed when they come to the top.
  std::vector<std::priority_queue<Numbered>> nodes_;
};

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_SALVAGE_COVER_SWEEP_H_
