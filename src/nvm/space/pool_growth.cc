// How the files of a pool grow, and what the file systems could give them.
//
// A file grows under grow_mutex_ alone. Whoever allocates waits for that only where the first region of the order that
// has room has no free run that is long enough. Here mutex_ is held for figures and the free map, never for a system
// call.
//
// After a crash the file may be longer than before: its new end is free, since no edit names it.

#include <algorithm>
#include <utility>

#include "src/nvm/space/pool_space.h"
#include "src/util/check/check.h"
#include "src/util/clock/clock.h"

namespace miodb {

namespace {

// Growing ahead of need is done in pieces of this size at most: whoever does it has other things to do in between, and
// whoever needs space at once waits for no more than that.
constexpr uint64_t kPieceAhead = uint64_t{16} << 20;

// Least growth while somebody waits. tmpfs clears pages at 1 to 4 GB/s.
constexpr uint64_t kPieceWaitedFor = uint64_t{4} << 20;

// Small pools grow by what is in use already, and at least by this.
constexpr uint64_t kLeastPiece = uint64_t{64} << 10;
static_assert(kLeastPiece % kExtentUnit == 0 && kLeastPiece <= kPieceWaitedFor && kPieceWaitedFor <= kPieceAhead);

}  // namespace

// Measures by how much files without a limit may still grow, and how much all files lack for their holes. Regions of
// one file system share its space: the sums count it once, and the room of each region is what it would have alone.
// File systems may take long to answer, so nobody waits for it with the lock.
void PoolSpace::MeasureFileSystems() {
  bool unlimited[kMaxRegions];
  int count;
  {
    MutexLock lock(&mutex_);
    count = count_;
    for (int i = 0; i < count; i++) unlimited[i] = parts_[i].limit == 0;
  }
  uint64_t room = 0, lacking = 0;
  std::pair<uint64_t, uint64_t> available[kMaxRegions];  // by file system
  int known = 0;
  for (int i = 0; i < count; i++) {
    const Region& region = *regions_.at(i).region;
    const uint64_t had = region.FileSystemAvailable();
    auto* const end = available + known;
    auto* found = std::find_if(available, end, [&](const auto& a) { return a.first == region.file().file_system(); });
    if (found == end || region.file().file_system() == 0) {
      CHECK_LE(known, i);
      found = available + known++;
      *found = {region.file().file_system(), had};
    }
    // Holes come first: their space was promised already.
    const uint64_t size = region.size(), holes = size - std::min(size, region.stored_bytes());
    const uint64_t filled = std::min(found->second, holes);
    const uint64_t more = unlimited[i] ? region.max_size() - std::min(region.max_size(), size) : 0;
    const uint64_t grown = std::min(found->second - filled, more);
    CHECK_LE(filled + grown, found->second);
    found->second -= filled + grown;
    lacking += holes - filled;
    room += grown;
    // relaxed: a hint.
    room_to_grow_in_[i].store(std::min(had - std::min(had, holes), more), std::memory_order_relaxed);
  }
  // relaxed: only hints.
  room_to_grow_.store(room, std::memory_order_relaxed);
  lacking_.store(lacking, std::memory_order_relaxed);
}

// Asks the file systems again what they could give. False if that is not more than was known.
// Called when an allocation finds no room, so that files of others that were removed meanwhile count.
bool PoolSpace::RefreshCapacity() {
  const uint64_t before = capacity();
  MeasureFileSystems();
  return capacity() > before;
}

// Growth of a file beyond the request: no more than is in use, so that small pools stay small.
uint64_t PoolSpace::Step(uint64_t most) const {
  CHECK_GE(most, kLeastPiece);
  return std::min({growth_, most, std::max(UsedBytes(), kLeastPiece)});
}

// A whole number of the file's pages: one on hugetlbfs cannot grow by less, and rounding up could pass the limit.
uint64_t PoolSpace::EndOf(int i) const {
  CHECK(i >= 0 && i < count_);
  const Region& region = *regions_.at(i).region;
  const uint64_t limit = parts_[i].limit > 0 ? parts_[i].limit : UINT64_MAX;
  const uint64_t unit = region.granularity();
  CHECK_GT(unit, 0u);
  return region.can_grow() ? std::min(limit, region.max_size()) / unit * unit : parts_[i].total;
}

// Grows the file of region i so that a free run of size bytes, or at least min_size, appears at its end. Free space at
// the end is the beginning of that run. If the file system does not have size bytes, the call tries min_size.
Status PoolSpace::Grow(int i, uint64_t size, uint64_t min_size) {
  CHECK(min_size > 0 && min_size <= size);
  MutexLock grow(&grow_mutex_);
  uint64_t old_size, tail, end, step;
  {
    MutexLock lock(&mutex_);
    const Part& part = parts_[i];
    if (part.free.largest_free() >= size) return Status::OK();  // another thread grew it, or space came back
    old_size = part.total;
    const PmRef old_end = regions_.at(i).base + old_size;
    tail = old_end - part.free.UsedEnd(old_end);
    CHECK_LT(tail, size);  // or it would be a run of that length
    end = EndOf(i);
    step = Step(kPieceWaitedFor);
  }
  const uint64_t least = old_size + min_size - std::min(tail, min_size);
  if (least > end || end <= old_size) return Full(min_size);
  // A step at least, so that the next who ask find some.
  const uint64_t wanted = old_size + std::max(size - std::min(tail, size), step);
  growth_counters_.waited_for.fetch_add(1, std::memory_order_relaxed);  // relaxed: a statistic
  uint64_t new_size = std::min(wanted, end);
  CHECK(new_size > old_size && new_size >= least);
  // The file may have less to give than is wanted, and enough.
  Status s = GrowFile(i, new_size);
  if (!s.ok() && least > old_size && least < new_size) s = GrowFile(i, least);
  MeasureFileSystems();
  return s;
}

// The new end is free only when it has storage and is mapped. If the file did not grow because no addresses are left
// behind it, its limit comes down to what it may still become, so that no figure promises more.
Status PoolSpace::GrowFile(int i, uint64_t new_size) {
  const RegionSet::Member& m = regions_.at(i);
  const uint64_t old_size = m.region->size();
  CHECK_GT(new_size, old_size);
  const uint64_t start = NowMicros();
  Status s = m.region->Grow(new_size);
  const uint64_t micros = NowMicros() - start;
  if (!s.ok()) {
    MutexLock lock(&mutex_);
    if (parts_[i].limit > 0) parts_[i].limit = std::min(parts_[i].limit, m.region->max_size());
    return s;
  }
  cannot_grow_ahead_ &= ~(uint32_t{1} << i);  // whatever kept it from growing is over
  // relaxed: statistics, and one thread grows at a time.
  growth_counters_.steps.fetch_add(1, std::memory_order_relaxed);
  growth_counters_.micros.fetch_add(micros, std::memory_order_relaxed);
  if (micros > growth_counters_.longest_micros.load(std::memory_order_relaxed)) {
    growth_counters_.longest_micros.store(micros, std::memory_order_relaxed);
  }
  MutexLock lock(&mutex_);
  CHECK_EQ(parts_[i].total, old_size);
  parts_[i].total = m.region->size();
  CHECK_GT(parts_[i].total, old_size);
  CHECK(parts_[i].total <= m.range && parts_[i].total % kExtentUnit == 0);
  NoteTaken(m.base + old_size, parts_[i].total - old_size);  // until it is in the map
  parts_[i].free.Free(m.base + old_size, parts_[i].total - old_size);
  NoteFree(m.base + old_size, parts_[i].total - old_size);
  return s;
}

// Grows the first file that can grow, by a piece. A file that could not is left alone until a writer who waits makes it
// grow (GrowFile): to ask a full disk again and again would only cost system calls.
bool PoolSpace::GrowAhead(uint64_t bytes) {
  MutexLock grow(&grow_mutex_);
  int region = -1;
  uint64_t old_size = 0, end = 0, step;
  bool enough, lacks_storage;
  {
    MutexLock lock(&mutex_);
    const uint64_t wanted = std::min(bytes, UsedBytes());
    lacks_storage = StoredFree() < wanted;
    enough = LargestFree() >= wanted;
    step = Step(kPieceAhead);
    for (int i = 0; i < count_ && region < 0; i++) {
      if (parts_[i].total >= EndOf(i) || (cannot_grow_ahead_ >> i & 1) != 0) continue;
      region = i;
      old_size = parts_[i].total;
      end = EndOf(i);
    }
  }
  if (enough && lacks_storage) MeasureFileSystems();  // the rest is holes: the disk may be full by now
  if (enough || region < 0) return false;
  CHECK(step > 0 && old_size < end);
  const Status s = GrowFile(region, std::min(end, old_size + step));
  // An allocation that needs space at once will try again, by as much as it needs. If that succeeds, the file grows
  // ahead again.
  if (!s.ok()) cannot_grow_ahead_ |= uint32_t{1} << region;
  MeasureFileSystems();
  return s.ok();
}

}  // namespace miodb
