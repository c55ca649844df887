#include "src/nvm/extent_allocator.h"

#include <algorithm>
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

void ExtentAllocator::Resize(OffsetMap::iterator it, uint64_t offset, uint64_t size) {
  auto by_size = by_size_.extract({it->second, it->first});
  by_size.value() = {size, offset};
  by_size_.insert(std::move(by_size));
  free_bytes_ += size;
  free_bytes_ -= it->second;
  auto by_offset = by_offset_.extract(it);
  by_offset.key() = offset;
  by_offset.mapped() = size;
  by_offset_.insert(std::move(by_offset));
}

void ExtentAllocator::Free(uint64_t offset, uint64_t size) {
  CHECK_GT(size, 0u);
  const auto next = by_offset_.lower_bound(offset);
  const auto prev = next == by_offset_.begin() ? by_offset_.end() : std::prev(next);
  CHECK(next == by_offset_.end() || offset + size <= next->first);
  CHECK(prev == by_offset_.end() || prev->first + prev->second <= offset);
  const bool joins_next = next != by_offset_.end() && offset + size == next->first;
  const bool joins_prev = prev != by_offset_.end() && prev->first + prev->second == offset;
  if (joins_prev) {
    size += prev->second;
    if (joins_next) {
      size += next->second;
      Erase(next);
    }
    Resize(prev, prev->first, size);
  } else if (joins_next) {
    Resize(next, offset, size + next->second);
  } else {
    Insert(offset, size);
  }
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
  const uint64_t end = offset + size;
  if (offset > run_begin) {
    if (end < run_end) Insert(end, run_end - end);
    Resize(it, run_begin, offset - run_begin);
  } else if (end < run_end) {
    Resize(it, end, run_end - end);
  } else {
    Erase(it);
  }
  return true;
}

uint64_t ExtentAllocator::UsedEnd(uint64_t limit) const {
  if (by_offset_.empty()) return limit;
  const auto& last = *by_offset_.rbegin();
  return last.first + last.second == limit ? last.first : limit;
}

bool ExtentAllocator::LastBelow(uint64_t limit, Run* run) const {
  const auto it = by_offset_.lower_bound(limit);
  if (it == by_offset_.begin()) return false;
  const auto& [offset, size] = *std::prev(it);
  *run = {offset, std::min(offset + size, limit) - offset};
  return true;
}

bool ExtentAllocator::FirstIn(uint64_t offset, uint64_t size, Run* run) const {
  auto it = by_offset_.upper_bound(offset);
  if (it != by_offset_.begin() && std::prev(it)->first + std::prev(it)->second > offset) --it;
  if (it == by_offset_.end() || it->first >= offset + size) return false;
  const uint64_t begin = std::max(it->first, offset);
  *run = {begin, std::min(it->first + it->second, offset + size) - begin};
  return true;
}

ExtentAllocator::Run ExtentAllocator::RunOf(uint64_t offset) const {
  const auto it = std::prev(by_offset_.upper_bound(offset));
  return {it->first, it->second};
}

}  // namespace miodb
