// Hashes. The two functions give the same value on every machine and in every version, because stored formats depend on
// them. They do not resist an attacker who chooses the input and knows the seed. An attacker who neither knows the seed
// nor sees a result has nothing to go by; so checksums in pools have a secret in their seeds (src/format/superblock.h).
//
// This is the only file that includes xxhash.

#ifndef MIODB_SRC_UTIL_BYTES_HASH_H_
#define MIODB_SRC_UTIL_BYTES_HASH_H_

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>

#include "src/util/check/check.h"

namespace miodb {

// XXH3 with 64 bits of the n bytes at p. Different seeds give independent functions.
inline uint64_t Hash64(const void* p, size_t n, uint64_t seed = 0) { return XXH3_64bits_withSeed(p, n, seed); }

// Mixes two words into one: every bit of either changes each bit of the result with a chance of about one half.
// Mix64(a, b) and Mix64(b, a) differ. For a fixed, it is one-to-one in b, and the other way round.
// The mixer is the finaliser of splitmix64, a public-domain generator, applied to each word in turn.
inline uint64_t Mix64(uint64_t a, uint64_t b) {
  auto finalise = [](uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    x ^= x >> 31;
    return x;
  };
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;  // 2^64 over the golden ratio; keeps 0 from mapping to 0
  return finalise(finalise(a + kGolden) + b + kGolden);
}

// The a for which Mix64(a, b) is this. For finding out where something came from, not for anything quick.
inline uint64_t Unmix64(uint64_t mixed, uint64_t b) {
  auto undo = [](uint64_t x) {
    x ^= x >> 31 ^ x >> 62;
    x *= 0x319642b2d24d8ec3u;  // inverse modulo 2^64 of the second factor above
    x ^= x >> 27 ^ x >> 54;
    x *= 0x96de1b173f119089u;  // of the first
    x ^= x >> 30 ^ x >> 60;
    return x;
  };
  static_assert(0xbf58476d1ce4e5b9u * 0x96de1b173f119089u == 1 && 0x94d049bb133111ebu * 0x319642b2d24d8ec3u == 1);
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;
  const uint64_t a = undo(undo(mixed) - b - kGolden) - kGolden;
  DCHECK_EQ(Mix64(a, b), mixed);
  return a;
}

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_BYTES_HASH_H_
