// Reads of the pool's free space, which Pool poisons for AddressSanitizer.

#ifndef MIODB_TESTS_COMMON_FREE_SPACE_H_
#define MIODB_TESTS_COMMON_FREE_SPACE_H_

#include <cstdint>

namespace miodb {

// The 8 bytes at an aligned address of the pool, free or in use.
__attribute__((no_sanitize("address"))) inline uint64_t WordAt(const char* at) {
  return *reinterpret_cast<const volatile uint64_t*>(at);
}

}  // namespace miodb

#endif  // MIODB_TESTS_COMMON_FREE_SPACE_H_
