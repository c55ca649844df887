// Where a database's further regions may be: where the options say, where they were when it was last open, and in the
// folders around.
//
// The paths that STORE has are hints: regions are known by their uuids, and without it they are found if the options
// say where to look.

#ifndef MIODB_SRC_DB_STORE_REGION_PLACES_H_
#define MIODB_SRC_DB_STORE_REGION_PLACES_H_

#include <string>
#include <vector>

#include "miodb/options.h"
#include "src/format/store_descriptor.h"
#include "src/nvm/pool/pool.h"
#include "src/nvm/region/region_finder.h"

namespace miodb {

RegionPlaces PlacesOfRegions(const Options& options, const std::string& name);

// Options::nvm_regions as the pool takes them.
std::vector<Pool::RegionOptions> RegionsOf(const Options& options);

// The pool's further regions as STORE names them.
std::vector<StoreDescriptor::Region> RegionsOfStore(const Pool& pool);

}  // namespace miodb

#endif  // MIODB_SRC_DB_STORE_REGION_PLACES_H_
