// Small summaries of sets of keys that answer "is this key in the set?" with "no" or "perhaps".
//
// A PMTable has a filter of its own in DRAM, which Options::filter_bits_per_key controls. This interface is LevelDB's;
// it is here for programs written against it and for tables in LevelDB's format.
//
// Threads: every method may be called from any number of threads at once.
//
// Ownership: a policy given to a database stays the caller's and must outlive it.

#ifndef MIODB_INCLUDE_FILTER_POLICY_H_
#define MIODB_INCLUDE_FILTER_POLICY_H_

#include <string>

#include "miodb/export.h"

namespace miodb {

class Slice;

class MIODB_EXPORT FilterPolicy {
 public:
  virtual ~FilterPolicy();

  // The name of the format of the filters. It is stored with them; filters of another name are not used. Whoever
  // changes the format changes the name. The string must live as long as the policy.
  virtual const char* Name() const = 0;

  // Appends to *dst a filter of keys[0, n). Keys may repeat. What *dst already holds stays as it is.
  virtual void CreateFilter(const Slice* keys, int n, std::string* dst) const = 0;

  // "filter" is what one CreateFilter call appended. Returns true if key was among its keys. If it was not, may return
  // true as well, but should return false most of the time. Never reads outside of filter, whatever its bytes are.
  virtual bool KeyMayMatch(const Slice& key, const Slice& filter) const = 0;
};

// A Bloom filter with about bits_per_key bits for every key; at 10, about one foreign key in a hundred passes. The
// caller deletes it, after every database that uses it.
//
// Format (LevelDB's, so its name is "leveldb.BuiltinBloomFilter2"): the bits, at least 64, rounded up to bytes, lowest
// bit of a byte first; then one byte k, the number of probes: bits_per_key * ln 2, at least 1 and at most 30. Larger
// values of k are reserved for other formats, which match every key. With h a 32-bit hash of the key and d the same
// rotated right by 17, the probes are h, h + d, h + 2d, ... modulo the number of bits.
//
// A comparator for which different strings can be the same key needs a policy of its own, which must ignore what the
// comparator ignores.
MIODB_EXPORT const FilterPolicy* NewBloomFilterPolicy(int bits_per_key);

}  // namespace miodb

#endif  // MIODB_INCLUDE_FILTER_POLICY_H_
