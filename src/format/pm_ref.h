// References into the pool.
//
// PmRef is an offset from the start of the pool's address range, never a pointer, so that a pool opens at any address.
// IndexWord is what a table's index stores for an entry: the reference to its record, whether it is a tombstone, and
// the record's size, so that merges account for dropped records without touching them.

#ifndef MIODB_SRC_FORMAT_PM_REF_H_
#define MIODB_SRC_FORMAT_PM_REF_H_

#include <cstdint>

#include "src/util/check.h"

namespace miodb {

using PmRef = uint64_t;

// Bits 0-46 the PmRef, bit 47 the tombstone mark, bits 48-63 the size class.
class IndexWord {
 public:
  static constexpr int kRefBits = 47;
  static constexpr PmRef kMaxRef = (PmRef{1} << kRefBits) - 1;

  IndexWord() = default;
  explicit IndexWord(uint64_t bits) : bits_(bits) {}
  IndexWord(PmRef ref, bool tombstone, uint64_t record_size)
      : bits_(ref | uint64_t{tombstone} << kRefBits | SizeClass(record_size) << 48) {
    DCHECK(this->ref() == ref && this->tombstone() == tombstone);
    DCHECK_GE(size(), record_size);
  }

  PmRef ref() const { return bits_ & kMaxRef; }
  bool tombstone() const { return (bits_ >> kRefBits & 1) != 0; }
  uint64_t bits() const { return bits_; }

  // Record size in bytes: exact below 32 KiB, above rounded up by less than 0.1 %. Every sum of live bytes uses this
  // figure, so that what is added for a record is what is taken away again.
  uint64_t size() const {
    const uint64_t size_class = bits_ >> 48;
    if (size_class < kLarge) return size_class;
    return (kMantissa + (size_class & (kMantissa - 1))) << ((size_class >> kMantissaBits & 15) + kLeastExponent);
  }

  IndexWord WithRef(PmRef ref) const {
    DCHECK_LE(ref, kMaxRef);
    return IndexWord((bits_ & ~kMaxRef) | ref);
  }

 private:
  // Size class: below kLarge the size itself; else kLarge, 4 bits of exponent e and 11 bits of mantissa m, which stand
  // for (2048 + m) << (e + 4): from 32 KiB up to 2 GiB.
  static constexpr uint64_t kLarge = 1 << 15;
  static constexpr int kMantissaBits = 11;
  static constexpr int kLeastExponent = 4;
  static constexpr uint64_t kMantissa = uint64_t{1} << kMantissaBits;
  static_assert(kMantissa << kLeastExponent == kLarge);  // sizes go on where they begin to be rounded
  static_assert(kRefBits + 1 + 16 == 64);
  static uint64_t SizeClass(uint64_t size) {
    if (size < kLarge) return size;
    int exponent = 64 - __builtin_clzll(size) - 1 - kMantissaBits;
    uint64_t mantissa = (size + (uint64_t{1} << exponent) - 1) >> exponent;
    if (mantissa == 2 * kMantissa) {
      mantissa = kMantissa;
      exponent++;
    }
    DCHECK(exponent >= kLeastExponent && exponent - kLeastExponent < 16);
    return kLarge | static_cast<uint64_t>(exponent - kLeastExponent) << kMantissaBits | (mantissa - kMantissa);
  }

  uint64_t bits_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_PM_REF_H_
