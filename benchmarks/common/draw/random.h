// Random numbers of the workloads: fast, and equal on every machine for equal seeds.
//
// Threads: each thread owns its generator.

#ifndef MIODB_BENCHMARKS_COMMON_DRAW_RANDOM_H_
#define MIODB_BENCHMARKS_COMMON_DRAW_RANDOM_H_

#include <cstdint>

namespace miodb::bench {

// A step of the SplitMix64 sequence (Steele, Lea, Flood 2014): spreads any two different states far apart.
inline uint64_t SplitMix(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The seed of one thread in one benchmark. "stream" differs for every benchmark of a run, so that a read phase does not
// replay the keys of the write phase before it.
inline uint64_t MixSeed(uint64_t seed, uint64_t stream, uint64_t thread) {
  uint64_t state = seed;
  state = SplitMix(&state) ^ stream;
  state = SplitMix(&state) ^ thread;
  return SplitMix(&state);
}

// xoshiro256** 1.0 (Blackman, Vigna 2018), period 2^256 - 1.
class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) word = SplitMix(&seed);
  }

  uint64_t Next() {
    const uint64_t result = Rotate(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = Rotate(state_[3], 45);
    return result;
  }

  // Uniform in [0, 1), in steps of 2^-53.
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

  // Uniform in [0, n), n > 0. The bias is below n / 2^64.
  uint64_t Uniform(uint64_t n) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * n) >> 64);  // NOLINT
  }

 private:
  static uint64_t Rotate(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

  uint64_t state_[4];
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_DRAW_RANDOM_H_
