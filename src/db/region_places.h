// Where a database's further regions may be: where the options say, where they were when it was last open, and in the
// folders around.
//
// The file REGIONS in the database directory remembers paths, one "uuid path" a line. It is a hint: regions are known
// by their uuids, and without it they are found if the options say where to look.

#ifndef MIODB_SRC_DB_REGION_PLACES_H_
#define MIODB_SRC_DB_REGION_PLACES_H_

#include <string>
#include <vector>

#include "miodb/options.h"
#include "src/nvm/pool.h"
#include "src/nvm/region_finder.h"

namespace miodb {

RegionPlaces PlacesOfRegions(const Options& options, const std::string& name);

// Options::nvm_regions as the pool takes them.
std::vector<Pool::RegionOptions> RegionsOf(const Options& options);

// Writes REGIONS anew if it does not say where the pool's regions are.
Status RememberRegions(Env* env, const std::string& name, const Pool& pool);

}  // namespace miodb

#endif  // MIODB_SRC_DB_REGION_PLACES_H_
