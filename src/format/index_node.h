// Nodes of a PMTable's packed skip list, and the header of its index extent.
//
// Level 0 is an array of leaves, each with up to 64 entries in key order. Level i + 1 holds the first key of every
// node of level i, again in nodes of 64. All nodes but the last of a level are full, so the child of entry j of node n
// is node 64 n + j of the level below: no child pointers. docs/format.md draws the whole index extent.
//
// A node stores the common prefix of its keys once (up to kMaxNodePrefix bytes) and of every key the 8 bytes that
// follow it, as a big-endian integer padded with zeros, so that comparing integers compares keys. Where two such heads
// are equal the keys may still differ; then the records decide. Under a comparator other than the bytewise one,
// prefixes and heads are empty and the records always decide.

#ifndef MIODB_SRC_FORMAT_INDEX_NODE_H_
#define MIODB_SRC_FORMAT_INDEX_NODE_H_

#include <cstddef>
#include <cstdint>

#include "src/format/pm_ref.h"
#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"

namespace miodb {

inline constexpr int kNodeFanout = 64;
inline constexpr size_t kMaxNodePrefix = 48;
inline constexpr size_t kHeadSize = 8;
inline constexpr size_t kMaxKnownBytes = kMaxNodePrefix + kHeadSize;

// suffix_size when the keys of a node differ in length or go on after their heads.
inline constexpr uint8_t kSuffixUnknown = 255;
static_assert(kHeadSize == sizeof(uint64_t) && kHeadSize < kSuffixUnknown);
static_assert(kNodeFanout == 64);  // matches in a leaf are the bits of a word

struct NodeHeader {
  uint64_t checksum;    // Hash64 of the rest of the node, seeded with NodeSeed
  uint8_t count;        // entries in use, 1 to 64
  uint8_t prefix_size;  // bytes of prefix, 0 to 48
  uint8_t suffix_size;  // if not kSuffixUnknown: every key is prefix_size + suffix_size bytes, suffix_size <= 8
  uint8_t level;        // 0: leaf
  uint8_t padding[4];   // zero
  char prefix[kMaxNodePrefix];
};
static_assert(sizeof(NodeHeader) == 64 && offsetof(NodeHeader, checksum) == 0 && offsetof(NodeHeader, count) == 8 &&
              offsetof(NodeHeader, prefix_size) == 9 && offsetof(NodeHeader, suffix_size) == 10 &&
              offsetof(NodeHeader, level) == 11 && offsetof(NodeHeader, padding) == 12 &&
              offsetof(NodeHeader, prefix) == 16);

// Inner node. ref: the record of the child's first entry.
struct InnerNode {
  NodeHeader header;
  uint64_t head[kNodeFanout];
  PmRef ref[kNodeFanout];
};
static_assert(sizeof(InnerNode) == 1088 && offsetof(InnerNode, header) == 0 && offsetof(InnerNode, head) == 64 &&
              offsetof(InnerNode, ref) == 576);

// Leaf. The 32-bit key hash of an entry is split: its top byte is the fingerprint, which a point lookup matches in one
// cache line, its lower 24 bits are kept apart for rebuilding filters.
struct LeafNode {
  NodeHeader header;
  uint8_t fingerprint[kNodeFanout];
  uint64_t head[kNodeFanout];
  uint64_t word[kNodeFanout];  // IndexWord
  uint8_t hash_low[kNodeFanout][3];

