// The figures of a pool's free space, and their invariants. A region that was added to the set counts from the moment
// on at which its space is known here.

#include <algorithm>
#include <new>

#include "src/nvm/space/pool_space.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// With less a file system counts as full: what is asked of it is a chunk of the log at least.
constexpr uint64_t kLeastGrowth = uint64_t{64} << 10;

}  // namespace

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

// Capacity may be below the space in use, if a limit was lowered.
PoolRoom PoolSpace::Room() const {
  MutexLock lock(&mutex_);
  const uint64_t all = Capacity();
  return {all, all - std::min(all, UsedBytes())};
}

// Regions without a limit on one file system each count all that it had, so a policy sees no difference between them
// but what they hold. Their capacities may add up to more than Capacity, which also leaves out holes.
std::vector<PlacementRegion> PoolSpace::Figures() const {
  std::vector<PlacementRegion> figures;
  MutexLock lock(&mutex_);
  CHECK_LE(count_, regions_.count());
  for (int i = 0; i < count_; i++) {
    const Part& part = parts_[i];
    const uint64_t room = room_to_grow_in_[i].load(std::memory_order_relaxed);  // relaxed: a hint
    const uint64_t capacity = part.limit > 0 ? part.limit : part.total + room;
    figures.push_back({capacity, capacity - std::min(capacity, UsedIn(i)), regions_.at(i).region->nodes().node});
  }
  return figures;
}

// For the message of NoSpace: a pool may be full by its limit, its file system, its nodes, or its addresses, and the
// remedy is another one each time. A limit counts in full among the figures, so where a file does not get as far the
// pool is not full.
std::string PoolSpace::DescribeFull() const {
  std::string text = std::to_string(used()) + " of " + std::to_string(capacity()) + " bytes in use";
  uint64_t held = 0;
  for (int i = 0; i < regions_.count(); i++) held += held_in(i);
  if (held > 0) text += ", " + std::to_string(held) + " of these for readers in other processes";
  bool may_grow[kMaxRegions] = {};
  {
    MutexLock lock(&mutex_);
    CHECK_LE(count_, regions_.count());
    for (int i = 0; i < count_; i++) may_grow[i] = parts_[i].total < EndOf(i);
  }
  bool cannot_grow = false;
  for (int i = 0; i < regions_.count(); i++) {
    const Region& region = *regions_.at(i).region;
    const std::string shortage = region.DescribeShortage();
    if (!shortage.empty()) text += "; " + shortage;
    const uint64_t left = may_grow[i] ? region.FileSystemAvailable() : UINT64_MAX;
    if (left < kLeastGrowth) {
      text += "; " + region.path() + ": its file system has " + std::to_string(left) + " bytes left";
    }
    cannot_grow = cannot_grow || left < kLeastGrowth || (may_grow[i] && !shortage.empty());
  }
  return (cannot_grow ? "the pool cannot grow: " : "the pool is full: ") + text;
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
