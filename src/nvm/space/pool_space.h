// The free parts of a pool's regions, and how the files of the regions grow.
//
// Space comes from the first region, in the order that the caller gives, that has a free run long enough, or whose file
// can grow to have one. In the order of the regions themselves, a region is used when those before it are full, and
// what is freed in them is used again first. No run ever crosses from one region into the next. The free map is DRAM
// only (extent_allocator.h).
//
// Files grow by steps, which are no larger than what is in use, so that small pools stay small. GrowAhead makes the
// next step, of the first file that can grow, before a writer would have to wait for it.
//
// Free space may be given back to the file system (GiveBackIdle, GiveBackAll). Then it is a hole, where a store may be
// a SIGBUS. So the hole gets storage again before it is handed out, and NoSpace is the answer if the file system has
// none. Only space in the free map is given back: nothing that an edit in doubt, a version or a reader may refer to.
//
// Threads: any number at once.

#ifndef MIODB_SRC_NVM_SPACE_POOL_SPACE_H_
#define MIODB_SRC_NVM_SPACE_POOL_SPACE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "miodb/placement_policy.h"
#include "miodb/status.h"
#include "src/format/pm_ref.h"
#include "src/nvm/region/region_set.h"
#include "src/nvm/space/extent_allocator.h"
#include "src/nvm/space/region_order.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

// Bytes of a pool at one moment: the capacity, as far as the system has told it, and the free part of it.
struct PoolRoom {
  uint64_t capacity = 0;
  uint64_t free = 0;
};

// Free storage that stays: a quarter of what is in use, what the files would grow ahead, and the reserve, though of the
// latter two no more than is in use; or, where nobody writes, the reserve up to a small share of what is in use.
enum class KeptFree : uint8_t { kForWriters, kAtRest };

class PoolSpace {
 public:
  // How files have grown since the pool was opened. relaxed everywhere: statistics.
  struct Growth {
    std::atomic<uint64_t> steps{0};
    std::atomic<uint64_t> micros{0};
    std::atomic<uint64_t> longest_micros{0};
    std::atomic<uint64_t> waited_for{0};  // tries, failed ones too, because somebody needed the space at once
    std::atomic<uint64_t> given_back{0};  // bytes of storage
  };

  // path is what errors name, growth the step. use: a reader's pool has no space, which is the owner's.
  PoolSpace(std::string path, const RegionSet* regions, uint64_t growth, RegionUse use)
      : path_(std::move(path)), regions_(*regions), growth_(growth), use_(use) {
    static_assert(kMaxRegions <= 32);  // sets of them are words of 32 bits
  }

  // Takes in the region that was added to the set last, all of it free but for its header page. limit: most bytes of
  // it; 0: what it may grow to.
  void AddRegion(uint64_t limit);

  // The first region may have become shorter than its limit, since the references of a further one follow. Before that
  // one is added.
  void LimitFirst();

  // Takes size bytes or, if space is short or scattered, less, but no less than min_size. Multiples of kExtentUnit.
  Status Allocate(uint64_t size, uint64_t min_size, uint64_t leave, const RegionOrder& order, PmRef* offset,
                  uint64_t* taken);

  // Takes exactly this range, which is inside of a file. Corruption, named so, if some of it is taken.
  Status Take(PmRef offset, uint64_t size, const std::string& name);
  void Free(PmRef offset, uint64_t size);

  // Space that came free and waits for readers counts as used until FreeHeld.
  void Hold(PmRef offset, uint64_t size);
  void FreeHeld(PmRef offset, uint64_t size);

  // Takes all that is free in the files, for hold(offset, size) to keep until it is FreeHeld.
  void HoldFree(const std::function<void(PmRef, uint64_t)>& hold);

  // Has the files grow by one piece, of a step at most, if no free run in them has so many bytes, or as many as are in
  // use. False if that was not needed or not possible.
  bool GrowAhead(uint64_t bytes);

  // Gives back storage that was free through a window of time, but for what is kept. To be called now and then, by one
  // thread; does one piece at a time, and returns whether there was one.
  bool GiveBackIdle(uint64_t now_micros, uint64_t window_micros, uint64_t reserve,
                    KeptFree kept = KeptFree::kForWriters);

  // Gives back all free storage but what is kept, and makes the files shorter. Nobody uses the pool any more.
  void GiveBackAll(uint64_t reserve);

  uint64_t used() const;           // header pages counted
  uint64_t used_in(int i) const;   // by one region
  uint64_t held_in(int i) const;   // of these, what waits for readers
  uint64_t limit_of(int i) const;  // of one region; 0: what its medium has
  uint64_t capacity() const;       // what all regions may have, as far as is known
  PoolRoom Room() const;

  // The regions as a placement policy sees them, all at one moment.
  std::vector<PlacementRegion> Figures() const;

