// Reasons to refuse a write before it joins the queue: the leader must not find out half-way.
//
// Threads: pure functions.

#ifndef MIODB_SRC_DB_WRITE_WRITE_CHECKS_H_
#define MIODB_SRC_DB_WRITE_WRITE_CHECKS_H_

#include <string>

#include "miodb/slice.h"
#include "miodb/status.h"
#include "src/format/range_deletion.h"
#include "src/format/record.h"
#include "src/util/bytes/family_key.h"
#include "src/util/bytes/key_order.h"

namespace miodb {

// Lengths are told as the caller knows them: without the prefix that keys of a family have here.
inline size_t PrefixBytes(const KeyOrder& order, const Slice& key) {
  DCHECK(!order.OfFamily(key) || key.size() >= kFamilyMarkBytes);
  return order.OfFamily(key) ? kFamilyPrefixBytes : 0;
}

// Checks the bounds as RocksDB does, and against the length that the manifest can hold.
inline Status CheckRange(const KeyOrder& order, const Slice& begin, const Slice& end) {
  if (order.Compare(begin, end) > 0) return Status::InvalidArgument("DeleteRange", "begin comes after end");
  const Slice& longer = begin.size() > end.size() ? begin : end;
  if (longer.size() <= kMaxRangeKeySize) return Status::OK();
  const size_t prefix = PrefixBytes(order, longer);
  return Status::InvalidArgument("DeleteRange with a bound of " + std::to_string(longer.size() - prefix) + " bytes",
                                 "the limit is " + std::to_string(kMaxRangeKeySize - prefix));
}

inline Status NoOperator() {
  return Status::NotSupported("a merge", "the database was opened without a merge_operator");
}

[[gnu::cold, gnu::noinline]] inline Status TooLarge(const KeyOrder& order, const Slice& key, const Slice& value) {
  if (key.size() > kMaxKeySize) {
    const size_t prefix = PrefixBytes(order, key);
    return Status::InvalidArgument("key of " + std::to_string(key.size() - prefix) + " bytes",
                                   "the limit is " + std::to_string(kMaxKeySize - prefix));
  }
  return Status::InvalidArgument("value of " + std::to_string(value.size()) + " bytes",
                                 "the limit is " + std::to_string(kMaxValueSize));
}

inline Status CheckSizes(const KeyOrder& order, const Slice& key, const Slice& value) {
  if (key.size() <= kMaxKeySize && value.size() <= kMaxValueSize) [[likely]]
    return Status::OK();
  return TooLarge(order, key, value);
}

}  // namespace miodb

#endif  // MIODB_SRC_DB_WRITE_WRITE_CHECKS_H_
