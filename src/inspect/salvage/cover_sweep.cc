#include "src/inspect/salvage/cover_sweep.h"

#include <algorithm>
#include <numeric>

#include "src/util/check/check.h"

// A segment tree over sequences, through which keys are swept in ascending order.

namespace miodb {

// Only the sequences at which some table begins or ends its range tell spaces apart, so the tree has at most two leaves
// for each table, whatever the numbers are.
CoverSweep::CoverSweep(const KeyOrder& order, const std::vector<Cover>& covers)
    : order_(order), covers_(covers), by_smallest_(covers.size()), ended_(covers.size()) {
  std::iota(by_smallest_.begin(), by_smallest_.end(), size_t{0});
  std::sort(by_smallest_.begin(), by_smallest_.end(),
            [&](size_t a, size_t b) { return order_.Compare(covers[a].smallest, covers[b].smallest) < 0; });
  // A cover ends at the sequence before its second border. A cover that ends before it begins covers nothing.
  for (const Cover& cover : covers) {
    borders_.push_back(cover.min_sequence);
    borders_.push_back(cover.max_sequence + 1);
  }
  // Each border once: covers of neighbouring sequences share theirs.
  std::sort(borders_.begin(), borders_.end());
  borders_.erase(std::unique(borders_.begin(), borders_.end()), borders_.end());
  nodes_.resize(2 * borders_.size());
}

// From the leaf up to the root: the tables that cover a sequence are in the nodes of this path and nowhere else.
uint64_t CoverSweep::Highest(const Slice& key, uint64_t sequence) {
  MoveTo(key);
  const auto above = std::upper_bound(borders_.begin(), borders_.end(), sequence);
  if (above == borders_.begin()) return 0;
  uint64_t highest = 0;
  const size_t leaf = static_cast<size_t>(above - borders_.begin()) - 1;
  DCHECK_LT(leaf + borders_.size(), nodes_.size());
  for (size_t n = leaf + borders_.size(); n > 0; n /= 2) {
    std::priority_queue<Numbered>& node = nodes_[n];
    while (!node.empty() && ended_[node.top().second]) node.pop();  // those below the top wait until they come up
    if (!node.empty()) highest = std::max(highest, node.top().first);
  }
  return highest;
}

// Each table is added once and ends once, so all moves together cost the logarithm of the number of tables for each.
void CoverSweep::MoveTo(const Slice& key) {
  // The heap has the one that ends first on top, so that the others need not be looked at.
  const auto ends_later = [this](size_t a, size_t b) {
    return order_.Compare(covers_[a].largest, covers_[b].largest) > 0;
  };
  while (added_ < by_smallest_.size() && order_.Compare(covers_[by_smallest_[added_]].smallest, key) <= 0) {
    const size_t index = by_smallest_[added_++];
    Add(index);
    open_.push_back(index);
    std::push_heap(open_.begin(), open_.end(), ends_later);
  }
  while (!open_.empty() && order_.Compare(covers_[open_.front()].largest, key) < 0) {
    ended_[open_.front()] = true;
    std::pop_heap(open_.begin(), open_.end(), ends_later);
    open_.pop_back();
  }
}

// The usual way into a segment tree: from both ends of the range upwards, and into every node that lies in the range
// while its parent does not.
void CoverSweep::Add(size_t index) {
  DCHECK(index < covers_.size() && !ended_[index]);
  const Cover& cover = covers_[index];
  const auto leaf = [this](uint64_t border) {
    return static_cast<size_t>(std::lower_bound(borders_.begin(), borders_.end(), border) - borders_.begin()) +
           borders_.size();
  };
  for (size_t l = leaf(cover.min_sequence), r = leaf(cover.max_sequence + 1); l < r; l /= 2, r /= 2) {
    DCHECK(l > 0 && r <= nodes_.size());
    if (l % 2 == 1) nodes_[l++].push({cover.number, index});
    if (r % 2 == 1) nodes_[--r].push({cover.number, index});
  }
}

}  // namespace miodb
