#include <algorithm>

#include "src/nvm/space/pool_space.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

// Giving back: free space that nobody needed for a while loses its storage, a piece at a time.
//
//   1 A piece is marked as a hole, so that no hole is ever unknown, and taken out of the free map.
//   2 Its storage is punched out of the file, without a lock that anybody allocating needs.
//   3 The piece is free again. An allocation that takes it gives it storage first (PoolSpace::FillHoles).
//
// docs/decisions/0018-free-space-goes-back.md has the reasons. After a crash: free space, zero or not.

namespace miodb {

namespace {

// Storage is given back in pieces of this size at most, for whoever does it has other things to do in between, and at
// least: files of many small holes are slow.
constexpr uint64_t kMostGivenBack = uint64_t{16} << 20;
constexpr uint64_t kLeastGivenBack = uint64_t{64} << 10;
static_assert(kLeastGivenBack % kExtentUnit == 0 && kLeastGivenBack <= kMostGivenBack);

// This share of what is in use stays free with storage: merges come and go. The second one stays where nothing comes.
constexpr uint64_t kKeptShare = 4;
constexpr uint64_t kKeptAtRest = 32;

}  // namespace

// Free bytes that have storage: what a writer could use on a file system that is full.
uint64_t PoolSpace::StoredFree() const {
  uint64_t bytes = 0;
  for (int i = 0; i < count_; i++) {
    // Holes that are being filled are not in the free map any more.
    bytes += parts_[i].free.free_bytes() - std::min(parts_[i].free.free_bytes(), parts_[i].holes.free_bytes());
  }
  return bytes;
}

// Free storage that stays. Merges come and go, they never need more than what is in use once more, and on a full disk
// they have to go on.
uint64_t PoolSpace::Keep(uint64_t reserve, KeptFree kept) const {
  const uint64_t used = UsedBytes();
  if (kept == KeptFree::kAtRest) return std::min(used / kKeptAtRest, reserve);
  const uint64_t keep = std::max(used / kKeptShare, std::min(used, std::max(growth_ / 2, reserve)));
  CHECK_LE(keep, used);
  return keep;
}

// The last free space below *below that has storage, or the end of it. Has *below go down to it.
bool PoolSpace::LastStored(int i, uint64_t most, PmRef* below, ExtentAllocator::Run* run) const {
  const Part& part = parts_[i];
  const uint64_t unit = regions_.at(i).region->granularity();
  const PmRef base = regions_.at(i).base;
  CHECK(unit > 0 && unit % kExtentUnit == 0);
  ExtentAllocator::Run free, hole;
  for (PmRef end = *below; part.free.LastBelow(end, &free);) {
    end = free.end();
    // Past the holes at its end, and no further down than the next hole.
    while (part.holes.LastBelow(end, &hole) && hole.end() == end) end = hole.offset;
    if (end <= free.offset) continue;  // all of it is holes
    PmRef begin = free.offset;
    if (part.holes.LastBelow(end, &hole)) begin = std::max(begin, hole.end());
    const PmRef first = base + (begin - base + unit - 1) / unit * unit;
    const PmRef last = base + (end - base) / unit * unit;
    if (last >= first + std::max(kLeastGivenBack, unit)) {
      const uint64_t bytes = std::min(last - first, std::max(most / unit * unit, unit));
      *run = {last - bytes, bytes};
      CHECK(run->offset >= free.offset && run->end() <= free.end());
      CHECK((run->offset - base) % unit == 0 && run->size % unit == 0);
      *below = run->offset;
      return true;
    }
    end = begin;
  }
  *below = std::min(*below, base);
  return false;
}

// Makes a hole of about so many bytes, at the end of what was not looked at in this pass. Returns how many; 0 if there
// is nothing to give.
uint64_t PoolSpace::GiveBack(uint64_t most) {
  MutexLock give_back(&give_back_mutex_);
  for (int i = regions_.count() - 1; i >= 0; i--) {
    const RegionSet::Member& m = regions_.at(i);
    ExtentAllocator::Run run;
    {
      MutexLock lock(&mutex_);
      Part& part = parts_[i];
      if (i >= count_ || part.keeps_storage || !LastStored(i, most, &looked_at_, &run)) continue;
      part.holes.Free(run.offset, run.size);  // first, so that no hole is ever unknown
      CHECK(part.free.Take(run.offset, run.size));
      CHECK_EQ(part.away, 0u);
      part.away = run.size;
    }
    const Status s = NoThrow(path_, [&] { return m.region->Punch(run.offset - m.base, run.size); });
    MutexLock lock(&mutex_);
    CHECK_EQ(parts_[i].away, run.size);
    parts_[i].keeps_storage = s.IsNotSupportedError();
    parts_[i].away = 0;
    NoteTaken(run.offset, run.size);  // until it is in the map
    if (parts_[i].keeps_storage) CHECK(parts_[i].holes.Take(run.offset, run.size));
    parts_[i].free.Free(run.offset, run.size);
    NoteFree(run.offset, run.size);
    if (!s.ok()) continue;
    CHECK(run.size > 0 && regions_.IndexOf(run.offset) == i);
    growth_counters_.given_back.fetch_add(run.size, std::memory_order_relaxed);  // relaxed: a statistic
    return run.size;
  }
  return 0;
}

// Nobody needed the least of stored free space in a window of time. This least, less the reserve, is the surplus, and
// each call gives back a piece of it. Space that is taken meanwhile lowers the least (TryAllocate), and so the next
// surplus. A window without length is the moment of the call: what was taken before does not count.
bool PoolSpace::GiveBackIdle(uint64_t now_micros, uint64_t window_micros, uint64_t reserve, KeptFree kept) {
  uint64_t most, holes = 0, given = 0;
  bool scarce;
  {
    MutexLock lock(&mutex_);
    CHECK_GE(now_micros, window_began_);
    if (window_began_ == 0 || kept != kept_before_) {
      kept_before_ = kept;
      surplus_ = 0;
      window_began_ = now_micros;
      least_stored_free_ = UINT64_MAX;
    }
    const uint64_t stored = StoredFree(), keep = Keep(reserve, kept);
    least_stored_free_ = window_micros == 0 ? stored : std::min(least_stored_free_, stored);
    if (now_micros - window_began_ >= window_micros) {
      surplus_ = least_stored_free_ - std::min(least_stored_free_, keep);
      window_began_ = now_micros;
      least_stored_free_ = UINT64_MAX;
      looked_at_ = UINT64_MAX;
    }
    most = std::min({surplus_, kMostGivenBack, stored - std::min(stored, keep)});  // less, if it was needed since
    for (int i = 0; i < count_; i++) holes += parts_[i].holes.free_bytes();
    scarce = holes > 0 && stored < 2 * keep;
  }
  if (most >= kLeastGivenBack) {
    given = GiveBack(most);
    if (kChecksWhole) Check();
    MutexLock lock(&mutex_);
    surplus_ = given > 0 ? surplus_ - std::min(surplus_, given) : 0;
  }
  // Where storage is scarce, the rest of what is free are holes, and somebody else may have filled the disk.
  if (given > 0 || scarce) MeasureFileSystems();
  return given > 0;
}

// Cuts off the free end of a file, at most so much of it, and all holes there.
void PoolSpace::CutFile(int i, uint64_t most) {
  const RegionSet::Member& m = regions_.at(i);
  MutexLock lock(&mutex_);
  Part& part = parts_[i];
  const PmRef end = m.base + part.total;
  ExtentAllocator::Run free, hole;
  if (!part.free.LastBelow(end, &free) || free.end() != end || !m.region->can_grow()) return;
  PmRef from = free.size > most ? end - most : free.offset;
  CHECK_EQ(part.away, 0u);  // nobody gives back beside this
  if (part.holes.LastBelow(from, &hole) && hole.end() == from) from = std::max(hole.offset, free.offset);
  CHECK(from >= free.offset && from <= end);
  const uint64_t unit = m.region->granularity();
  uint64_t size = std::max((from - m.base + unit - 1) / unit * unit, 2 * kPoolHeaderSize);
  if (size >= part.total || !m.region->Cut(size).ok()) return;
  size = m.region->size();
  if (size >= part.total) return;
  CHECK(size >= free.offset - m.base && size % kExtentUnit == 0);
  growth_counters_.given_back.fetch_add(part.total - size, std::memory_order_relaxed);  // relaxed: a statistic
  CHECK(part.free.Take(m.base + size, part.total - size));
  while (part.holes.FirstIn(m.base + size, part.total - size, &hole)) CHECK(part.holes.Take(hole.offset, hole.size));
  part.total = size;
}

// First the ends of the files are cut off as far as the surplus goes, then holes are made of what is left of it further
// in, and at last the ends that became holes go, which cost no storage but length.
void PoolSpace::GiveBackAll(uint64_t reserve) {
  MutexLock grow(&grow_mutex_);
  const auto surplus = [&] {
    MutexLock lock(&mutex_);
    const uint64_t stored = StoredFree();
    return stored - std::min(stored, Keep(reserve, KeptFree::kForWriters));
  };
  {
    MutexLock lock(&mutex_);
    looked_at_ = UINT64_MAX;
  }
  for (int i = regions_.count() - 1; i >= 0; i--) CutFile(i, surplus());
  while (const uint64_t most = surplus()) {
    if (most < kLeastGivenBack || GiveBack(most) == 0) break;
  }
  for (int i = regions_.count() - 1; i >= 0; i--) CutFile(i, 0);
  if (kChecksWhole) Check();
}

}  // namespace miodb
