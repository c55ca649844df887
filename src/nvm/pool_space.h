// The free space of a pool: which parts of its regions are free, and how their files grow.
//
// Space comes from the first region that has a free run long enough, or whose file can grow to have one; so a region is
// used when those before it are full, and what is freed in them is used again first. No run ever crosses from one
// region into the next. The free map is DRAM only (extent_allocator.h).
//
// Files grow by steps, which are no larger than what is in use, so that small pools stay small. The step that a writer
// would have to wait for is made ahead of need by whoever calls GrowAhead.
//
// Threads: any number at once.

#ifndef MIODB_SRC_NVM_POOL_SPACE_H_
#define MIODB_SRC_NVM_POOL_SPACE_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "miodb/status.h"
#include "src/format/pm_ref.h"
#include "src/nvm/extent_allocator.h"
#include "src/nvm/region_set.h"
#include "src/util/mutex.h"

namespace miodb {

class PoolSpace {
 public:
  // What has to stay free after an allocation: so many bytes, and so many of them in one piece.
  struct Leave {
    uint64_t bytes = 0;
    uint64_t run = 0;
  };

  // How files have grown since the pool was opened. relaxed everywhere: statistics.
  struct Growth {
    std::atomic<uint64_t> steps{0};
    std::atomic<uint64_t> micros{0};
    std::atomic<uint64_t> longest_micros{0};
    std::atomic<uint64_t> waited_for{0};  // of steps: made because somebody needed the space at once
  };

  // path is what errors name, growth the step.
  PoolSpace(std::string path, const RegionSet* regions, uint64_t growth)
      : path_(std::move(path)), regions_(*regions), growth_(growth) {}

  // Takes in the region that was added to the set last, all of it free but for its header page. limit: most bytes of
  // it; 0: what it may grow to.
  void AddRegion(uint64_t limit);

  // Takes size bytes or, if space is short or scattered, less, but no less than min_size. Multiples of kExtentUnit.
  Status Allocate(uint64_t size, uint64_t min_size, Leave leave, PmRef* offset, uint64_t* taken);

  // Takes exactly this range, which is inside of a file. False if some of it is taken.
  bool Take(PmRef offset, uint64_t size);
  void Free(PmRef offset, uint64_t size);

  // Has the files grow by one piece, of a step at most, if no free run in them has so many bytes, or as many as are in
  // use. False if that was not needed or not possible.
  bool GrowAhead(uint64_t bytes);

  uint64_t used() const;           // header pages counted
  uint64_t used_in(int i) const;   // by one region
  uint64_t limit_of(int i) const;  // of one region; 0: what its medium has
  uint64_t capacity() const;       // what all regions may have, as far as is known
  uint64_t free_bytes() const;     // capacity - used

  // "the pool is full: ..." with these figures and what its nodes have.
  std::string DescribeFull() const;

  const Growth& growth() const { return growth_counters_; }

 private:
  struct Part {
    ExtentAllocator free;
    uint64_t total = 0;  // bytes of the file that the free map knows of
    uint64_t limit = 0;  // most bytes of it, 0: none
  };

  // What an attempt came to. kGrow: a file has to grow. kNoRun: none can, and no free run is as long. kNoRoom: the
  // limits leave no room.
  enum class Outcome { kTaken, kGrow, kNoRun, kNoRoom };

  Outcome TryAllocate(uint64_t size, uint64_t min_size, Leave leave, uint32_t stuck, PmRef* offset, uint64_t* taken,
                      int* part);
  bool TakeWhatThereIs(uint64_t size, uint64_t min_size, PmRef* offset, uint64_t* taken);
  uint64_t UsedBytes() const REQUIRES(mutex_);
  uint64_t Step(uint64_t most) const REQUIRES(mutex_);
  uint64_t Capacity() const REQUIRES(mutex_);
  uint64_t LargestFree() const REQUIRES(mutex_);
  uint64_t EndOf(int i) const REQUIRES(mutex_);   // most bytes that the file may have
  uint64_t RoomIn(int i) const REQUIRES(mutex_);  // what its limit leaves of one region
  bool RoomForRun(uint64_t run) const REQUIRES(mutex_);
  Status Grow(int i, uint64_t size, uint64_t min_size);
  Status GrowFile(int i, uint64_t new_size) REQUIRES(grow_mutex_);
  void MeasureFileSystems();
  bool RefreshCapacity();
  Status Full(uint64_t size) const;

  const std::string path_;
  const RegionSet& regions_;
  const uint64_t growth_;
  Growth growth_counters_;

  Mutex grow_mutex_;                                        // taken before mutex_
  uint32_t cannot_grow_ahead_ GUARDED_BY(grow_mutex_) = 0;  // one bit for each region
  mutable Mutex mutex_;
  Part parts_[kMaxRegions] GUARDED_BY(mutex_);
  int count_ GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> room_to_grow_{0};  // of files without a limit, what their file systems have: a hint
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_SPACE_H_
