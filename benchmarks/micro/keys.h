// Keys of the micro-benchmarks: 16 decimal digits, as db_bench makes them.

#ifndef MIODB_BENCHMARKS_MICRO_KEYS_H_
#define MIODB_BENCHMARKS_MICRO_KEYS_H_

#include <cstddef>
#include <cstdint>

#include "miodb/slice.h"

namespace miodb::micro {

inline constexpr size_t kKeyBytes = 16;

// Writes the key of this number to buffer and returns it.
inline Slice MakeKey(uint64_t number, char* buffer) {
  for (size_t i = kKeyBytes; i-- > 0; number /= 10) buffer[i] = static_cast<char>('0' + number % 10);
  return Slice(buffer, kKeyBytes);
}

// The place of i in an order that jumps about. Each of [0, count) comes once. REQUIRES: count is a power of two.
inline uint64_t Shuffled(uint64_t i, uint64_t count) {
  // An odd factor permutes; folding the high half in, which is a permutation too, hides the pattern of the low bits.
  const uint64_t mask = count - 1;
  uint64_t x = i * 0x9e3779b97f4a7c15u & mask;
  x ^= x >> __builtin_popcountll(mask) / 2;
  return x * 0xbf58476d1ce4e5b9u & mask;
}

}  // namespace miodb::micro

#endif  // MIODB_BENCHMARKS_MICRO_KEYS_H_
