// Searching in one node of a packed skip list.
//
// Prefixes and heads are compared as if keys went on with zero bytes for ever; where that says "equal", FindHeads
// returns the range of entries in doubt and the caller asks the records.

#ifndef MIODB_PMTABLE_NODE_SEARCH_H_
#define MIODB_PMTABLE_NODE_SEARCH_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "miodb/slice.h"
#include "src/format/index_node.h"
#include "src/util/bytes/key_order.h"
#include "src/util/bytes/last_where.h"
#include "src/util/check/check.h"

namespace miodb {

// Entries [0, low) are before the target, [high, count) after it, those between have the target's head.
struct HeadRange {
  int low;
  int high;
};

// The sign of target's first prefix_size bytes, padded with zeros, against the node's prefix.
inline int ComparePrefix(const Slice& target, const NodeHeader& node) {
  DCHECK_LE(node.prefix_size, kMaxNodePrefix);
  const size_t n = std::min<size_t>(target.size(), node.prefix_size);
  const int c = memcmp(target.data(), node.prefix, n);
  if (c != 0) return c;
  for (size_t i = n; i < node.prefix_size; i++) {
    if (node.prefix[i] != 0) return -1;
  }
  return 0;
}

// The first i in [0, count) with head[i] >= value, or count. Without branches that depend on the heads.
inline int LowerBoundHead(const uint64_t* head, int count, uint64_t value) {
  DCHECK(count >= 0 && count <= kNodeFanout);
  if (count == 0) return 0;
  const int last = LastWhere(count, [&](int i) { return head[i] < value; });
  return last + (head[last] < value ? 1 : 0);
}

// Compares 64 bytes with value; bit i of the result is for byte i.
inline uint64_t EqualBytes(const uint8_t* bytes, uint8_t value) {
  static_assert(kNodeFanout == 64);
  constexpr uint64_t kLowBits = 0x7f7f7f7f7f7f7f7fULL;
  constexpr uint64_t kOfEachByte = 0x0101010101010101ULL;
  constexpr uint64_t kGather = 0x0102040810204080ULL;  // brings the lowest bits of 8 bytes into the highest byte
  uint64_t equal = 0;
  for (int i = 0; i < kNodeFanout; i += 8) {
    uint64_t eight;
    memcpy(&eight, bytes + i, 8);
    eight ^= kOfEachByte * value;
    // The highest bit of a byte is set if a lower one is, which carries nowhere, or if it was.
    const uint64_t differ = ((eight & kLowBits) + kLowBits) | eight;
    equal |= ((~differ >> 7 & kOfEachByte) * kGather >> 56) << i;
  }
  return equal;
}

// REQUIRES: the node is bytewise and sane (prefix_size and count in range).
inline HeadRange FindHeads(const NodeHeader& node, const uint64_t* head, const Slice& target) {
  const int c = ComparePrefix(target, node);
  if (c < 0) return {0, 0};
  if (c > 0) return {node.count, node.count};
  const uint64_t value = KeyHead(target, node.prefix_size);
  const int low = LowerBoundHead(head, node.count, value);
  int high = low;
  while (high < node.count && head[high] == value) high++;
  DCHECK(low >= 0 && low <= high && high <= node.count);
  // Whole keys of one length, alike up to padding: the shorter one comes first; of equal ones the search stops before
  // the first.
  if (node.suffix_size != kSuffixUnknown && high > low) {
    const size_t key_size = size_t{node.prefix_size} + node.suffix_size;
    return target.size() > key_size ? HeadRange{high, high} : HeadRange{low, low};
  }
  return {low, high};
}

}  // namespace miodb

#endif  // MIODB_PMTABLE_NODE_SEARCH_H_
