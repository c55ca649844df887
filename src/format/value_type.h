// What a stored record does to its key. The number is part of every format that holds records: log frames, PMTable
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

  // Reserved, and corruption to version 1: an operand to combine with the older value.
  kTypeMerge = 2,

  // Reserved, and corruption to version 1: a deletion that goes away together with the one value it hides.
  kTypeSingleDeletion = 7,

  // Reserved, and corruption to version 1: all keys from this one up to another are gone.
  kTypeRangeDeletion = 15,
};

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_VALUE_TYPE_H_
