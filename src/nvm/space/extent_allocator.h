// The free parts of the pool. DRAM only: an open rebuilds the map as the complement of the extents that the manifest
// names, so a crash can neither leak space nor leave the map wrong.
//
// Best fit, lowest address first among equals (low addresses have been faulted in before), neighbours coalesced.
// Sizes and offsets are multiples of kExtentUnit. Not thread-safe: the pool locks around it.

#ifndef MIODB_SRC_NVM_SPACE_EXTENT_ALLOCATOR_H_
#define MIODB_SRC_NVM_SPACE_EXTENT_ALLOCATOR_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "src/util/check/check.h"

namespace miodb {

class ExtentAllocator {
 public:
  struct Run {
    uint64_t offset = 0;
    uint64_t size = 0;

    uint64_t end() const {
      DCHECK_LE(size, UINT64_MAX - offset);
      return offset + size;
    }
  };

  // Adds [offset, offset + size), which must not be free already. Without memory nothing is changed, as in all of
  // these.
  void Free(uint64_t offset, uint64_t size);

  // Takes size bytes out of the free map. False if no free run is that long.
  bool Allocate(uint64_t size, uint64_t* offset);

  // Takes the exact range [offset, offset + size). False, and nothing changed, unless all of it is free.
  bool Take(uint64_t offset, uint64_t size);

  uint64_t free_bytes() const { return free_bytes_; }
  uint64_t largest_free() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }

  // End of the last free run if it reaches up to limit, else limit: where the used part of the pool ends.
  uint64_t UsedEnd(uint64_t limit) const;

  // The last run that begins below limit, as far as it lies below it. False if there is none.
  bool LastBelow(uint64_t limit, Run* run) const;

  // The first run in [offset, offset + size), as far as it lies there. False if there is none.
  bool FirstIn(uint64_t offset, uint64_t size, Run* run) const;

  // The whole run that a free byte lies in.
  Run RunOf(uint64_t offset) const;

  // Whether some byte is free in both.
  bool Overlaps(const ExtentAllocator& other) const;

  // Checks the invariants of runs that lie in [begin, end): the runs lie apart and do not touch, both maps name the
  // same runs, and free_bytes() is their sum.
  void Check(uint64_t begin, uint64_t end) const;

 private:
  using OffsetMap = std::map<uint64_t, uint64_t>;  // offset -> size

  void Insert(uint64_t offset, uint64_t size);
  void Resize(OffsetMap::iterator it, uint64_t offset, uint64_t size);  // needs no memory
  void Erase(OffsetMap::iterator it);

  OffsetMap by_offset_;
  std::set<std::pair<uint64_t, uint64_t>> by_size_;  // (size, offset)
  uint64_t free_bytes_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_SPACE_EXTENT_ALLOCATOR_H_
