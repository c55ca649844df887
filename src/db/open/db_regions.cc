// Regions beyond the pool's own file. How one is added is told in src/nvm/pool/pool_regions.cc.

#include "src/db/context/options_check.h"
#include "src/db/open/db_impl.h"
#include "src/db/open/db_parts.h"
#include "src/db/store/places.h"
#include "src/db/store/region_places.h"
#include "src/util/check/check.h"

namespace miodb {

// At the end of an open, when recovery has found nothing amiss: what the pool's header page has lost cannot be taken
// for a region that never was. Readers, which find a region as soon as the pool names it, learn its place from STORE
// before.
Status DBImpl::AddMissingRegions() {
  // A copy: each call changes what is missing.
  for (const Pool::RegionOptions& region : std::vector<Pool::RegionOptions>(context_->pool->missing_regions())) {
    Status s = store_->existed() ? store_->Keep(StoreState::kInUse, region.path) : Status::OK();
    if (s.ok()) s = context_->pool->AddRegion(region);
    if (!s.ok()) return s;
  }
  if (context_->hooks.memory != nullptr || context_->pool->is_volatile()) return Status::OK();
  for (int i = 1; i < context_->pool->regions().count(); i++) {
    const RegionSet::Member& m = context_->pool->regions().at(i);
    context_->Log("region %d: %s, %llu bytes", i, m.region->path().c_str(),
                  static_cast<unsigned long long>(m.region->size()));
  }
  return Status::OK();
}

Status DBImpl::AddRegion(const NvmRegion& region) {
  return context_->WithMemory([&] { return DoAddRegion(region); });
}

// The pool makes the region's file and names it in its header page by itself (pool_regions.cc); a crash in between
// leaves a file that no pool names. The database's mutex is not held meanwhile, because sizing a file may take seconds.
Status DBImpl::DoAddRegion(const NvmRegion& region) {
  MutexLock adding(&region_mutex_);
  CHECK(context_->pool != nullptr);
  Options with = context_->options;
  with.nvm_regions.assign(1, region);
  Status s = CheckOptions(with, context_->hooks);
  Placement placement;
  if (s.ok()) s = Placement::Make(with, NumaTopology(), &placement);
  if (s.ok()) {
    DbLock lock(control_.get());
    s = control_->error();
  }
  if (s.ok()) s = CheckNameLength("nvm_regions", region.path);
  if (s.ok()) s = store_->Keep(StoreState::kInUse, region.path);
  if (!s.ok()) return s;
  s = context_->pool->AddRegion(RegionsOf(with).front());
  const Status kept = store_->Keep(StoreState::kInUse);
  if (!kept.ok()) context_->LogStatus("STORE", kept);  // where a region is can be found out without it
  if (!s.ok()) {
    context_->LogStatus(("add region " + region.path).c_str(), s);
    return s;
  }
  context_->Log("added region %s", region.path.c_str());
  DbLock lock(control_.get());
  space_->CameFree();
  return s;
}

}  // namespace miodb
