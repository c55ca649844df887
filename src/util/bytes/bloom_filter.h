// A blocked Bloom filter: says of most absent keys that they are absent, and never so of a present one.
//
// All bits of a key lie in one 64-byte line, so a probe costs one cache miss. Keys come as 32-bit hashes. At 10 bits
// per key about 1.2 % of absent keys pass.
//
// Threads: one adds at a time (Add), or any number do (AddBeside); any may ask meanwhile. A thread sees a key in the
// filter after an acquire of anything that the adder released after adding the key. Source: Putze, Sanders, Singler,
// "Cache-, Hash- and Space-Efficient Bloom Filters", 2007.

#ifndef MIODB_SRC_UTIL_BYTES_BLOOM_FILTER_H_
#define MIODB_SRC_UTIL_BYTES_BLOOM_FILTER_H_

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "src/util/check/check.h"

namespace miodb {

class BloomFilter {
 public:
  // When its memory is taken: at once, or page by page as keys are added, which suits one that may stay nearly empty.
  enum class Pages { kAtOnce, kAsUsed };

  // Room for this many keys; 1 <= bits_per_key <= 32.
  BloomFilter(uint64_t keys, int bits_per_key, Pages pages = Pages::kAtOnce);

  // Takes all memory that it has not taken yet. By any thread, whatever others do.
  void Populate() const;

  void Add(uint32_t hash) {
    DCHECK(probes_ >= 1 && probes_ <= kMostProbes);
    Word* const line = Line(hash);
    uint64_t bits = hash * kSpread;
    for (int i = 0; i < probes_; i++, bits >>= 9) {
      Word& word = line[bits >> 6 & 7];
      // relaxed, and in two steps: there is one adder, and it releases the key later by other means.
      word.store(word.load(std::memory_order_relaxed) | uint64_t{1} << (bits & 63), std::memory_order_relaxed);
    }
  }

  // Add, by any of several threads of which none calls Add meanwhile.
  void AddBeside(uint32_t hash) {
    DCHECK(probes_ >= 1 && probes_ <= kMostProbes);
    Word* const line = Line(hash);
    uint64_t bits = hash * kSpread;
    for (int i = 0; i < probes_; i++, bits >>= 9) {
      Word& word = line[bits >> 6 & 7];
      const uint64_t bit = uint64_t{1} << (bits & 63);
      // relaxed, both: each adder releases its key later by other means, and a bit is never taken away.
      if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
    }
  }

  bool MayContain(uint32_t hash) const {
    DCHECK(probes_ >= 1 && probes_ <= kMostProbes);
    const Word* const line = Line(hash);
    uint64_t bits = hash * kSpread;
    for (int i = 0; i < probes_; i++, bits >>= 9) {
      // relaxed: what must be seen was acquired before.
      if ((line[bits >> 6 & 7].load(std::memory_order_relaxed) >> (bits & 63) & 1) == 0) return false;
    }
    return true;
  }

  // The line that MayContain and Add will look at; asks for it.
  const void* LineOf(uint32_t hash) const { return Line(hash); }
  void Prefetch(uint32_t hash) const { __builtin_prefetch(Line(hash)); }

  uint64_t memory_bytes() const { return line_count_ * kLineBytes; }

 private:
  using Word = std::atomic<uint64_t>;
  static constexpr uint64_t kLineBytes = 64;
  static constexpr int kMostProbes = 7;
  static_assert(kMostProbes * 9 < 64 &&
                kLineBytes * 8 == 1 << 9);                    // each takes 9 bits, a place in a line, of a product
  static constexpr uint64_t kSpread = 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio, odd

  Word* Line(uint32_t hash) const {
    DCHECK_LT(hash * line_count_ >> 32, line_count_);
    return lines_ + (hash * line_count_ >> 32) * (kLineBytes / sizeof(Word));
  }

  struct Free {
    Free() : mapped_bytes(0) {}
    explicit Free(size_t bytes) : mapped_bytes(bytes) {}
    void operator()(void* p) const;

    size_t mapped_bytes;  // 0: of the heap
  };

  uint64_t line_count_;
  int probes_;
  std::unique_ptr<void, Free> memory_;  // lines_ and what aligns them
  Word* lines_;
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_BYTES_BLOOM_FILTER_H_
