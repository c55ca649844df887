// References into the pool.
//
// PmRef is an offset from the start of the pool's address range, never a pointer, so that a pool opens at any address.
// IndexWord is what a table's index stores for an entry: the reference to its record, what the record does to its key,
// and the record's size, so that merges decide about records, and account for dropped ones, without touching them.

#ifndef MIODB_SRC_FORMAT_PM_REF_H_
#define MIODB_SRC_FORMAT_PM_REF_H_

#include <cstdint>

#include "src/format/value_type.h"
#include "src/util/check/check.h"

namespace miodb {

using PmRef = uint64_t;

// Classes of sizes: below 2^kExactBits the size itself; from there on an exponent e and kMantissaBits of mantissa m,
// which stand for (2^kMantissaBits + m) << (e + kLeastExponent).
template <int kExactBits, int kMantissaBits>
struct SizeScale {
  static constexpr uint64_t kLarge = uint64_t{1} << kExactBits;
  static constexpr int kLeastExponent = kExactBits - kMantissaBits;
  static constexpr uint64_t kMantissa = uint64_t{1} << kMantissaBits;
  static_assert(kMantissa << kLeastExponent == kLarge);  // sizes go on where they begin to be rounded

  static uint64_t Size(uint64_t size_class) {
    if (size_class < kLarge) return size_class;
    const uint64_t above = size_class - kLarge;
    return (kMantissa + (above & (kMantissa - 1))) << ((above >> kMantissaBits & 31) + kLeastExponent);
  }
  static constexpr uint64_t Class(uint64_t size) {
    if (size < kLarge) return size;
    int exponent = 64 - __builtin_clzll(size) - 1 - kMantissaBits;
    uint64_t mantissa = (size + (uint64_t{1} << exponent) - 1) >> exponent;
    if (mantissa == 2 * kMantissa) {
      mantissa = kMantissa;
      exponent++;
    }
    return kLarge + (static_cast<uint64_t>(exponent - kLeastExponent) << kMantissaBits) + (mantissa - kMantissa);
  }
};

// Bits 0-46 the PmRef, bit 47 the mark of all that is no plain value, bits 48-63 the size class. Under the mark,
// classes below kFirstExpiringCode are those of tombstones, whose keys are too short for higher ones; from there on
// they are those of values that expire, then operands', then single deletions', in coarser scales.
class IndexWord {
 public:
  static constexpr int kRefBits = 47;
  static constexpr PmRef kMaxRef = (PmRef{1} << kRefBits) - 1;

  IndexWord() = default;
  explicit IndexWord(uint64_t bits) : bits_(bits) {}
  IndexWord(PmRef ref, ValueType type, uint64_t record_size)
      : bits_(ref | uint64_t{type != kTypeValue} << kRefBits | Code(type, record_size) << 48) {
    DCHECK(this->ref() == ref && this->type() == type);
    DCHECK_GE(size(), record_size);
  }

  PmRef ref() const { return bits_ & kMaxRef; }
  uint64_t bits() const { return bits_; }

  ValueType type() const {
    if ((bits_ >> kRefBits & 1) == 0) return kTypeValue;
    const uint64_t code = bits_ >> 48;
    if (code < kFirstExpiringCode) return kTypeDeletion;
    if (code < kFirstKindCode) return kTypeExpiringValue;
    return code < kFirstKindCode + kKindCodes ? kTypeMerge : kTypeSingleDeletion;
  }
  bool tombstone() const { return IsTombstone(type()); }

  // Whether the word is of an operand, a single deletion or a value that expires: only tables with the flag kTableKinds
  // may have it.
  bool has_kind() const { return (bits_ >> kRefBits & 1) != 0 && bits_ >> 48 >= kFirstExpiringCode; }

  // Record size in bytes: exact below 32 KiB, above rounded up by less than 0.1 %; of operands and single deletions
  // exact below 4 KiB, above rounded up by less than 1.6 %; of values that expire exact below 1 KiB, above rounded up
  // by less than 3.2 %. Every sum of live bytes uses this figure, so that what is added for a record is what is taken
  // away again.
  uint64_t size() const {
    const uint64_t code = bits_ >> 48;
    if (!has_kind()) return Scale::Size(code);
    return code < kFirstKindCode ? ExpiringScale::Size(code - kFirstExpiringCode)
                                 : KindScale::Size((code - kFirstKindCode) % kKindCodes);
  }

  IndexWord WithRef(PmRef ref) const {
    DCHECK_LE(ref, kMaxRef);
    return IndexWord((bits_ & ~kMaxRef) | ref);
  }

 private:
  using Scale = SizeScale<15, 11>;
  using KindScale = SizeScale<12, 6>;
  using ExpiringScale = SizeScale<10, 5>;

  static constexpr uint64_t kMostSize = uint64_t{1} << 31;  // above that of any record
  static constexpr uint64_t kFirstExpiringCode = 0xc900;
  static constexpr uint64_t kFirstKindCode = 0xd000;
  static constexpr uint64_t kKindCodes = 0x1800;
  static_assert(kRefBits + 1 + 16 == 64);
  static_assert(Scale::Class(kMostSize - (kMostSize >> 12)) < uint64_t{1} << 16);
  static_assert(Scale::Class((uint64_t{16} << 20) + 64) < kFirstExpiringCode);  // a tombstone of the longest key
  static_assert(kFirstExpiringCode + ExpiringScale::Class(kMostSize) < kFirstKindCode);
  static_assert(KindScale::Class(kMostSize) < kKindCodes && kFirstKindCode + 2 * kKindCodes == uint64_t{1} << 16);

  static uint64_t Code(ValueType type, uint64_t size) {
    DCHECK(size < kMostSize && IsKnownType(type));
    if (type == kTypeExpiringValue) return kFirstExpiringCode + ExpiringScale::Class(size);
    if (type != kTypeMerge && type != kTypeSingleDeletion) return Scale::Class(size);
    return kFirstKindCode + (type == kTypeMerge ? 0 : kKindCodes) + KindScale::Class(size);
  }

  uint64_t bits_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_PM_REF_H_
