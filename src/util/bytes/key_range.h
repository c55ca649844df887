// A range of keys in the order of a database.

#ifndef MIODB_SRC_UTIL_BYTES_KEY_RANGE_H_
#define MIODB_SRC_UTIL_BYTES_KEY_RANGE_H_

#include <optional>
#include <string>

#include "src/util/bytes/key_order.h"

namespace miodb {

// The keys from one bound on and before another. A bound that is not set bounds nothing.
struct KeyRange {
  bool unbounded() const { return !from.has_value() && !to.has_value(); }
  bool IsBefore(const KeyOrder& order, const Slice& key) const {
    return to.has_value() && order.Compare(key, *to) >= 0;
  }
  bool IsBehind(const KeyOrder& order, const Slice& key) const {
    return from.has_value() && order.Compare(key, *from) < 0;
  }

  bool Contains(const KeyOrder& order, const Slice& key) const {
    return !IsBehind(order, key) && !IsBefore(order, key);
  }

  std::optional<std::string> from;
  std::optional<std::string> to;
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_BYTES_KEY_RANGE_H_
