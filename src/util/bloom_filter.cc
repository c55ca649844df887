#include "src/util/bloom_filter.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace miodb {

BloomFilter::BloomFilter(uint64_t keys, int bits_per_key)
    : line_count_(
          std::max<uint64_t>(1, (keys * static_cast<uint64_t>(bits_per_key) + kLineBytes * 8 - 1) / (kLineBytes * 8))),
      probes_(std::clamp(bits_per_key * 69 / 100, 1, 7)) {  // ln 2 bits set per key are best; 7 x 9 bits fit a product
  void* const memory = aligned_alloc(kLineBytes, line_count_ * kLineBytes);
  if (memory == nullptr) throw std::bad_alloc();
  static_assert(sizeof(Word) == sizeof(uint64_t) && Word::is_always_lock_free);
  memset(memory, 0, line_count_ * kLineBytes);  // zeros are a word's empty state
  lines_.reset(static_cast<Word*>(memory));
}

}  // namespace miodb
