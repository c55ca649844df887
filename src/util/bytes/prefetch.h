// Asks for memory ahead of its use, so that misses of the caches overlap.

#ifndef MIODB_SRC_UTIL_BYTES_PREFETCH_H_
#define MIODB_SRC_UTIL_BYTES_PREFETCH_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace miodb {

// So much of a record is asked for before it is looked at. The processor's own prefetchers see the rest coming.
inline constexpr size_t kMostPrefetchedBytes = 1024;

// Every line that [p, p + bytes) touches. The memory need not be readable: the processor ignores a prefetch that it
// cannot do. Inlined in any case: a compiler may take a function that only prefetches for one without effects, and
// leave its calls out.
[[gnu::always_inline]] inline void PrefetchLines(const void* p, size_t bytes) {
  constexpr uintptr_t kLine = 64;
  const uintptr_t end = reinterpret_cast<uintptr_t>(p) + bytes;
  for (uintptr_t line = reinterpret_cast<uintptr_t>(p) / kLine * kLine; line < end; line += kLine) {
    __builtin_prefetch(reinterpret_cast<const void*>(line));
  }
}

// Memory that is wanted, to be asked for together. A prefetch whose page the TLB does not know holds up what comes
// behind it until the page table was walked. Behind one another such prefetches share that time; with the work of a
// search between them each would take its own.
class PrefetchList {
 public:
  void Add(const void* p, size_t bytes) {
    if (count_ == kMost) Issue();
    wanted_[count_++] = {p, bytes};
  }

  // First a line of each, as the first one brings the page.
  void Issue() {
    for (size_t i = 0; i < count_; i++) __builtin_prefetch(wanted_[i].p);
    for (size_t i = 0; i < count_; i++) {
      if (wanted_[i].bytes > 1) PrefetchLines(wanted_[i].p, wanted_[i].bytes);
    }
    count_ = 0;
  }

 private:
  static constexpr size_t kMost = 64;

  struct Wanted {
    const void* p;
    size_t bytes;
  };

  std::array<Wanted, kMost> wanted_;
  size_t count_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_BYTES_PREFETCH_H_
