// Asks for memory ahead of its use, so that misses of the caches overlap.

#ifndef MIODB_SRC_UTIL_PREFETCH_H_
#define MIODB_SRC_UTIL_PREFETCH_H_

#include <cstddef>
#include <cstdint>

namespace miodb {

// So much of a record is asked for before it is looked at. The processor's own prefetchers see the rest coming.
inline constexpr size_t kMostPrefetchedBytes = 1024;

// Every line that [p, p + bytes) touches. The memory need not be readable: what cannot be fetched is not.
inline void PrefetchLines(const void* p, size_t bytes) {
  constexpr uintptr_t kLine = 64;
  const uintptr_t end = reinterpret_cast<uintptr_t>(p) + bytes;
  for (uintptr_t line = reinterpret_cast<uintptr_t>(p) / kLine * kLine; line < end; line += kLine) {
    __builtin_prefetch(reinterpret_cast<const void*>(line));
  }
}

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_PREFETCH_H_
