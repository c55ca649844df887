// The effect of a stored record on its key. The number is part of every format that holds records: log frames, PMTable
// nodes and write batches. Numbers never change their meaning and are never used again.

#ifndef MIODB_SRC_FORMAT_VALUE_TYPE_H_
#define MIODB_SRC_FORMAT_VALUE_TYPE_H_

#include <cstdint>

namespace miodb {

enum ValueType : uint8_t {
  // The key is gone. The record has no value.
  kTypeDeletion = 0,

  // The key has this value.
  kTypeValue = 1,

  // An operand, which a merge operator combines with the older value of the key.
  kTypeMerge = 2,

  // The key is gone, and was put once at most since it was last gone: the record may go together with that put. No
  // value.
  kTypeSingleDeletion = 7,

  // All keys from this one up to the value are gone, but for the value itself. In logs and batches only: tables hold no
  // such record, and the manifest has the ranges that tables are hidden by.
  kTypeRangeDeletion = 15,

  // The key has this value until a moment that stands in front of it (expiry.h), and is gone afterwards.
  kTypeExpiringValue = 64,
};

// Types that records of tables have, as opposed to other numbers, which only damage brings.
inline bool IsKnownType(uint8_t type) {
  return type <= kTypeMerge || type == kTypeSingleDeletion || type == kTypeExpiringValue;
}

// The same of records in logs.
inline bool IsKnownLogType(uint8_t type) { return IsKnownType(type) || type == kTypeRangeDeletion; }

// Whether the key is gone by such a record, which has no value.
inline bool IsTombstone(ValueType type) { return type == kTypeDeletion || type == kTypeSingleDeletion; }

// Whether such a record is a put, which may have a lifetime.
inline bool IsPut(ValueType type) { return type == kTypeValue || type == kTypeExpiringValue; }

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_VALUE_TYPE_H_
