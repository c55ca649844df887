// The figures of a pool's free space, and their invariants. A region that was added to the set counts from the moment
// on at which its space is known here.

#include <new>

#include "src/nvm/pool_space.h"
#include "src/util/check.h"

namespace miodb {

uint64_t PoolSpace::used() const {
  MutexLock lock(&mutex_);
  return UsedBytes();
}

uint64_t PoolSpace::used_in(int i) const {
  CHECK(i >= 0 && i < kMaxRegions);
  MutexLock lock(&mutex_);
  return i < count_ ? UsedIn(i) : 0;
}

uint64_t PoolSpace::held_in(int i) const {
  CHECK(i >= 0 && i < kMaxRegions);
  MutexLock lock(&mutex_);
  return i < count_ ? parts_[i].held : 0;
}

uint64_t PoolSpace::limit_of(int i) const {
  CHECK(i >= 0 && i < kMaxRegions);
  MutexLock lock(&mutex_);
  return i < count_ ? parts_[i].limit : 0;
}

uint64_t PoolSpace::capacity() const {
  MutexLock lock(&mutex_);
  return Capacity();
}

// The two figures are of one moment, under one lock. Capacity may be below the space in use, if a limit was lowered.
uint64_t PoolSpace::free_bytes() const {
  MutexLock lock(&mutex_);
  const uint64_t used = UsedBytes(), all = Capacity();
  return used < all ? all - used : 0;
}

// For the message of NoSpace: a pool may be full by its limit, its file system, its nodes, or its addresses, and the
// remedy is another one each time.
std::string PoolSpace::DescribeFull() const {
  std::string text =
      "the pool is full: " + std::to_string(used()) + " of " + std::to_string(capacity()) + " bytes in use";
  uint64_t held = 0;
  for (int i = 0; i < regions_.count(); i++) held += held_in(i);
  if (held > 0) text += ", " + std::to_string(held) + " of these for readers in other processes";
  for (int i = 0; i < regions_.count(); i++) {
    const std::string shortage = regions_.at(i).region->DescribeShortage();
    if (!shortage.empty()) text += "; " + shortage;
  }
  return text;
}

// Notes are for Check alone: a second map, of what is taken, which a bug in the free map does not change as well.
// Without memory for them there are none any more.
void PoolSpace::NoteTaken(PmRef offset, uint64_t size) {
  if (!notes_) return;
  try {
    parts_[regions_.IndexOf(offset)].taken.Free(offset, size);
  } catch (const std::exception&) {
    notes_ = false;
  }
}

void PoolSpace::NoteFree(PmRef offset, uint64_t size) {
  if (!notes_) return;
  try {
    CHECK(parts_[regions_.IndexOf(offset)].taken.Take(offset, size));
  } catch (const std::exception&) {
    notes_ = false;
  }
}

// Run after every change in debug builds and simulators (kChecksWhole). Bytes put aside or away are free and in neither
// map, so what is used is the total less all that is free.
void PoolSpace::Check() const {
  MutexLock lock(&mutex_);
  CHECK_LE(count_, regions_.count());
  for (int i = 0; i < count_; i++) {
    const Part& part = parts_[i];
    const RegionSet::Member& m = regions_.at(i);
    const PmRef begin = m.base + kPoolHeaderSize, end = m.base + part.total;
    CHECK(part.total % kExtentUnit == 0 && part.total <= m.region->size());
    CHECK(part.away % kExtentUnit == 0 && part.aside % kExtentUnit == 0);
    part.free.Check(begin, end);
    part.holes.Check(begin, end);
    CHECK_GE(UsedIn(i), kPoolHeaderSize);
    CHECK_LE(part.held, UsedIn(i));
    if (!notes_) continue;
    part.taken.Check(begin, end);
    CHECK(!part.taken.Overlaps(part.free));
    CHECK_EQ(kPoolHeaderSize + part.taken.free_bytes(), UsedIn(i));
  }
}

}  // namespace miodb
