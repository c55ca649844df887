// RangeSet: range deletions, cut where another one begins or ends, so that each key lies in one fragment at the most.
// A memtable has such sets of the range deletions written to it; a version has one set, of the range deletions in the
// manifest.
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
#include "src/util/bytes/coding.h"
#include "src/util/bytes/key_order.h"
#include "src/util/check/check.h"

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
  // Makes a set of ranges in any order; empty ranges are left out. snapshots: null, or, ascending, all sequences that
  // reads may have besides those at or above all of the ranges: a deletion that none of these tells apart from a newer
  // one of the same keys is left out. nullptr if nothing is left.
  static RangeSetRef Make(const KeyOrder& order, const std::vector<RangeDeletion>& ranges,
                          const std::vector<uint64_t>* snapshots);

  RangeSet(const RangeSet&) = delete;
  RangeSet& operator=(const RangeSet&) = delete;

  // In key order, not overlapping; at least one.
  const std::vector<RangeFragment>& fragments() const { return fragments_; }

  // Bounds are numbered in key order: fragment i begins at 2 * i and ends at 2 * i + 1, so where one ends and the next
  // begins there are two.
  size_t bounds() const { return 2 * fragments_.size(); }
  const Slice& bound(size_t i) const {
    DCHECK_LT(i, bounds());
    return i % 2 == 0 ? fragments_[i / 2].begin : fragments_[i / 2].end;
  }

  // How many bounds lie at or before the key: if that is odd, fragment number / 2 has it, else none.
  size_t CountBounds(const Slice& key) const;

  // Whether the key lies before the bound.
  bool IsBefore(const Slice& key, size_t i) const {
    uint64_t head;
    if (HasPlainHead(key, &head) && head != heads_[i]) [[likely]]
      return head < heads_[i];
    return IsBeforeByBytes(key, i);
  }

  // The first fragment whose end lies behind the key, or the number of fragments.
  size_t FindEnd(const Slice& key) const { return CountBounds(key) / 2; }

  // The newest deletion of the key at or below the sequence; 0: none.
  uint64_t NewestAt(const Slice& key, uint64_t sequence) const {
    const size_t i = CountBounds(key);
    return i % 2 == 0 ? 0 : fragments_[i / 2].NewestAt(sequence);
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
  size_t FindHead(uint64_t head) const;

  // Whether integers tell that the key begins as all bounds do. *head: the 8 bytes behind that.
  bool HasPlainHead(const Slice& key, uint64_t* head) const {
    if (key.size() < plain_size_ || ((DecodeFixed64(key.data()) ^ begin_) & begin_mask_) != 0) return false;
    *head = __builtin_bswap64(DecodeFixed64(key.data() + prefix_));
    return true;
  }
  bool HasHead(const Slice& key, uint64_t* head) const;
  bool IsBeforeByBytes(const Slice& key, size_t i) const;

  const KeyOrder order_;
  std::vector<std::string> keys_;    // bounds, in key order
  std::vector<uint64_t> sequences_;  // of all fragments
  std::vector<RangeFragment> fragments_;

  // Used with the bytewise order alone.
  size_t prefix_ = 0;              // bytes that all bounds begin with
  std::vector<uint64_t> heads_;    // of each bound, behind the prefix
  std::vector<uint32_t> buckets_;  // heads divided by value: the first of each bucket, and their number
  int bucket_shift_ = 0;
  size_t plain_size_ = SIZE_MAX;  // keys of so many bytes are read as integers: a short prefix, then a head
  uint64_t begin_ = 0;            // first bytes of all bounds
  uint64_t begin_mask_ = 0;       // those of them that are in the prefix
};

}  // namespace miodb

#endif  // MIODB_SRC_ITERATOR_RANGE_SET_H_
