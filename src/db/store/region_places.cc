// Regions as three places know them: the options, STORE, and the open pool.

#include "src/db/store/region_places.h"

#include "src/db/store/store_file.h"
#include "src/format/file_names.h"
#include "src/util/check/check.h"
#include "src/util/files/posix_file.h"

namespace miodb {

// A region is known by the uuid in its header, wherever its file lies. The places to look at, the likeliest first, are:
// where the options say, where it was last, beside the pool, and where the user wants it to be looked for.
RegionPlaces PlacesOfRegions(const Options& options, const std::string& name) {
  RegionPlaces places;
  for (const NvmRegion& region : options.nvm_regions) places.AddNeighbourhood(region.path);
  StoreDescriptor store;
  ReadStore(options.env, name, &store).IgnoreError();  // then it names none
  for (const StoreDescriptor::Region& region : store.regions) places.AddNeighbourhood(region.path);
  places.AddFolder(DirectoryOf(PoolPath(options, name)));
  for (const std::string& folder : options.nvm_region_search) places.AddFolder(folder);
  return places;
}

std::vector<Pool::RegionOptions> RegionsOf(const Options& options) {
  std::vector<Pool::RegionOptions> regions;
  for (const NvmRegion& region : options.nvm_regions) {
    regions.push_back({region.path, region.limit, RegionNodes{region.node, kAnyNode}});
  }
  return regions;
}

// The pool's own file is no further region: STORE names that by its uuid and path.
std::vector<StoreDescriptor::Region> RegionsOfStore(const Pool& pool) {
  CHECK_GE(pool.regions().count(), 1);
  std::vector<StoreDescriptor::Region> regions;
  for (int i = 1; i < pool.regions().count(); i++) {
    const RegionSet::Member& m = pool.regions().at(i);
    regions.push_back({MakeUuid(m.uuid), m.region->path()});
  }
  return regions;
}

}  // namespace miodb
