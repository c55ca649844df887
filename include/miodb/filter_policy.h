// Small summaries of sets of keys that answer "is this key in the set?" with "no" or "perhaps".
//
// A PMTable has a filter of its own in DRAM, which Options::filter_bits_per_key controls. This interface is LevelDB's;
// it is here for programs written against it and for tables in LevelDB's format: those of the SSD tier
// (Options::filter_policy) and those of TableBuilder and Table. There a filter spares the read of a block from the
// disk for most keys that a file does not have; the filter of a file is in memory while the file is open.
//
//   std::unique_ptr<const miodb::FilterPolicy> policy(miodb::NewBloomFilterPolicy(10));
//   options.filter_policy = policy.get();   // outlives the database
//
// Filters see the user's keys, without sequences, and one filter is made of all keys of a file.
//
// After a crash, and damage: a filter is a part of its file and durable with it. A damaged one, or one that an
// unknown policy made, is not used; reads are right without it, and slower.
//
// Threads: every method may be called from any number of threads at once, those of drains and compactions too.
//
// Ownership: a policy given to a database, a table or a builder stays the caller's and must outlive it.
//
// Errors: there is no way to report one; a policy must not throw for any keys or bytes.

#ifndef MIODB_INCLUDE_FILTER_POLICY_H_
#define MIODB_INCLUDE_FILTER_POLICY_H_

#include <string>

#include "miodb/export.h"

namespace miodb {

class Slice;

class MIODB_EXPORT FilterPolicy {
 public:
  virtual ~FilterPolicy();

  // The name of the format of the filters. The name is stored with the filters, and filters with another name are not
  // used. If the format changes, change the name: read as another format, a filter would deny keys that are there. The
  // string must live as long as the policy.
  virtual const char* Name() const = 0;

  // Appends to *dst a filter of keys[0, n), which come in the order of the comparator. Keys may repeat, once for each
  // version that the file has. Bytes that *dst already holds stay as they are. The slices live during the call.
  virtual void CreateFilter(const Slice* keys, int n, std::string* dst) const = 0;

  // "filter" is what one CreateFilter call appended. Returns true if key was among its keys: a false for one of them
  // hides it from every read of this file. If it was not, may return true as well, but should return false most of the
  // time. Never reads outside of filter, whatever its bytes are.
  virtual bool KeyMayMatch(const Slice& key, const Slice& filter) const = 0;
};

// A Bloom filter with about bits_per_key bits for every key; at 10, about one foreign key in a hundred passes. In
// general a share of (1 - e^(-k n / m))^k passes, with n keys, m bits and k probes (B. H. Bloom, Space/time trade-offs
// in hash coding with allowable errors, 1970); k = ln 2 * m / n makes it least. Less than one bit counts as none for
// each key, which leaves the least size below. The caller deletes it, after every database that uses it.
//
// Format (LevelDB's, so its name is "leveldb.BuiltinBloomFilter2"): the bits, at least 64, rounded up to bytes, lowest
// bit of a byte first; then one byte k, the number of probes: bits_per_key * ln 2, at least 1 and at most 30. Larger
// values of k are reserved for other formats, which match every key. With h a 32-bit hash of the key and d the same
// rotated right by 17, the probes are h, h + d, h + 2d, ... modulo the number of bits.
//
// A comparator for which different strings can be the same key needs a policy of its own, which must ignore what the
// comparator ignores: else a get by one spelling is denied what another one wrote.
MIODB_EXPORT const FilterPolicy* NewBloomFilterPolicy(int bits_per_key);

}  // namespace miodb

#endif  // MIODB_INCLUDE_FILTER_POLICY_H_
