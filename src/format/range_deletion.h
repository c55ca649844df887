// A range deletion: all versions of the keys from begin up to end, which is not one of them, that are older than a
// sequence. In the log it is a record of kTypeRangeDeletion, whose key is begin and whose value is end.

#ifndef MIODB_SRC_FORMAT_RANGE_DELETION_H_
#define MIODB_SRC_FORMAT_RANGE_DELETION_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace miodb {

// Most bytes of a bound. The limit exists because the manifest holds the bounds, and each of its areas holds all of
// them.
inline constexpr size_t kMaxRangeKeySize = size_t{64} << 10;

struct RangeDeletion {
  std::string begin;
  std::string end;
  uint64_t sequence = 0;

  bool operator==(const RangeDeletion&) const = default;
};

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_RANGE_DELETION_H_
