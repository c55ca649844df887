// Files of pools by their paths: what making a pool, adding a region to one and removing both have in common.
//
// Threads: any.

#ifndef MIODB_SRC_NVM_POOL_POOL_NAMES_H_
#define MIODB_SRC_NVM_POOL_POOL_NAMES_H_

#include <cstdint>
#include <string>

#include "miodb/status.h"
#include "src/format/superblock.h"
#include "src/nvm/region/region.h"

namespace miodb {

// A new file starts with this much or its limit, whichever is less.
inline constexpr uint64_t kInitialRegionSize = uint64_t{256} << 10;
uint64_t InitialRegionSize(uint64_t limit);
static_assert(kInitialRegionSize % kExtentUnit == 0 && kInitialRegionSize > kPoolHeaderSize);

// The name of a file until it is whole: the n-th such name, n >= 1. If a file was left behind under such a name and its
// content says that it belongs to the same pool, the next file takes its place; otherwise the next name is taken.
inline constexpr int kTemporaryNames = 100;
inline std::string TemporaryName(const std::string& path, int n) {
  CHECK(n >= 1 && n <= kTemporaryNames);
  return path + ".tmp" + (n == 1 ? "" : "." + std::to_string(n));
}

// A temporary name of path that is free, for a new file of the pool with this uuid. A file that an earlier attempt left
// under the name is removed.
Status FreeTemporaryName(const std::string& path, const uint8_t* uuid, std::string* name);

// Removes the file of a region, or makes its device empty. The mapping stays usable.
void Discard(const Region& region);

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_POOL_NAMES_H_