  uint32_t Hash(int i) const {
    DCHECK(i >= 0 && i < kNodeFanout);
    return uint32_t{fingerprint[i]} << 24 | uint32_t{hash_low[i][2]} << 16 | uint32_t{hash_low[i][1]} << 8 |
           uint32_t{hash_low[i][0]};
  }
  void SetHash(int i, uint32_t hash) {
    fingerprint[i] = static_cast<uint8_t>(hash >> 24);
    hash_low[i][2] = static_cast<uint8_t>(hash >> 16);
    hash_low[i][1] = static_cast<uint8_t>(hash >> 8);
    hash_low[i][0] = static_cast<uint8_t>(hash);
    DCHECK_EQ(Hash(i), hash);
  }
};
static_assert(sizeof(LeafNode) == 1344 && offsetof(LeafNode, fingerprint) == 64 && offsetof(LeafNode, head) == 128 &&
              offsetof(LeafNode, word) == 640 && offsetof(LeafNode, hash_low) == 1152);

inline constexpr uint64_t kTableMagic = 0x31656c626154504dULL;  // "MPTable1"
inline constexpr uint32_t kTableFormatVersion = 5;

// First bytes of an index extent. Leaves follow at 256, then the inner nodes level by level from level 1 up.
struct TableHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t flags;
  uint64_t number;  // of the table; never reused
  uint64_t entries;
  uint64_t tombstones;
  uint64_t leaf_count;
  uint64_t inner_offset;    // from the start of the extent
  uint64_t inner_count;     // nodes on all levels above 0
  uint64_t payload_bytes;   // sum of the sizes of all words (IndexWord::size)
  uint64_t inner_checksum;  // Hash64 of all inner nodes seeded with TableSeed
  uint64_t min_sequence;
  uint64_t max_sequence;
  uint64_t secret;          // of the superblock: what is left of it if both copies are lost
  uint64_t ranges_applied;  // no entry is hidden by a deletion of a range that is no newer; 0: nothing is known
  uint8_t padding[112];     // zero
  // Set in a table with kTableExpiring; else zero. Moments are microseconds since 1970 (format/expiry.h).
  uint64_t expiring;      // entries that expire
  uint64_t first_expiry;  // of them, none earlier
  uint64_t last_expiry;   // none later
  uint64_t checksum;      // Hash64 of everything before, seeded with the secret
};
static_assert(sizeof(TableHeader) == 256 && offsetof(TableHeader, magic) == 0 && offsetof(TableHeader, version) == 8 &&
              offsetof(TableHeader, flags) == 12 && offsetof(TableHeader, number) == 16 &&
              offsetof(TableHeader, entries) == 24 && offsetof(TableHeader, tombstones) == 32 &&
              offsetof(TableHeader, leaf_count) == 40 && offsetof(TableHeader, inner_offset) == 48 &&
              offsetof(TableHeader, inner_count) == 56 && offsetof(TableHeader, payload_bytes) == 64 &&
              offsetof(TableHeader, inner_checksum) == 72 && offsetof(TableHeader, min_sequence) == 80 &&
              offsetof(TableHeader, max_sequence) == 88 && offsetof(TableHeader, secret) == 96 &&
              offsetof(TableHeader, ranges_applied) == 104 && offsetof(TableHeader, padding) == 112 &&
              offsetof(TableHeader, expiring) == 224 && offsetof(TableHeader, first_expiry) == 232 &&
              offsetof(TableHeader, last_expiry) == 240 && offsetof(TableHeader, checksum) == 248);

// offset: of the node in its extent. number: of the table.
inline uint64_t NodeSeed(uint64_t secret, uint64_t offset) { return secret ^ offset; }
inline uint64_t TableSeed(uint64_t secret, uint64_t number) { return secret ^ number; }

// The checksum of a leaf or of an inner node. seed: NodeSeed.
template <typename Node>
uint64_t NodeChecksum(const Node& node, uint64_t seed) {
  return Hash64(reinterpret_cast<const char*>(&node) + 8, sizeof(node) - 8, seed);
}

// A search needs no more than this to stay inside of the node and of the table, whatever bytes are there. REQUIRES:
// count is one that a node can have.
inline bool IsSaneNode(const NodeHeader& node, uint64_t count, int level) {
  return node.count == count && node.prefix_size <= kMaxNodePrefix && node.level == level &&
         (node.suffix_size <= kHeadSize || node.suffix_size == kSuffixUnknown);
}

inline uint64_t TableHeaderChecksum(const TableHeader& h) {
  return Hash64(&h, offsetof(TableHeader, checksum), h.secret);
}

enum TableFlags : uint32_t {
  kTableBytewise = 1,    // prefixes, heads and hashes are in use
  kTableDuplicates = 2,  // some key has more than one version
  kTableSpanning = 4,    // some key has versions in two leaves
  kTableOrdered = 8,     // records lie in key order for the most part
  kTableKinds = 16,      // there are operands, single deletions or values that expire
  kTableChains = 32,     // with duplicates: every version but the newest follows an operand or is a single deletion
  kTableExpiring = 128,  // there are values that expire
  kTableApart = 256,     // operands may be there that a merge would have folded but for a snapshot
  kTableLogged = 512,    // some records may lie where the log put them
};

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_INDEX_NODE_H_
