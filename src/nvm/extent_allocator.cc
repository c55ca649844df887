#include "src/nvm/extent_allocator.h"

#include <iterator>
#include <new>

#include "src/util/check.h"

namespace miodb {

void ExtentAllocator::Insert(uint64_t offset, uint64_t size) {
  const auto it = by_offset_.emplace(offset, size).first;
  try {
    by_size_.emplace(size, offset);
  } catch (const std::exception&) {
    by_offset_.erase(it);  // both maps or neither
    throw;
  }
  free_bytes_ += size;
}

void ExtentAllocator::Erase(OffsetMap::iterator it) {
  free_bytes_ -= it->second;
  by_size_.erase({it->second, it->first});
  by_offset_.erase(it);
}

void ExtentAllocator::Free(uint64_t offset, uint64_t size) {
  CHECK_GT(size, 0u);
  auto next = by_offset_.lower_bound(offset);
  if (next != by_offset_.end()) {
    CHECK_LE(offset + size, next->first);
    if (offset + size == next->first) {
      size += next->second;
      auto joined = next++;
      Erase(joined);
    }
  }
  if (next != by_offset_.begin()) {
    auto prev = std::prev(next);
    CHECK_LE(prev->first + prev->second, offset);
    if (prev->first + prev->second == offset) {
      offset = prev->first;
      size += prev->second;
      Erase(prev);
    }
  }
  Insert(offset, size);
}

bool ExtentAllocator::Allocate(uint64_t size, uint64_t* offset) {
  auto fit = by_size_.lower_bound({size, 0});
  if (fit == by_size_.end()) return false;
  *offset = fit->second;
  CHECK(Take(fit->second, size));
  return true;
}

bool ExtentAllocator::Take(uint64_t offset, uint64_t size) {
  auto it = by_offset_.upper_bound(offset);
  if (it == by_offset_.begin()) return false;
  --it;
  const uint64_t run_begin = it->first;
  const uint64_t run_end = it->first + it->second;
  if (size > run_end - run_begin || offset > run_end - size) return false;
  Erase(it);
  if (offset > run_begin) Insert(run_begin, offset - run_begin);
  if (offset + size < run_end) Insert(offset + size, run_end - offset - size);
  return true;
}

uint64_t ExtentAllocator::UsedEnd(uint64_t limit) const {
  if (by_offset_.empty()) return limit;
  const auto& last = *by_offset_.rbegin();
  return last.first + last.second == limit ? last.first : limit;
}

}  // namespace miodb
