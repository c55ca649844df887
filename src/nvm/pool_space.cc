#include "src/nvm/pool_space.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "src/util/check.h"
#include "src/util/clock.h"
#include "src/util/no_throw.h"

namespace miodb {

namespace {

// Growing ahead of need is done in pieces of this size at most: whoever does it has other things to do in between, and
// whoever needs space at once waits for no more than that.
constexpr uint64_t kPieceAhead = uint64_t{16} << 20;

// What is grown at least while somebody waits. tmpfs clears pages at 1 to 4 GB/s.
constexpr uint64_t kPieceWaitedFor = uint64_t{4} << 20;

// Small pools grow by what is in use already, and at least by this.
constexpr uint64_t kLeastPiece = uint64_t{64} << 10;
static_assert(kLeastPiece % kExtentUnit == 0 && kLeastPiece <= kPieceWaitedFor && kPieceWaitedFor <= kPieceAhead);

// What a region may lack storage for, rounded up to units.
void AddHoles(const RegionSet::Member& m, ExtentAllocator* holes) {
  uint64_t known = kPoolHeaderSize;
  for (const FileHole& hole : m.region->file().holes_at_open()) {
    const uint64_t first = std::max(hole.begin / kExtentUnit * kExtentUnit, known);
    known = std::max((hole.end + kExtentUnit - 1) / kExtentUnit * kExtentUnit, known);
    if (known > first) holes->Free(m.base + first, known - first);
  }
  holes->Check(m.base + kPoolHeaderSize, m.end());
}

}  // namespace

void PoolSpace::AddRegion(uint64_t limit) {
  MutexLock grow(&grow_mutex_);
  const RegionSet::Member& m = regions_.at(regions_.count() - 1);
  {
    MutexLock lock(&mutex_);
    CHECK_EQ(count_ + 1, regions_.count());
    CHECK(m.region->size() > kPoolHeaderSize && m.region->size() % kExtentUnit == 0);
    Part& part = parts_[count_];
    part.limit = limit == 0 ? 0 : std::min(limit, m.region->max_size());
    part.total = m.region->size();
    part.free.Free(m.base + kPoolHeaderSize, part.total - kPoolHeaderSize);
    AddHoles(m, &part.holes);
    count_++;
  }
  MeasureFileSystems();
  if (kChecksWhole) Check();
}

// What files without a limit may still grow by, and what all lack for their holes. Regions of one file system share
// what it has. File systems may take long to answer, so nobody waits for it with the lock.
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
    auto* const end = available + known;
    auto* found = std::find_if(available, end, [&](const auto& a) { return a.first == region.file().file_system(); });
    if (found == end || region.file().file_system() == 0) {
      CHECK_LE(known, i);
      found = available + known++;
      *found = {region.file().file_system(), region.FileSystemAvailable()};
    }
    const uint64_t size = region.size(), holes = size - std::min(size, region.stored_bytes());
    const uint64_t filled = std::min(found->second, holes);
    const uint64_t more = unlimited[i] ? region.max_size() - std::min(region.max_size(), size) : 0;
    const uint64_t grown = std::min(found->second - filled, more);
    CHECK_LE(filled + grown, found->second);
    found->second -= filled + grown;
    lacking += holes - filled;
    room += grown;
  }
  // relaxed: only hints.
  room_to_grow_.store(room, std::memory_order_relaxed);
  lacking_.store(lacking, std::memory_order_relaxed);
}

// Asks the file systems again what they could give. False if that is not more than was known.
bool PoolSpace::RefreshCapacity() {
  const uint64_t before = capacity();
  MeasureFileSystems();
  return capacity() > before;
}

uint64_t PoolSpace::UsedIn(int i) const {
  CHECK(i >= 0 && i < count_);
  const Part& part = parts_[i];
  CHECK_LE(part.free.free_bytes() + part.away + part.aside, part.total);
  return part.total - part.free.free_bytes() - part.away - part.aside;
}

uint64_t PoolSpace::UsedBytes() const {
  uint64_t used = 0;
  for (int i = 0; i < count_; i++) used += UsedIn(i);
  return used;
}

