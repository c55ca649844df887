// Lists of payload extents: those of a version, and what a flush or a merge does to them.
//
// Threads: as SharedList. Ownership: a list keeps the space of its extents taken.

#ifndef MIODB_SRC_NVM_POOL_EXTENT_LIST_H_
#define MIODB_SRC_NVM_POOL_EXTENT_LIST_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/nvm/pool/extent.h"
#include "src/util/bytes/shared_list.h"
#include "src/util/check/check.h"

namespace miodb {

// By offset; no two overlap.
using ExtentList = SharedList<ExtentRef>;

// How many extents of the list begin before this offset.
inline size_t ExtentsBefore(const ExtentList& list, PmRef offset) {
  const size_t count = list.CountBefore([&](const ExtentRef& extent) { return extent->offset() < offset; });
  DCHECK_LE(count, list.size());
  DCHECK(count == 0 || list[count - 1]->offset() < offset);
  return count;
}

// The extent that the reference lies in; null: none of the list.
inline Extent* FindExtent(const ExtentList& list, PmRef ref) {
  const size_t behind = ExtentsBefore(list, ref + 1);
  if (behind == 0) return nullptr;
  Extent* const extent = list[behind - 1].get();
  DCHECK_LE(extent->offset(), ref);
  return extent->Contains(ref) ? extent : nullptr;
}

// A new extent, and the bytes (IndexWord::size) of its records that new tables refer to.
struct MadePayload {
  ExtentRef extent;
  uint64_t live_bytes;
};

// The bytes of an extent's records to which fewer tables than before refer, by the extent's offset.
struct PayloadDrop {
  PmRef offset;
  uint64_t bytes;
};

// The change that a job makes to the payload of the version: extents that begin to be payload, and bytes of extents of
// the version that no table of the next one refers to. Records that go from one table to another are no change.
struct PayloadChange {
  std::vector<MadePayload> made;
  std::vector<PayloadDrop> dropped;  // each extent once

  bool empty() const { return made.empty() && dropped.empty(); }
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_EXTENT_LIST_H_
