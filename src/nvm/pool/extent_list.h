// Lists of payload extents: those of a version, and what a flush or a merge does to them.
//
// Threads: as SharedList. Ownership: a list keeps the space of its extents taken.

#ifndef MIODB_SRC_NVM_POOL_EXTENT_LIST_H_
#define MIODB_SRC_NVM_POOL_EXTENT_LIST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/nvm/pool/extent.h"
#include "src/util/bytes/shared_list.h"
#include "src/util/check/check.h"

namespace miodb {

// An extent of a list with its offset, so that a search does not look into extents: in a long list each of them is a
// line of memory that no cache has.
struct ListedExtent : ExtentRef {
  ListedExtent() = default;
  ListedExtent(const ExtentRef& extent)  // NOLINT(google-explicit-constructor): the same thing in another form
      : ExtentRef(extent), offset(extent->offset()) {}
  PmRef offset = 0;
};

// Where the first extent of a part of a list begins.
struct FirstOffset {
  PmRef offset = UINT64_MAX;
  void Add(const ListedExtent& extent) { offset = std::min(offset, extent.offset); }
  void Add(const FirstOffset& part) { offset = std::min(offset, part.offset); }
};

// By offset; no two overlap.
using ExtentList = SharedList<ListedExtent, FirstOffset>;

// How many extents of the list begin before this offset.
inline size_t ExtentsBefore(const ExtentList& list, PmRef offset) {
  const size_t count = list.CountBefore([&](const ListedExtent& extent) { return extent.offset < offset; });
  DCHECK_LE(count, list.size());
  DCHECK(count == 0 || list[count - 1]->offset() < offset);
  return count;
}

// The item of the list that the reference lies in; null: none of the list.
inline const ExtentRef* FindItem(const ExtentList& list, PmRef ref) {
  DCHECK_LT(ref, UINT64_MAX);  // the offset of no part
  const ExtentRef* const extent = list.LastBefore([&](const auto& place) { return place.offset <= ref; });
  DCHECK(extent == nullptr || (*extent)->offset() <= ref);
  return extent != nullptr && (*extent)->Contains(ref) ? extent : nullptr;
}

inline Extent* FindExtent(const ExtentList& list, PmRef ref) {
  const ExtentRef* const item = FindItem(list, ref);
  return item != nullptr ? item->get() : nullptr;
}

// A new extent, and the bytes (IndexWord::size) of its records that new tables refer to.
struct MadePayload {
  ExtentRef extent;
  uint64_t live_bytes;
};

// An extent of a version, and the bytes of its records to which tables of the next one do not refer any more.
struct DroppedPayload {
  ExtentRef extent;
  uint64_t bytes;
};

// The change that a job makes to the payload of the version: extents that begin to be payload, and bytes of extents of
// the version that no table of the next one refers to. Records that go from one table to another are no change.
struct PayloadChange {
  std::vector<MadePayload> made;
  std::vector<DroppedPayload> dropped;  // each extent once, by offset

  bool empty() const { return made.empty() && dropped.empty(); }
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_EXTENT_LIST_H_
