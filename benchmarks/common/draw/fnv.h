// FNV-1a with 64 bits: the hash that the YCSB benchmark defines its keys by, and that seeds and test values are made
// from.
//
// Threads: any.

#ifndef MIODB_BENCHMARKS_COMMON_DRAW_FNV_H_
#define MIODB_BENCHMARKS_COMMON_DRAW_FNV_H_

#include <cstdint>
#include <string_view>

namespace miodb::bench {

// Of no bytes.
inline constexpr uint64_t kFnvOfNothing = 0xcbf29ce484222325u;

// The hash of the bytes behind "before", followed by this byte.
inline uint64_t FnvStep(uint64_t before, unsigned char byte) { return (before ^ byte) * 0x100000001b3u; }

// The same with these bytes.
inline uint64_t Fnv(std::string_view bytes, uint64_t before = kFnvOfNothing) {
  for (const char c : bytes) before = FnvStep(before, static_cast<unsigned char>(c));
  return before;
}

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_DRAW_FNV_H_
