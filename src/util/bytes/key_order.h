// The order of keys: a comparator, with the bytewise one inlined. Keys of column families (util/bytes/family_key.h) are
// ordered by their bytes under every comparator: under the bytewise one where they are, under others behind all keys of
// the default family, so that the comparator never sees one.

#ifndef MIODB_SRC_UTIL_BYTES_KEY_ORDER_H_
#define MIODB_SRC_UTIL_BYTES_KEY_ORDER_H_

#include <atomic>
#include <cstdint>
#include <cstring>

#include "miodb/comparator.h"
#include "miodb/slice.h"
#include "src/util/bytes/family_key.h"
#include "src/util/check/check.h"

namespace miodb {

class KeyOrder {
 public:
  // has_families: whether there are column families. Comparator and flag must outlive every copy.
  KeyOrder(const Comparator* comparator, const std::atomic<bool>* has_families)
      : comparator_(comparator), has_families_(has_families), bytewise_(comparator == BytewiseComparator()) {
    DCHECK(comparator_ != nullptr && has_families_ != nullptr);
  }

  // Without column families.
  explicit KeyOrder(const Comparator* comparator) : KeyOrder(comparator, &kNoFamilies) {}

  const Comparator* comparator() const { return comparator_; }

  // Whether keys are ordered by their bytes, so that prefixes decide, and equal means the same bytes, so that hashes
  // do.
  bool bytewise() const { return bytewise_; }

  int Compare(const Slice& a, const Slice& b) const { return bytewise_ ? a.compare(b) : CompareByComparator(a, b); }
  bool Equal(const Slice& a, const Slice& b) const { return bytewise_ ? a == b : CompareByComparator(a, b) == 0; }

  // Whether there are or were column families. Relaxed: see OfFamily.
  bool has_families() const { return has_families_->load(std::memory_order_relaxed); }

  // Whether the key is a column family's. Relaxed: the first family is made before a key of one is written, and what
  // leads to the key publishes both.
  bool OfFamily(const Slice& key) const { return has_families() && HasFamilyMark(key); }

 private:
  int CompareByComparator(const Slice& a, const Slice& b) const {
    if (has_families()) [[unlikely]] {
      const bool a_of_family = HasFamilyMark(a), b_of_family = HasFamilyMark(b);
      if (a_of_family && b_of_family) return a.compare(b);
      if (a_of_family || b_of_family) return a_of_family ? 1 : -1;
    }
    return comparator_->Compare(a, b);
  }

  const Comparator* comparator_;
  const std::atomic<bool>* has_families_;
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

#endif  // MIODB_SRC_UTIL_BYTES_KEY_ORDER_H_
