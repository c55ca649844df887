// A small, fast pseudo-random generator: xoshiro256**, of the public domain, seeded through splitmix64.
//
// One seed gives one sequence, on every machine. Period 2^256 - 1. Not for secrets. One thread at a time.

#ifndef MIODB_SRC_UTIL_RANDOM_H_
#define MIODB_SRC_UTIL_RANDOM_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "src/util/check.h"

namespace miodb {

class Random {
 public:
  // Any seed is good, 0 too; seeds close to each other give unrelated sequences.
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      uint64_t x = seed;
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
      x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
      word = x ^ (x >> 31);
    }
  }

  // All 64-bit values are equally likely.
  uint64_t Next64() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // A number in [0, n). The values' chances differ by at most n / 2^64. REQUIRES: n > 0.
  uint64_t Uniform(uint64_t n) {
    DCHECK_GT(n, 0u);
    return static_cast<uint64_t>((static_cast<Wide>(Next64()) * n) >> 64);
  }

  // True once in n times on average. REQUIRES: n > 0.
  bool OneIn(uint64_t n) { return Uniform(n) == 0; }

  // A number in [0, 2^max_log), small ones more often: picks a number of bits in [0, max_log], then that many bits.
  // REQUIRES: max_log < 64.
  uint64_t Skewed(int max_log) {
    DCHECK(max_log >= 0 && max_log < 64);
    return Uniform(uint64_t{1} << Uniform(static_cast<uint64_t>(max_log) + 1));
  }

  // n bytes of any value.
  std::string Bytes(size_t n) {
    std::string result(n, '\0');
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
      const uint64_t word = Next64();
      std::memcpy(&result[i], &word, n - i < sizeof(word) ? n - i : sizeof(word));
    }
    return result;
  }

 private:
  __extension__ typedef unsigned __int128 Wide;

  uint64_t state_[4];
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_RANDOM_H_
