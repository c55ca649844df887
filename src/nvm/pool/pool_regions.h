// The further regions of a pool: finds and opens the regions that the header page names, and adds new regions.
//
// Adding a region, step by step:
//
//   1 A file is made under a temporary name, or a device is taken as it is; it is mapped behind the last region.
//   2 Its header is written, one copy durable before the next.
//   3 The file gets its name, durably.
//   4 The entry in the pool's header page is written, one copy durable before the next. With the first of them the
//     region is part of the pool.
//   5 The space of the region is free for use.
//
// After a crash before step 4 is done, no entry names the region. The next call that finds it at its path makes it
// anew, unless it holds data: then the pool is an older copy, and the call is refused. A pool that was made just now is
// no copy: the region is of an attempt to make the pool that was cut off.
//
// PoolRegions owns the regions (RegionSet); it refers to the pool's options, header page, door and space.
//
// Threads: Open and Add by one at a time; the rest by any.

#ifndef MIODB_SRC_NVM_POOL_POOL_REGIONS_H_
#define MIODB_SRC_NVM_POOL_POOL_REGIONS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "miodb/status.h"
#include "src/nvm/pool/pool_head.h"
#include "src/nvm/pool/pool_options.h"
#include "src/nvm/region/region_set.h"
#include "src/nvm/space/pool_space.h"
#include "src/util/check/check.h"

namespace miodb {

class PoolRegions {
 public:
  // set has the pool's own file, and belongs to the pool. path: what errors name.
  PoolRegions(const std::string& path, const PoolOptions& options, RegionSet* set, PoolHead* head, Persist* persist,
              PoolSpace* space)
      : path_(path), options_(options), set_(*set), head_(*head), persist_(*persist), space_(*space) {}
  PoolRegions(const PoolRegions&) = delete;
  PoolRegions& operator=(const PoolRegions&) = delete;

  // The addresses that all regions of the pool with this header page need to be opened. 0: it has none, or is damaged,
  // which shows later. The last region may need more, which is found out when its size is known.
  static uint64_t AddressesWanted(const char* header_page);

  // A new pool has none yet: all that the options name are missing.
  void SetNew() {
    CHECK_EQ(set_.count(), 1);
    missing_ = options_.regions;
    is_new_ = true;
  }

  // Opens all that the header page names.
  Status Open();

  // In a reader's pool: opens regions that the header page has come to name. search: asked where they may be.
  Status Follow(const std::function<RegionPlaces()>& search);

  // Regions of the options that the pool did not have when it was opened or made.
  const std::vector<PoolRegionOptions>& missing() const { return missing_; }

  // See Pool::AddRegion.
  Status Add(const PoolRegionOptions& options);

 private:
  Status LimitFirst(const RegionEntry& second);
  Status Match(const std::vector<RegionEntry>& entries, std::vector<PoolRegionOptions>* found);
  Status MatchOne(const std::vector<RegionEntry>& entries, const PoolRegionOptions& options,
                  std::vector<PoolRegionOptions>* found, std::vector<PoolRegionOptions>* elsewhere) const;
  Status OpenOne(const RegionEntry& entry, const PoolRegionOptions& options);
  Status Map(const RegionEntry& entry, const PoolRegionOptions& options, std::unique_ptr<Region>* region) const;
  Status Check(const Region& region, const RegionEntry& entry) const;
  Status CheckMode(const Region& region) const;
  void TakeIn(std::unique_ptr<Region> region, const RegionEntry& entry, uint64_t limit);
  Status CheckFree(const std::string& path) const;
  Status Plan(const PoolRegionOptions& options, RegionEntry* entry) const;
  Status PlanRange(const PoolRegionOptions& options, RegionEntry* entry) const;
  Status Make(const PoolRegionOptions& options, const RegionEntry& entry, std::unique_ptr<Region>* region) const;
  Status WriteHeader(const Region& region, const RegionEntry& entry);
  Status Finish(const PoolRegionOptions& options, const RegionEntry& entry, Region* region);

  const std::string& path_;
  const PoolOptions& options_;
  RegionSet& set_;
  PoolHead& head_;
  Persist& persist_;
  PoolSpace& space_;
  std::vector<PoolRegionOptions> missing_;
  bool is_new_ = false;  // this object's pool was made, and not opened
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_POOL_REGIONS_H_
