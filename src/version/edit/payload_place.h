// A payload extent in the manifest.

#ifndef MIODB_SRC_VERSION_EDIT_PAYLOAD_PLACE_H_
#define MIODB_SRC_VERSION_EDIT_PAYLOAD_PLACE_H_

#include <cstdint>
#include <map>

#include "src/nvm/pool/extent.h"

namespace miodb {

struct PayloadPlace {
  PmRef offset = 0;
  uint64_t size = 0;
  ExtentKind kind = ExtentKind::kLog;
  uint64_t payload_bytes = 0;  // written for records (Extent::payload_bytes)
  uint64_t live_bytes = 0;     // of the records that tables refer to, by IndexWord::size

  // Sizes in words are rounded up, by far less than this.
  static uint64_t MostLiveBytes(uint64_t size) { return 2 * size; }

  // Whether the figures fit each other. A log chunk that is not payload has no payload bytes.
  bool Sound() const {
    return (kind == ExtentKind::kLog || kind == ExtentKind::kSettled) && size > 0 && offset % kExtentUnit == 0 &&
           size % kExtentUnit == 0 && offset <= IndexWord::kMaxRef && size <= IndexWord::kMaxRef && payload_bytes > 0 &&
           payload_bytes <= size && live_bytes > 0 && live_bytes <= MostLiveBytes(size);
  }
};

// The bytes of an extent's records to which fewer tables than before refer, by the extent's offset.
struct PayloadDrop {
  PmRef offset;
  uint64_t bytes;
};

inline uint64_t IdOf(const PayloadPlace& payload) { return payload.offset; }

using PayloadPlaces = std::map<PmRef, PayloadPlace>;

// What an edit leaves of a place of the state before.
struct PayloadLeft {
  PayloadPlaces::const_iterator place;
  uint64_t live_bytes;
};

// The account of a state's payload.
struct PayloadTotals {
  uint64_t bytes = 0;       // written for records
  uint64_t live_bytes = 0;  // of these
};

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_EDIT_PAYLOAD_PLACE_H_
