// The pages of memory of the machines that this runs on.

#ifndef MIODB_SRC_UTIL_FILES_PAGE_H_
#define MIODB_SRC_UTIL_FILES_PAGE_H_

#include <cstdint>

namespace miodb {

inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_FILES_PAGE_H_
