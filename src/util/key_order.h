// The order of user keys: a comparator, with the bytewise one inlined.

#ifndef MIODB_SRC_UTIL_KEY_ORDER_H_
#define MIODB_SRC_UTIL_KEY_ORDER_H_

#include <cstdint>
#include <cstring>

#include "miodb/comparator.h"
#include "miodb/slice.h"
#include "src/util/check.h"

namespace miodb {

class KeyOrder {
 public:
  // The comparator must outlive every copy.
  explicit KeyOrder(const Comparator* comparator)
      : comparator_(comparator), bytewise_(comparator == BytewiseComparator()) {
    DCHECK(comparator_ != nullptr);
  }

  const Comparator* comparator() const { return comparator_; }

  // Whether keys are ordered by their bytes, so that prefixes decide, and equal means the same bytes, so that hashes
  // do.
  bool bytewise() const { return bytewise_; }

  int Compare(const Slice& a, const Slice& b) const { return bytewise_ ? a.compare(b) : comparator_->Compare(a, b); }
  bool Equal(const Slice& a, const Slice& b) const { return bytewise_ ? a == b : comparator_->Compare(a, b) == 0; }

 private:
  const Comparator* comparator_;
  bool bytewise_;
};

// Bytes [skip, skip + 8) of key as a big-endian integer, zeros where the key has ended. Comparing two of these compares
// the bytes; equal ones may still differ in length by trailing zero bytes.
inline uint64_t KeyHead(const Slice& key, size_t skip) {
  uint64_t raw = 0;
  if (key.size() >= skip + 8) {
    memcpy(&raw, key.data() + skip, 8);
  } else if (key.size() > skip) {
    memcpy(&raw, key.data() + skip, key.size() - skip);
  }
  return __builtin_bswap64(raw);
}

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_KEY_ORDER_H_
