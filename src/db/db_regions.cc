#include "src/db/db_impl.h"
#include "src/db/options_check.h"
#include "src/db/region_places.h"

// Regions beyond the pool's own file. How one is added is told in src/nvm/pool_regions.cc.

namespace miodb {

// At the end of an open, when recovery has found nothing amiss: what the pool's header page has lost cannot be taken
// for a region that never was.
Status DBImpl::AddMissingRegions() {
  // A copy: each call changes what is missing.
  for (const Pool::RegionOptions& region : std::vector<Pool::RegionOptions>(pool_->missing_regions())) {
    Status s = pool_->AddRegion(region);
    if (!s.ok()) return s;
  }
  if (hooks_.memory != nullptr || pool_->is_volatile()) return Status::OK();
  for (int i = 1; i < pool_->regions().count(); i++) {
    const RegionSet::Member& m = pool_->regions().at(i);
    Log("region %d: %s, %llu bytes", i, m.region->path().c_str(), static_cast<unsigned long long>(m.region->size()));
  }
  return Status::OK();
}

Status DBImpl::CheckRegionLimits() {
  for (int i = 0; i < pool_->regions().count(); i++) {
    const uint64_t limit = pool_->limit_of(i), used = pool_->used_in(i);
    if (limit == 0 || used <= limit) continue;
    const std::string option = i == 0 ? "Options::pool_size" : "its limit in Options::nvm_regions";
    return Status::InvalidArgument(pool_->regions().at(i).region->path(), "uses " + std::to_string(used) + " bytes; " +
                                                                              option + " is " + std::to_string(limit));
  }
  return Status::OK();
}

Status DBImpl::AddRegion(const NvmRegion& region) {
  return WithMemory([&] { return DoAddRegion(region); });
}

Status DBImpl::DoAddRegion(const NvmRegion& region) {
  MutexLock adding(&region_mutex_);
  Options with = options_;
  with.nvm_regions.assign(1, region);
  Status s = CheckOptions(with, hooks_.any_sizes);
  Placement placement;
  if (s.ok()) s = Placement::Make(with, NumaTopology(), &placement);
  if (s.ok()) {
    MutexLock lock(&mutex_);
    s = background_error_;
  }
  if (s.ok()) s = pool_->AddRegion(RegionsOf(with).front());
  LogStatus(("add region " + region.path).c_str(), s);
  if (!s.ok()) return s;
  LogStatus("STORE", KeepStore(StoreState::kInUse));  // where a region is can be found out without it
  MutexLock lock(&mutex_);
  // Whoever waits for space may have it now.
  reclaimed_at_.store(UINT64_MAX, std::memory_order_relaxed);  // relaxed: a hint
  scheduler_.SpaceAdded();
  UpdateThrottle();
  work_.SignalAll();
  done_.SignalAll();
  return s;
}

}  // namespace miodb
