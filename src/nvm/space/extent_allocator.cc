// Two maps of the same runs, one by offset and one by size: a best fit and both neighbours of a run are found in
// logarithmic time. Nodes are moved between places of a map rather than made anew wherever the number of runs stays, so
// that most changes need no memory and cannot fail.

#include "src/nvm/space/extent_allocator.h"

#include <algorithm>
#include <iterator>
#include <new>

#include "src/format/superblock.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// Whether the two numbers can be a run at all. A sum that wraps would lie before its own beginning.
bool InUnits(uint64_t offset, uint64_t size) {
  return size > 0 && size % kExtentUnit == 0 && offset % kExtentUnit == 0 && size <= UINT64_MAX - offset;
}

}  // namespace

// The only change that needs memory. If it finds none, both maps are as before.
void ExtentAllocator::Insert(uint64_t offset, uint64_t size) {
  CHECK(InUnits(offset, size));
  const auto [it, is_new] = by_offset_.emplace(offset, size);
  CHECK(is_new);
  try {
    CHECK(by_size_.emplace(size, offset).second);
  } catch (const std::exception&) {
    by_offset_.erase(it);  // both maps or neither
    throw;
  }
  free_bytes_ += size;
}

// By size and offset together, because several runs may have one size.
void ExtentAllocator::Erase(OffsetMap::iterator it) {
  CHECK_GE(free_bytes_, it->second);
  free_bytes_ -= it->second;
  CHECK_EQ(by_size_.erase({it->second, it->first}), 1u);
  by_offset_.erase(it);
}

// The nodes are taken out, changed and put back: keys of a map cannot be changed in place.
void ExtentAllocator::Resize(OffsetMap::iterator it, uint64_t offset, uint64_t size) {
  CHECK(InUnits(offset, size));
  auto by_size = by_size_.extract({it->second, it->first});
  CHECK(!by_size.empty());
  by_size.value() = {size, offset};
  CHECK(by_size_.insert(std::move(by_size)).inserted);
  CHECK_GE(free_bytes_, it->second);
  free_bytes_ += size;
  free_bytes_ -= it->second;
  auto by_offset = by_offset_.extract(it);
  by_offset.key() = offset;
  by_offset.mapped() = size;
  CHECK(by_offset_.insert(std::move(by_offset)).inserted);
}

// Only a run that touches neither neighbour is a new node. A range that is free already, even in part, is a bug of
// whoever frees it twice, and would give the same space to two owners: so that is checked in release builds as well.
void ExtentAllocator::Free(uint64_t offset, uint64_t size) {
  CHECK(InUnits(offset, size));
  // Finds the neighbours on both sides.
  const auto next = by_offset_.lower_bound(offset);
  const auto prev = next == by_offset_.begin() ? by_offset_.end() : std::prev(next);
  CHECK(next == by_offset_.end() || offset + size <= next->first);
  CHECK(prev == by_offset_.end() || prev->first + prev->second <= offset);
  const bool joins_next = next != by_offset_.end() && offset + size == next->first;
  const bool joins_prev = prev != by_offset_.end() && prev->first + prev->second == offset;
  // The node of a neighbour becomes that of the joined run, so a range that touches one needs no memory.
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
  DCHECK(RunOf(offset).offset <= offset);
}

// Pairs are ordered by size, then by offset, so the first that is not less is the best fit at the lowest address.
bool ExtentAllocator::Allocate(uint64_t size, uint64_t* offset) {
  CHECK_GT(size, 0u);
  auto fit = by_size_.lower_bound({size, 0});
  if (fit == by_size_.end()) return false;
  *offset = fit->second;
  CHECK(Take(fit->second, size));
  return true;
}

// A range out of the middle leaves two runs. The one behind it is inserted first: if there is no memory for it, nothing
// was changed.
bool ExtentAllocator::Take(uint64_t offset, uint64_t size) {
  CHECK_GT(size, 0u);
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

// Growth asks: what is free at the end of a file already is the beginning of the run that it makes.
uint64_t ExtentAllocator::UsedEnd(uint64_t limit) const {
  if (by_offset_.empty()) return limit;
  const auto& last = *by_offset_.rbegin();
  CHECK_LE(last.first + last.second, limit);
  return last.first + last.second == limit ? last.first : limit;
}

// Giving back asks, from the end of a file to its front.
bool ExtentAllocator::LastBelow(uint64_t limit, Run* run) const {
  const auto it = by_offset_.lower_bound(limit);
  if (it == by_offset_.begin()) return false;
  const auto& [offset, size] = *std::prev(it);
  *run = {offset, std::min(offset + size, limit) - offset};
  CHECK(run->size > 0 && run->end() <= limit);
  return true;
}

// The run before the first that begins behind the offset may reach over it.
bool ExtentAllocator::FirstIn(uint64_t offset, uint64_t size, Run* run) const {
  CHECK_LE(size, UINT64_MAX - offset);
  auto it = by_offset_.upper_bound(offset);
  if (it != by_offset_.begin() && std::prev(it)->first + std::prev(it)->second > offset) --it;
  if (it == by_offset_.end() || it->first >= offset + size) return false;
  const uint64_t begin = std::max(it->first, offset);
  *run = {begin, std::min(it->first + it->second, offset + size) - begin};
  CHECK(run->size > 0 && run->offset >= offset && run->end() <= offset + size);
  return true;
}

// The whole run that has this hole, which an allocation met: all of the run is put aside.
ExtentAllocator::Run ExtentAllocator::RunOf(uint64_t offset) const {
  const auto behind = by_offset_.upper_bound(offset);
  CHECK(behind != by_offset_.begin());
  const Run run = {std::prev(behind)->first, std::prev(behind)->second};
  CHECK_LT(offset, run.end());
  return run;
}

// For checks: the maps of what is free and of what is taken have nothing in common.
bool ExtentAllocator::Overlaps(const ExtentAllocator& other) const {
  CHECK(&other != this);
  Run shared;
  return std::any_of(by_offset_.begin(), by_offset_.end(),
                     [&](const auto& run) { return other.FirstIn(run.first, run.second, &shared); });
}

// Costs a walk through all runs: for debug builds, simulators, and the moment at which a region is taken in.
void ExtentAllocator::Check(uint64_t begin, uint64_t end) const {
  CHECK_LE(begin, end);
  CHECK_EQ(by_offset_.size(), by_size_.size());
  uint64_t sum = 0, last = 0;
  for (const auto& [offset, size] : by_offset_) {
    CHECK(InUnits(offset, size));
    CHECK(sum == 0 || offset > last);  // what touches is one run
    CHECK(offset >= begin && offset + size <= end);
    CHECK_EQ(by_size_.count({size, offset}), 1u);
    last = offset + size;
    sum += size;
  }
  CHECK_EQ(sum, free_bytes_);
}

}  // namespace miodb
