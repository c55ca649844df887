// The filter of a PMTable: says of most absent keys that they are absent, and never so of a present one.
//
// A blocked Bloom filter in DRAM: all bits of a key lie in one 64-byte line, so a probe costs one cache miss. Built
// from 32-bit key hashes that the table's leaves carry, so no key is read for it. At 10 bits per key about 1.2 % of
// absent keys pass.
//
// Threads: immutable once built.
// Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007.

#ifndef MIODB_PMTABLE_FILTER_H_
#define MIODB_PMTABLE_FILTER_H_

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace miodb {

class Filter {
 public:
  // Room for this many keys; 1 <= bits_per_key <= 32.
  Filter(uint64_t keys, int bits_per_key);

  void Add(uint32_t hash) {
    uint64_t* const line = Line(hash);
    uint64_t bits = hash * kSpread;
    for (int i = 0; i < probes_; i++, bits >>= 9) line[bits >> 6 & 7] |= uint64_t{1} << (bits & 63);
  }

  bool MayContain(uint32_t hash) const {
    const uint64_t* const line = Line(hash);
    uint64_t bits = hash * kSpread;
    for (int i = 0; i < probes_; i++, bits >>= 9) {
      if ((line[bits >> 6 & 7] >> (bits & 63) & 1) == 0) return false;
    }
    return true;
  }

  uint64_t memory_bytes() const { return line_count_ * kLineBytes; }

 private:
  static constexpr uint64_t kLineBytes = 64;
  static constexpr uint64_t kSpread = 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio, odd

  uint64_t* Line(uint32_t hash) const { return lines_.get() + (hash * line_count_ >> 32) * (kLineBytes / 8); }

  struct Free {
    void operator()(uint64_t* p) const { free(p); }
  };

  uint64_t line_count_;
  int probes_;
  std::unique_ptr<uint64_t[], Free> lines_;
};

}  // namespace miodb

#endif  // MIODB_PMTABLE_FILTER_H_
