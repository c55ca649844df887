// Expiry: the moment at which a put with a lifetime is gone, in microseconds since 1970, as the system's clock of the
// date has them. A record of kTypeExpiringValue has it in the first bytes of its value:
//
//   u64 expiry | the value that was put
//
// A record has expired once the clock says that moment or a later one; to every read it is a tombstone from then on,
// whatever its snapshot. Nothing has expired at moment 0, so whoever asks with 0 asks for a clock that stands still.

#ifndef MIODB_SRC_FORMAT_EXPIRY_H_
#define MIODB_SRC_FORMAT_EXPIRY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "miodb/slice.h"
#include "src/format/record.h"
#include "src/format/value_type.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"

namespace miodb {

inline constexpr size_t kExpiryBytes = 8;
static_assert(kExpiryBytes == sizeof(uint64_t));

// The expiry of what never expires.
inline constexpr uint64_t kNoExpiry = UINT64_MAX;

// The expiry of a stored value that has one. A value too short for an expiry is damaged, which checksums tell; it
// counts as expired.
inline uint64_t ExpiryOf(const Slice& stored) {
  return stored.size() < kExpiryBytes ? 1 : std::max<uint64_t>(DecodeFixed64(stored.data()), 1);
}

// What was put.
inline Slice ValueBehindExpiry(const Slice& stored) {
  const size_t front = std::min(kExpiryBytes, stored.size());
  return Slice(stored.data() + front, stored.size() - front);
}

// Of any record.
inline uint64_t ExpiryOf(const RecordView& record) {
  return record.type() == kTypeExpiringValue ? ExpiryOf(record.value) : kNoExpiry;
}
inline bool HasExpired(const RecordView& record, uint64_t now_micros) { return ExpiryOf(record) <= now_micros; }

// Whether the key is gone by such a record.
inline bool HidesKey(const RecordView& record, uint64_t now_micros) {
  return IsTombstone(record.type()) || HasExpired(record, now_micros);
}

// The value of a put, as its user knows it.
inline Slice UserValue(const RecordView& put) {
  return put.type() == kTypeExpiringValue ? ValueBehindExpiry(put.value) : put.value;
}

// Bounds of the expiries of several records, or of a single record whose expiry is not known exactly.
struct ExpiryRange {
  uint64_t first = kNoExpiry;  // none is earlier
  uint64_t last = 0;           // none is later

  bool any() const { return first <= last; }

  // Whether, at that moment, some may have expired, and whether all have.
  bool MayHaveExpired(uint64_t now_micros) const { return first <= now_micros; }
  bool HasExpired(uint64_t now_micros) const { return any() && last <= now_micros; }

  void Add(const ExpiryRange& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
};

inline ExpiryRange ExpiryAt(uint64_t expiry) { return {expiry, expiry}; }

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_EXPIRY_H_
