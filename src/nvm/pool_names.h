// What making a pool and adding a region to one have in common.

#ifndef MIODB_SRC_NVM_POOL_NAMES_H_
#define MIODB_SRC_NVM_POOL_NAMES_H_

#include <cstdint>
#include <string>

namespace miodb {

// A new file starts with this much or its limit, whichever is less.
inline constexpr uint64_t kInitialRegionSize = uint64_t{1} << 20;

// What a file is called until it is whole. One that is left behind is removed by whoever makes the next.
inline std::string TemporaryName(const std::string& path) { return path + ".tmp"; }

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_NAMES_H_