// What a file grows by beyond what is asked for.
uint64_t PoolSpace::Step(uint64_t most) const {
  CHECK_GE(most, kLeastPiece);
  return std::min({growth_, most, std::max(UsedBytes(), kLeastPiece)});
}

uint64_t PoolSpace::Capacity() const {
  // relaxed: as above.
  uint64_t capacity = room_to_grow_.load(std::memory_order_relaxed);
  for (int i = 0; i < count_; i++) capacity += parts_[i].limit > 0 ? parts_[i].limit : parts_[i].total;
  return capacity - std::min(capacity, lacking_.load(std::memory_order_relaxed));
}

uint64_t PoolSpace::LargestFree() const {
  uint64_t largest = 0;
  for (int i = 0; i < count_; i++) largest = std::max(largest, parts_[i].free.largest_free());
  return largest;
}

Status PoolSpace::Full(uint64_t size) const {
  return Status::NoSpace(path_, DescribeFull() + ", " + std::to_string(size) + " wanted");
}

uint64_t PoolSpace::EndOf(int i) const {
  CHECK(i >= 0 && i < count_);
  const Region& region = *regions_.at(i).region;
  const uint64_t limit = parts_[i].limit > 0 ? parts_[i].limit : UINT64_MAX;
  const uint64_t unit = region.granularity();
  return region.can_grow() ? std::min(limit, region.max_size()) / unit * unit : parts_[i].total;
}

uint64_t PoolSpace::RoomIn(int i) const {
  const Part& part = parts_[i];
  const uint64_t used = UsedIn(i);
  if (part.limit == 0) return UINT64_MAX;
  return part.limit > used ? (part.limit - used) / kExtentUnit * kExtentUnit : 0;
}

// Whether there is a free run as long as that, or could be.
bool PoolSpace::RoomForRun(uint64_t run) const {
  if (LargestFree() >= run) return true;
  const uint64_t unlimited = room_to_grow_.load(std::memory_order_relaxed);  // relaxed: only a hint
  for (int i = 0; i < count_; i++) {
    const uint64_t all = parts_[i].limit > 0 ? parts_[i].limit : parts_[i].total + unlimited;
    if (all - std::min(all, parts_[i].total) >= run) return true;
  }
  return false;
}

// Takes up to size bytes, at least min_size, from the files as they are. *part: the region to grow.
PoolSpace::Outcome PoolSpace::TryAllocate(uint64_t size, uint64_t min_size, Leave leave, uint32_t stuck, PmRef* offset,
                                          uint64_t* taken, int* part) {
  CHECK(min_size > 0 && min_size <= size);
  MutexLock lock(&mutex_);
  const uint64_t all = Capacity();
  const uint64_t used = UsedBytes() + leave.bytes;
  const uint64_t room = used < all ? (all - used) / kExtentUnit * kExtentUnit : 0;
  if (room < min_size) return Outcome::kNoRoom;
  *taken = std::min(size, room);
  CHECK(*taken >= min_size && *taken % kExtentUnit == 0);
  for (int i = 0; i < count_; i++) {
    if (RoomIn(i) < *taken) continue;
    if (parts_[i].free.Allocate(*taken, offset)) {
      least_stored_free_ = std::min(least_stored_free_, StoredFree());
      if (!RoomForRun(leave.run)) {
        parts_[i].free.Free(*offset, *taken);
        return Outcome::kNoRoom;
      }
      NoteTaken(*offset, *taken);
      CHECK_EQ(regions_.IndexOf(*offset), i);
      return Outcome::kTaken;
    }
    if ((stuck >> i & 1) == 0 && parts_[i].total < EndOf(i)) {
      *part = i;
      return Outcome::kGrow;
    }
  }
  return Outcome::kNoRun;
}

