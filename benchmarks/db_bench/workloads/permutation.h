// A pseudo-random order of 0 .. size-1 that takes no memory: the number at a place is computed.
//
// A Feistel network of four rounds is a permutation of the numbers of an even count of bits; a number that falls
// outside of the range goes through it again until it is inside, which takes less than four rounds on average.
//
// Threads: any; read-only after construction.

#ifndef MIODB_BENCHMARKS_DB_BENCH_WORKLOADS_PERMUTATION_H_
#define MIODB_BENCHMARKS_DB_BENCH_WORKLOADS_PERMUTATION_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "benchmarks/common/draw/random.h"

namespace miodb::bench {

class Permutation {
 public:
  // REQUIRES: size > 0.
  Permutation(uint64_t size, uint64_t seed)
      : size_(size), half_bits_(std::max(1, (static_cast<int>(std::bit_width(size - 1)) + 1) / 2)) {
    for (uint64_t& key : keys_) key = SplitMix(&seed);
  }

  // REQUIRES: place < size.
  uint64_t At(uint64_t place) const {
    do {
      place = Shuffle(place);
    } while (place >= size_);
    return place;
  }

 private:
  uint64_t Shuffle(uint64_t number) const {
    const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
    uint64_t left = number >> half_bits_;
    uint64_t right = number & mask;
    for (uint64_t key : keys_) {
      uint64_t state = right ^ key;
      const uint64_t mixed = left ^ (SplitMix(&state) & mask);
      left = right;
      right = mixed;
    }
    return left << half_bits_ | right;
  }

  uint64_t size_;
  int half_bits_;
  std::array<uint64_t, 4> keys_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_WORKLOADS_PERMUTATION_H_
