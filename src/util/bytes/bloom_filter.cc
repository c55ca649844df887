#include "src/util/bytes/bloom_filter.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "src/util/check/check.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace miodb {

namespace {

// Memory of the heap may have been used before, so that zeroing it takes all its pages. Larger filters are mapped.
constexpr uint64_t kLeastMapped = 128 * 1024;

}  // namespace

// The memory goes back the way it came. A filter is freed by the table or the memtable that owns it, when nobody can
// ask it any more.
void BloomFilter::Free::operator()(void* p) const {
  if (mapped_bytes > 0) {
    munmap(p, mapped_bytes);
  } else {
    free(p);
  }
}

// A filter that may stay nearly empty is mapped, so that its pages cost nothing until a key sets a bit in them; one
// that is about to be filled comes from the heap and is cleared here, in a background thread, where a memtable would
// otherwise take page faults in puts. A line more than the filter uses leaves room to align the first line.
BloomFilter::BloomFilter(uint64_t keys, int bits_per_key, Pages pages)
    : line_count_(
          std::max<uint64_t>(1, (keys * static_cast<uint64_t>(bits_per_key) + kLineBytes * 8 - 1) / (kLineBytes * 8))),
      probes_(std::clamp(bits_per_key * 69 / 100, 1, kMostProbes)) {  // ln 2 bits set per key are best
  CHECK(bits_per_key >= 1 && bits_per_key <= 32);
  CHECK_LE(keys, UINT64_MAX / 64);           // so that the number of bits does not wrap
  CHECK_LE(line_count_, uint64_t{1} << 32);  // hashes tell so many apart
  static_assert(sizeof(Word) == sizeof(uint64_t) && Word::is_always_lock_free);
  const uint64_t bytes = (line_count_ + 1) * kLineBytes;
  if (pages == Pages::kAsUsed && bytes >= kLeastMapped) {
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    memory_ = std::unique_ptr<void, Free>(mapped, Free(bytes));
    lines_ = static_cast<Word*>(mapped);
    return;
  }
  memory_.reset(malloc(bytes));
  if (memory_ == nullptr) throw std::bad_alloc();
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory_.get());
  lines_ = reinterpret_cast<Word*>((begin + kLineBytes - 1) / kLineBytes * kLineBytes);
  CHECK_LE(reinterpret_cast<uintptr_t>(lines_) + line_count_ * kLineBytes, begin + bytes);
  memset(static_cast<void*>(lines_), 0, line_count_ * kLineBytes);  // zeros are a word's empty state
}

// Kernels before 5.14 cannot do it; there the pages come as they are used.
void BloomFilter::Populate() const {
  constexpr uintptr_t page = 4096;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(lines_) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(lines_) + line_count_ * kLineBytes;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
}

}  // namespace miodb
