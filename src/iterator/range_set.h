// RangeSet: range deletions, cut where another one begins or ends, so that each key lies in one fragment at the most.
// Memtables have such sets of what was written to them, versions one of what the manifest has.
//
// A version of a key is hidden from a read at a sequence S if its fragment has a sequence that is above its own and at
// or below S.
//
// Threads: immutable. Ownership: owns the keys.

#ifndef MIODB_SRC_ITERATOR_RANGE_SET_H_
#define MIODB_SRC_ITERATOR_RANGE_SET_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "miodb/slice.h"
#include "src/format/range_deletion.h"
#include "src/util/check.h"
#include "src/util/key_order.h"

namespace miodb {

// Keys [begin, end), and the sequences of the deletions that all of them are hidden by, falling.
struct RangeFragment {
  Slice begin;
  Slice end;
  const uint64_t* sequences = nullptr;
  size_t count = 0;  // of the sequences, not 0

  uint64_t newest() const { return sequences[0]; }

  // The newest deletion at or below the sequence; 0: none.
  uint64_t NewestAt(uint64_t sequence) const {
    const uint64_t* const found = std::find_if(sequences, sequences + count, [=](uint64_t s) { return s <= sequence; });
    return found != sequences + count ? *found : 0;
  }

  // The oldest deletion above the sequence; 0: none.
  uint64_t OldestAbove(uint64_t sequence) const {
    DCHECK_GT(count, 0u);
    size_t i = count;
    while (i > 0 && sequences[i - 1] <= sequence) i--;
    return i > 0 ? sequences[i - 1] : 0;
  }
};

using RangeSetRef = std::shared_ptr<const class RangeSet>;

class RangeSet {
 public:
  // Of ranges in any order; those that are empty are left out. snapshots: null, or, ascending, all sequences that reads
  // may have besides those at or above all of the ranges: a deletion that none of these tells apart from a newer one of
  // the same keys is left out. nullptr if nothing is left.
  static RangeSetRef Make(const KeyOrder& order, const std::vector<RangeDeletion>& ranges,
                          const std::vector<uint64_t>* snapshots);

  RangeSet(const RangeSet&) = delete;
  RangeSet& operator=(const RangeSet&) = delete;

  // In key order, not overlapping; at least one.
  const std::vector<RangeFragment>& fragments() const { return fragments_; }

  // The first fragment whose end lies behind the key, or the number of fragments.
  size_t FindEnd(const Slice& key) const;

  // The newest deletion of the key at or below the sequence; 0: none.
  uint64_t NewestAt(const Slice& key, uint64_t sequence) const {
    const size_t i = FindEnd(key);
    if (i == fragments_.size() || order_.Compare(fragments_[i].begin, key) > 0) return 0;
    return fragments_[i].NewestAt(sequence);
  }

  // Whether a fragment has keys in [smallest, largest].
  bool Overlaps(const Slice& smallest, const Slice& largest) const {
    const size_t i = FindEnd(smallest);
    return i < fragments_.size() && order_.Compare(fragments_[i].begin, largest) <= 0;
  }

  // The deletions that make this set: of each sequence the longest ranges, in the order of keys, then of sequences.
  std::vector<RangeDeletion> Ranges() const;

  const KeyOrder& order() const { return order_; }
  size_t memory_bytes() const;

 private:
  explicit RangeSet(const KeyOrder& order) : order_(order) {}
  void NoteHeads();

  const KeyOrder order_;
  std::vector<std::string> keys_;    // bounds, in key order
  std::vector<uint64_t> sequences_;  // of all fragments
  std::vector<RangeFragment> fragments_;
  size_t prefix_ = 0;           // bytes that all bounds begin with; bytewise order alone, as the heads
  std::vector<uint64_t> head_;  // of each fragment's end, behind the prefix
};

}  // namespace miodb

#endif  // MIODB_SRC_ITERATOR_RANGE_SET_H_
