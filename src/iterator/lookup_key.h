// The key and the sequence that a get looks for, and how it reads: one object per call, shared by all memtables and
// tables that it visits, so that a key is hashed once.

#ifndef MIODB_SRC_ITERATOR_LOOKUP_KEY_H_
#define MIODB_SRC_ITERATOR_LOOKUP_KEY_H_

#include <cstdint>

#include "miodb/slice.h"
#include "src/format/checksums.h"
#include "src/util/bytes/hash.h"
#include "src/util/bytes/key_order.h"
#include "src/util/check/check.h"

namespace miodb {

// The hash of a key in filters and in the leaves of tables.
inline uint32_t KeyHash(const Slice& key) { return static_cast<uint32_t>(Hash64(key.data(), key.size()) >> 32); }

struct LookupKey {
  LookupKey(const KeyOrder& order, const Slice& user_key, uint64_t seq, Checksums read_by = Checksums::kTrust)
      : key(user_key), sequence(seq), hash(order.bytewise() ? KeyHash(user_key) : 0), checksums(read_by) {
    DCHECK_LE(sequence, UINT64_MAX >> 8);  // as much as a tag holds
  }

  Slice key;
  uint64_t sequence;
  uint32_t hash;        // 0 under an order by which different bytes may be equal
  Checksums checksums;  // of records, and of the leaves on the way to them
};

}  // namespace miodb

#endif  // MIODB_SRC_ITERATOR_LOOKUP_KEY_H_
