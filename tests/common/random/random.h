// The random numbers of tests: those of the workloads (common/draw/random.h) and what tests draw besides. A seed
// gives the same sequence on every machine; any seed is good. Not for secrets. For a single thread at a time.

#ifndef MIODB_TESTS_COMMON_RANDOM_RANDOM_H_
#define MIODB_TESTS_COMMON_RANDOM_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "benchmarks/common/draw/random.h"

namespace miodb {

class Random : public bench::Random {
 public:
  using bench::Random::Random;

  // All 64-bit values are equally likely.
  uint64_t Next64() { return Next(); }

  // True once in n times on average. REQUIRES: n > 0.
  bool OneIn(uint64_t n) { return Uniform(n) == 0; }

  // A number in [0, 2^max_log), small ones more often: picks a number of bits in [0, max_log], then that many bits.
  // REQUIRES: max_log < 64.
  uint64_t Skewed(int max_log) { return Uniform(uint64_t{1} << Uniform(static_cast<uint64_t>(max_log) + 1)); }

  // n bytes of any value.
  std::string Bytes(size_t n) {
    std::string result(n, '\0');
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
      const uint64_t word = Next64();
      std::memcpy(&result[i], &word, n - i < sizeof(word) ? n - i : sizeof(word));
    }
    return result;
  }
};

}  // namespace miodb

#endif  // MIODB_TESTS_COMMON_RANDOM_RANDOM_H_