// No file can grow: the longest free run will do, if it is long enough.
bool PoolSpace::TakeWhatThereIs(uint64_t size, uint64_t min_size, PmRef* offset, uint64_t* taken) {
  MutexLock lock(&mutex_);
  int best = -1;
  *taken = 0;
  for (int i = 0; i < count_; i++) {
    const uint64_t here = std::min({size, parts_[i].free.largest_free(), RoomIn(i)});
    if (here <= *taken) continue;
    best = i;
    *taken = here;
  }
  if (best < 0 || *taken < min_size) return false;
  CHECK_LE(*taken, size);
  CHECK(parts_[best].free.Allocate(*taken, offset));
  CHECK_EQ(regions_.IndexOf(*offset), best);
  NoteTaken(*offset, *taken);
  least_stored_free_ = std::min(least_stored_free_, StoredFree());
  return true;
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
      // What has no memory to be remembered as free is free again after the next open.
    }
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  void MakeRoom() { runs_.reserve(runs_.size() + 1); }
  void Add(const ExtentAllocator::Run& run) {
    CHECK_LT(runs_.size(), runs_.capacity());  // nothing is taken out of the free map that cannot be named here
    runs_.push_back(run);
  }

 private:
  PoolSpace* const space_;
  std::vector<ExtentAllocator::Run> runs_;
};

// Takes the storage of what of an extent has none. If it fails some of it may have holes still, which are known.
Status PoolSpace::FillHoles(PmRef offset, uint64_t size) {
  const int i = regions_.IndexOf(offset);
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

// Lets go of an extent, and puts its holes aside, as large as they are.
void PoolSpace::LeaveHoles(PmRef offset, uint64_t size, Aside* aside) {
  MutexLock lock(&mutex_);
  Part& part = parts_[regions_.IndexOf(offset)];
  part.free.Free(offset, size);
  NoteFree(offset, size);
  ExtentAllocator::Run hole;
  for (PmRef from = offset; from < offset + size && part.holes.FirstIn(from, offset + size - from, &hole);
       from = hole.end()) {
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
  }
}

// What is being given back is not in the free map at this moment. False if nothing is.
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

Status PoolSpace::Allocate(uint64_t size, uint64_t min_size, Leave leave, PmRef* offset, uint64_t* taken) {
  CHECK(size % kExtentUnit == 0 && min_size % kExtentUnit == 0);
  uint32_t stuck = 0;  // regions that cannot grow now
  Status failure;
  Aside aside(this);
  for (;;) {
    int part = 0;
    Outcome outcome = TryAllocate(size, min_size, leave, stuck, offset, taken, &part);
    if (outcome == Outcome::kNoRun && leave.run == 0 && TakeWhatThereIs(*taken, min_size, offset, taken)) {
      outcome = Outcome::kTaken;
    }
    if (outcome == Outcome::kTaken) {
      CHECK(*taken >= min_size && regions_.Readable(*offset, *taken));
      Status s = FillHoles(*offset, *taken);
      if (kChecksWhole) Check();
      if (s.ok()) return s;
      if (failure.ok()) failure = s;
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

// Grows the file of region i so that a free run of size bytes, or at least min_size, appears at its end.
Status PoolSpace::Grow(int i, uint64_t size, uint64_t min_size) {
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
  const uint64_t wanted = old_size + std::max(size - std::min(tail, size), step);
  growth_counters_.waited_for.fetch_add(1, std::memory_order_relaxed);  // relaxed: a statistic
  uint64_t new_size = std::min(wanted, end);
  CHECK(new_size > old_size && new_size >= least);
  Status s = GrowFile(i, new_size);
  if (!s.ok() && least > old_size && least < new_size) s = GrowFile(i, least);
  MeasureFileSystems();
  return s;
}

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
  NoteTaken(m.base + old_size, parts_[i].total - old_size);  // until it is in the map
  parts_[i].free.Free(m.base + old_size, parts_[i].total - old_size);
  NoteFree(m.base + old_size, parts_[i].total - old_size);
  return s;
}

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
  // Whoever needs space at once will try again, by as much as is needed. What succeeds then ends this.
  if (!s.ok()) cannot_grow_ahead_ |= uint32_t{1} << region;
  MeasureFileSystems();
  return s.ok();
}

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
