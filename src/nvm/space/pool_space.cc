// Handing out space and taking it back. pool_growth.cc has how files grow, pool_give_back.cc how storage goes back.
//
// An allocation goes through these steps until one succeeds or none is left (Allocate):
//
//   1 Room: what the limits leave, less what is to stay free. Without it there is no space, whatever is free.
//   2 Length: what is wanted, or, where the caller takes less, the longest run that some region has or can grow to.
//   3 The first region, in the order given, that has a run as long, or whose file can still grow to have one.
//   4 Holes in what was taken get their storage. If the file system has none, that space is put aside and other space
//     is tried; it comes back when the allocation ends.

#include "src/nvm/space/pool_space.h"

#include <algorithm>
#include <new>
#include <vector>

#include "src/util/bytes/make_room.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

namespace miodb {

namespace {

// Adds the holes of a region, rounded up to units: two holes of a file system with smaller blocks may touch the same
// unit, which is a hole once.
void AddHoles(const RegionSet::Member& m, ExtentAllocator* holes) {
  uint64_t known = kPoolHeaderSize;
  for (const FileHole& hole : m.region->file().holes_at_open()) {
    CHECK_LE(hole.begin, hole.end);
    const uint64_t first = std::max(hole.begin / kExtentUnit * kExtentUnit, known);
    known = std::max((hole.end + kExtentUnit - 1) / kExtentUnit * kExtentUnit, known);
    if (known > first) holes->Free(m.base + first, known - first);
  }
  holes->Check(m.base + kPoolHeaderSize, m.end());
}

}  // namespace

// All of the region is free; recovery takes what the manifest names (Take). A limit beyond what the file may become is
// no promise of room, so it is cut down to that.
void PoolSpace::AddRegion(uint64_t limit) {
  if (use_ == RegionUse::kReader) return;
  MutexLock grow(&grow_mutex_);
  const RegionSet::Member& m = regions_.at(regions_.count() - 1);
  {
    MutexLock lock(&mutex_);
    CHECK_LT(count_, kMaxRegions);
    CHECK_EQ(count_ + 1, regions_.count());
    CHECK(m.region->size() > kPoolHeaderSize && m.region->size() % kExtentUnit == 0);
    CHECK_LE(m.region->size(), m.range);
    Part& part = parts_[count_];
    CHECK(part.total == 0 && part.free.free_bytes() == 0);
    part.limit = limit == 0 ? 0 : std::min(limit, m.region->max_size());
    part.total = m.region->size();
    part.free.Free(m.base + kPoolHeaderSize, part.total - kPoolHeaderSize);
    AddHoles(m, &part.holes);
    count_++;
    CHECK_EQ(UsedIn(count_ - 1), kPoolHeaderSize);
  }
  MeasureFileSystems();
  if (kChecksWhole) Check();
}

// The room of the file systems is measured when the further region is added.
void PoolSpace::LimitFirst() {
  if (use_ == RegionUse::kReader) return;
  MutexLock lock(&mutex_);
  CHECK_EQ(count_, 1);
  const uint64_t most = regions_.first().max_size();
  CHECK_LE(parts_[0].total, most);
  parts_[0].limit = std::min(parts_[0].limit, most);
}

// Everything that is not free counts as used, the header page too: no sum of extents has to be kept.
uint64_t PoolSpace::UsedIn(int i) const {
  CHECK(i >= 0 && i < count_);
  const Part& part = parts_[i];
  CHECK_LE(part.free.free_bytes() + part.away + part.aside, part.total);
  return part.total - part.free.free_bytes() - part.away - part.aside;
}

// The sum of all regions whose space is known here.
uint64_t PoolSpace::UsedBytes() const {
  CHECK_LE(count_, kMaxRegions);
  uint64_t used = 0;
  for (int i = 0; i < count_; i++) used += UsedIn(i);
  return used;
}

// Limits count in full, whether their files have grown to them or not. Files without a limit count as they are, with
// what their file systems had when they were asked last.
uint64_t PoolSpace::Capacity() const {
  // relaxed: only hints.
  uint64_t capacity = room_to_grow_.load(std::memory_order_relaxed);
  for (int i = 0; i < count_; i++) capacity += parts_[i].limit > 0 ? parts_[i].limit : parts_[i].total;
  return capacity - std::min(capacity, lacking_.load(std::memory_order_relaxed));
}

// The largest of all regions: a run never crosses from one region into the next.
uint64_t PoolSpace::LargestFree() const {
  uint64_t largest = 0;
  for (int i = 0; i < count_; i++) largest = std::max(largest, parts_[i].free.largest_free());
  return largest;
}

// NoSpace with all figures, taken anew: the caller holds no lock.
Status PoolSpace::Full(uint64_t size) const {
  return Status::NoSpace(path_, DescribeFull() + ", " + std::to_string(size) + " wanted");
}

// A limit may be less than what is used: it was lowered between two opens, and nothing is taken away for it.
uint64_t PoolSpace::RoomIn(int i) const {
  const Part& part = parts_[i];
  const uint64_t used = UsedIn(i);
  if (part.limit == 0) return UINT64_MAX;
  return part.limit > used ? (part.limit - used) / kExtentUnit * kExtentUnit : 0;
}

// One bit for each region whose file can grow, but for those that are stuck. A file that grows meanwhile may find that
// it cannot, so whoever asks twice may get two answers.
uint32_t PoolSpace::GrowingRegions(uint32_t stuck) const {
  DCHECK_EQ(stuck >> count_, 0u);
  uint32_t growing = 0;
  for (int i = 0; i < count_; i++) growing |= uint32_t{parts_[i].total < EndOf(i)} << i;
  return growing & ~stuck;
}

// The longest run that some region may have, as far as is known before its file has grown.
uint64_t PoolSpace::LongestRun(uint32_t growing) const {
  uint64_t longest = 0;
  CHECK_GT(count_, 0);
  for (int i = 0; i < count_; i++) {
    const bool grows = (growing >> i & 1) != 0;
    longest = std::max(longest, grows ? RoomIn(i) : std::min(parts_[i].free.largest_free(), RoomIn(i)));
  }
  return longest;
}

// Takes up to size bytes, at least min_size, from the files as they are. *part: the region to grow. stuck: the regions
// that this allocation saw fail to grow, one bit for each.
//
// Room is found and the run taken under one lock, so that two writers cannot both take the last of it.
PoolSpace::Outcome PoolSpace::TryAllocate(uint64_t size, uint64_t min_size, uint64_t leave, uint32_t stuck,
                                          const RegionOrder& order, PmRef* offset, uint64_t* taken, int* part) {
  CHECK(min_size > 0 && min_size <= size);
  MutexLock lock(&mutex_);
  const uint64_t all = Capacity();
  const uint64_t used = UsedBytes() + leave;
  const uint64_t room = used < all ? (all - used) / kExtentUnit * kExtentUnit : 0;
  if (room < min_size) return Outcome::kNoRoom;
  const uint32_t growing = GrowingRegions(stuck);
  *taken = std::min({size, room, LongestRun(growing)});
  if (*taken < min_size) return Outcome::kNoRun;
  CHECK_EQ(*taken % kExtentUnit, 0u);
  for (int turn = 0; turn < count_; turn++) {
    const int i = order.at(turn);
    if (RoomIn(i) < *taken) continue;
    if (parts_[i].free.Allocate(*taken, offset)) {
      // Space that was needed in this window counts, even if it comes back before the window ends.
      least_stored_free_ = std::min(least_stored_free_, StoredFree());
      NoteTaken(*offset, *taken);
      CHECK_EQ(regions_.IndexOf(*offset), i);
      return Outcome::kTaken;
    }
    if ((growing >> i & 1) != 0) {
      *part = i;
      return Outcome::kGrow;
    }
  }
  CHECK(false);  // some region has the longest run, or can grow
}

// Free space that one allocation leaves alone, because the file system has no storage for it now.
class PoolSpace::Aside {
 public:
  explicit Aside(PoolSpace* space) : space_(space) {}
  ~Aside() {
    MutexLock lock(&space_->mutex_);
    try {
      for (const ExtentAllocator::Run& run : runs_) {
        Part& part = space_->parts_[space_->regions_.IndexOf(run.offset)];
        CHECK_GE(part.aside, run.size);
        part.free.Free(run.offset, run.size);
        part.aside -= run.size;
      }
    } catch (const std::exception&) {
      // Without memory for an entry in the free map the space is lost until the next open.
    }
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  // May throw for want of memory; Add never does.
  void MakeRoom() { miodb::MakeRoom(&runs_); }
  void Add(const ExtentAllocator::Run& run) {
    CHECK_LT(runs_.size(), runs_.capacity());  // nothing is taken out of the free map that cannot be named here
    CHECK_GT(run.size, 0u);
    runs_.push_back(run);
  }

 private:
  PoolSpace* const space_;
  std::vector<ExtentAllocator::Run> runs_;
};

// Gives storage to the holes of an extent. If that fails, some holes may be left, and they stay known. The range is the
// caller's alone already, so nobody else fills or punches it while the lock is not held; a hole is forgotten only when
// it has its storage.
Status PoolSpace::FillHoles(PmRef offset, uint64_t size) {
  const int i = regions_.IndexOf(offset);
  CHECK_EQ(regions_.IndexOf(offset + size - 1), i);
  for (;;) {
    ExtentAllocator::Run hole;
    {
      MutexLock lock(&mutex_);
      if (!parts_[i].holes.FirstIn(offset, size, &hole)) return Status::OK();
    }
    const RegionSet::Member& m = regions_.at(i);
    CHECK(hole.offset >= offset && hole.end() <= offset + size);
    Status s = NoThrow(path_, [&] { return m.region->Fill(hole.offset - m.base, hole.size); });
    const auto forget = [&] {
      MutexLock lock(&mutex_);
      CHECK(parts_[i].holes.Take(hole.offset, hole.size));
      return Status::OK();
    };
    if (s.ok()) s = NoThrow(path_, forget);
    if (!s.ok()) return s;
  }
}

// Lets go of an extent, and puts its holes aside, as large as they are: beyond the extent too, or the next attempt
// would take the rest of the same hole.
void PoolSpace::LeaveHoles(PmRef offset, uint64_t size, Aside* aside) {
  MutexLock lock(&mutex_);
  Part& part = parts_[regions_.IndexOf(offset)];
  part.free.Free(offset, size);
  NoteFree(offset, size);
  ExtentAllocator::Run hole;
  for (PmRef from = offset; from < offset + size && part.holes.FirstIn(from, offset + size - from, &hole);
       from = hole.end()) {
    // The whole hole, if all of it is free; else the part that the extent had, if nobody has taken it since.
    const ExtentAllocator::Run whole = part.holes.RunOf(hole.offset);
    CHECK(whole.offset <= hole.offset && whole.end() >= hole.end());
    aside->MakeRoom();
    if (part.free.Take(whole.offset, whole.size)) {
      hole = whole;
    } else if (!part.free.Take(hole.offset, hole.size)) {
      continue;
    }  // else others have the rest of it
    aside->Add(hole);
    part.aside += hole.size;
    CHECK_LE(part.aside, part.total);
  }
}

// Space that is being given back is not in the free map at this moment. False if there is none. Giving back holds
// give_back_mutex_ for as long, so a thread that has had that mutex has waited.
bool PoolSpace::WaitForGivenBack() {
  {
    MutexLock lock(&mutex_);
    bool away = false;
    for (int i = 0; i < count_; i++) away = away || parts_[i].away > 0;
    if (!away) return false;
  }
  MutexLock give_back(&give_back_mutex_);
  return true;
}

// Each turn of the loop changes what the next one meets: a region cannot grow, space is put aside, more room is known,
// or what was being given back is free. The first failure is what the caller is told, for later ones follow from it.
Status PoolSpace::Allocate(uint64_t size, uint64_t min_size, uint64_t leave, const RegionOrder& order, PmRef* offset,
                           uint64_t* taken) {
  CHECK(size % kExtentUnit == 0 && min_size % kExtentUnit == 0);
  uint32_t stuck = 0;  // regions that cannot grow now
  Status failure;
  Aside aside(this);
  for (;;) {
    int part = 0;
    const Outcome outcome = TryAllocate(size, min_size, leave, stuck, order, offset, taken, &part);
    if (outcome == Outcome::kTaken) {
      CHECK(*taken >= min_size && regions_.Readable(*offset, *taken));
      Status s = FillHoles(*offset, *taken);
      if (kChecksWhole) Check();
      if (s.ok()) return s;
      if (failure.ok()) failure = s;
      // Parts of the run that have got storage meanwhile keep it.
      LeaveHoles(*offset, *taken, &aside);
      MeasureFileSystems();  // holes that cannot be filled are no room for the next
      continue;
    }
    if (outcome == Outcome::kNoRoom) {
      if (!RefreshCapacity() && !WaitForGivenBack()) return failure.ok() ? Full(min_size) : failure;
      continue;
    }
    if (outcome == Outcome::kGrow) {
      Status s = Grow(part, *taken, min_size);
      if (s.ok()) continue;
      if (failure.ok()) failure = s;
      CHECK_EQ(stuck >> part & 1, 0u);
      stuck |= uint32_t{1} << part;
      continue;
    }
    if (!WaitForGivenBack()) return failure.ok() ? Full(min_size) : failure;
  }
}

// For recovery. Extents that the manifest names get their storage now, while an error can still refuse the open.
Status PoolSpace::Take(PmRef offset, uint64_t size, const std::string& name) {
  CHECK(regions_.Readable(offset, size));
  {
    MutexLock lock(&mutex_);
    if (!parts_[regions_.IndexOf(offset)].free.Take(offset, size)) {
      return Status::Corruption(path_, name + " is referenced twice");
    }
    NoteTaken(offset, size);
  }
  Status s = FillHoles(offset, size);
  if (!s.ok()) Free(offset, size);
  return s;
}

void PoolSpace::Hold(PmRef offset, uint64_t size) {
  CHECK(size > 0 && regions_.Readable(offset, size));
  MutexLock lock(&mutex_);
  Part& part = parts_[regions_.IndexOf(offset)];
  part.held += size;
  CHECK_LE(part.held, part.total);
}

void PoolSpace::FreeHeld(PmRef offset, uint64_t size) {
  CHECK(size > 0 && regions_.Readable(offset, size));
  {
    MutexLock lock(&mutex_);
    Part& part = parts_[regions_.IndexOf(offset)];
    CHECK_GE(part.held, size);
    part.held -= size;
  }
  Free(offset, size);
}

// Holes in this space stay known, and are known when the space is freed.
void PoolSpace::HoldFree(const std::function<void(PmRef, uint64_t)>& hold) {
  MutexLock lock(&mutex_);
  for (int i = 0; i < count_; i++) {
    ExtentAllocator::Run run;
    while (parts_[i].free.LastBelow(UINT64_MAX, &run)) {
      CHECK_EQ(run.size % kExtentUnit, 0u);
      hold(run.offset, run.size);
      const bool taken = parts_[i].free.Take(run.offset, run.size);
      CHECK(taken);
      parts_[i].held += run.size;
      CHECK_LE(parts_[i].held, parts_[i].total);
      NoteTaken(run.offset, run.size);
    }
  }
}

// Frees an extent whose last reference is gone. Holes inside, if some could not be filled, are known still.
void PoolSpace::Free(PmRef offset, uint64_t size) {
  CHECK(regions_.Readable(offset, size));
  {
    MutexLock lock(&mutex_);
    parts_[regions_.IndexOf(offset)].free.Free(offset, size);
    NoteFree(offset, size);
  }
  if (kChecksWhole) Check();
}

}  // namespace miodb