  // "the pool is full: ..." with these figures and what its nodes have.
  std::string DescribeFull() const;

  const Growth& growth() const { return growth_counters_; }

  // Checks the invariants: space that is free, taken, being given back or put aside makes up the regions, and nothing
  // overlaps.
  void Check() const;

 private:
  struct Part {
    ExtentAllocator free;
    ExtentAllocator holes;       // of what is free: has no storage, or may have none
    ExtentAllocator taken;       // what was handed out, noted for Check alone
    uint64_t away = 0;           // bytes that are free but not in the map: they are being given back,
    uint64_t aside = 0;          // or an allocation leaves them alone
    bool keeps_storage = false;  // the medium takes none back
    uint64_t total = 0;          // bytes of the file that the free map knows of
    uint64_t held = 0;           // bytes that are used for no other reason than readers
    uint64_t limit = 0;          // most bytes of it, 0: none
  };

  class Aside;

  // The outcome of an attempt. kGrow: a file has to grow. kNoRun: no region has a run of the least size, or can have.
  // kNoRoom: the limits leave no room.
  enum class Outcome { kTaken, kGrow, kNoRun, kNoRoom };

  Outcome TryAllocate(uint64_t size, uint64_t min_size, uint64_t leave, uint32_t stuck, const RegionOrder& order,
                      PmRef* offset, uint64_t* taken, int* part);
  uint32_t GrowingRegions(uint32_t stuck) const REQUIRES(mutex_);
  uint64_t LongestRun(uint32_t growing) const REQUIRES(mutex_);
  uint64_t UsedIn(int i) const REQUIRES(mutex_);
  uint64_t UsedBytes() const REQUIRES(mutex_);
  uint64_t Step(uint64_t most) const REQUIRES(mutex_);
  uint64_t Capacity() const REQUIRES(mutex_);
  uint64_t LargestFree() const REQUIRES(mutex_);
  uint64_t EndOf(int i) const REQUIRES(mutex_);   // most bytes that the file may have
  uint64_t RoomIn(int i) const REQUIRES(mutex_);  // what its limit leaves of one region
  Status Grow(int i, uint64_t size, uint64_t min_size);
  Status GrowFile(int i, uint64_t new_size) REQUIRES(grow_mutex_);
  void MeasureFileSystems();
  bool RefreshCapacity();
  bool WaitForGivenBack();
  void NoteTaken(PmRef offset, uint64_t size) REQUIRES(mutex_);
  void NoteFree(PmRef offset, uint64_t size) REQUIRES(mutex_);
  Status FillHoles(PmRef offset, uint64_t size);
  void LeaveHoles(PmRef offset, uint64_t size, Aside* aside);
  uint64_t StoredFree() const REQUIRES(mutex_);
  uint64_t Keep(uint64_t reserve, KeptFree kept) const REQUIRES(mutex_);
  bool LastStored(int i, uint64_t most, PmRef* below, ExtentAllocator::Run* run) const REQUIRES(mutex_);
  uint64_t GiveBack(uint64_t most);
  void CutFile(int i, uint64_t most) REQUIRES(grow_mutex_);
  Status Full(uint64_t size) const;

  const std::string path_;
  const RegionSet& regions_;
  const uint64_t growth_;
  const RegionUse use_;
  Growth growth_counters_;

  Mutex give_back_mutex_;                                   // held while storage is given back; taken before mutex_
  Mutex grow_mutex_;                                        // taken before both
  uint32_t cannot_grow_ahead_ GUARDED_BY(grow_mutex_) = 0;  // one bit for each region
  mutable Mutex mutex_;
  Part parts_[kMaxRegions] GUARDED_BY(mutex_);
  int count_ GUARDED_BY(mutex_) = 0;
  bool notes_ GUARDED_BY(mutex_) = kChecksWhole;  // what is taken is noted, and there was memory for it so far
  uint64_t least_stored_free_ GUARDED_BY(mutex_) = UINT64_MAX;  // in the window
  uint64_t window_began_ GUARDED_BY(mutex_) = 0;
  KeptFree kept_before_ GUARDED_BY(mutex_) = KeptFree::kForWriters;
  uint64_t surplus_ GUARDED_BY(mutex_) = 0;  // found at the end of the last window, not given back yet
  PmRef looked_at_ GUARDED_BY(mutex_) = 0;   // from here on nothing more is to be given back in this pass

  // Hints, of files without a limit: what they can grow by, and what their file systems lack to fill all holes.
  std::atomic<uint64_t> room_to_grow_{0};
  std::atomic<uint64_t> room_to_grow_in_[kMaxRegions] = {};  // of each region, as if it were alone
  std::atomic<uint64_t> lacking_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_SPACE_POOL_SPACE_H_
