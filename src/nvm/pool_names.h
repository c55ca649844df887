// Files of pools by their paths: what making a pool, adding a region to one and removing both have in common.
//
// Threads: any.

#ifndef MIODB_SRC_NVM_POOL_NAMES_H_
#define MIODB_SRC_NVM_POOL_NAMES_H_

#include <cstdint>
#include <string>

#include "miodb/status.h"
#include "src/format/superblock.h"
#include "src/nvm/region.h"

namespace miodb {

// A new file starts with this much or its limit, whichever is less.
inline constexpr uint64_t kInitialRegionSize = uint64_t{256} << 10;
uint64_t InitialRegionSize(uint64_t limit);
static_assert(kInitialRegionSize % kExtentUnit == 0 && kInitialRegionSize > kPoolHeaderSize);

// What a file is called until it is whole: the n-th such name, n >= 1. A file that is left behind under one is removed
// by whoever makes the next, if it says itself that it is one of the same pool; otherwise the next name is taken.
inline constexpr int kTemporaryNames = 100;
inline std::string TemporaryName(const std::string& path, int n) {
  CHECK(n >= 1 && n <= kTemporaryNames);
  return path + ".tmp" + (n == 1 ? "" : "." + std::to_string(n));
}

// A temporary name of path that is free, for a new file of the pool with this uuid. What an earlier attempt left under
// it is removed.
Status FreeTemporaryName(const std::string& path, const uint8_t* uuid, std::string* name);

// Removes the file of a region, or makes its device empty. What is mapped stays usable.
void Discard(const Region& region);

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_NAMES_H_
