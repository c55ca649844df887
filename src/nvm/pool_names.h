// What making a pool and adding a region to one have in common.

#ifndef MIODB_SRC_NVM_POOL_NAMES_H_
#define MIODB_SRC_NVM_POOL_NAMES_H_

#include <cstdint>
#include <string>

namespace miodb {

// A new file starts with this much or its limit, whichever is less.
inline constexpr uint64_t kInitialRegionSize = uint64_t{256} << 10;

// What a file is called until it is whole: the n-th such name, n >= 1. A file that is left behind under one is removed
// by whoever makes the next, if it says itself that it is one of the same pool; otherwise the next name is taken.
inline constexpr int kTemporaryNames = 100;
inline std::string TemporaryName(const std::string& path, int n) {
  return path + ".tmp" + (n == 1 ? "" : "." + std::to_string(n));
}

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_NAMES_H_
