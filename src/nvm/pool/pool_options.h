// How a pool is made or opened.

#ifndef MIODB_SRC_NVM_POOL_POOL_OPTIONS_H_
#define MIODB_SRC_NVM_POOL_POOL_OPTIONS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "miodb/options.h"
#include "miodb/placement_policy.h"
#include "src/emulation/nvm_model.h"
#include "src/format/region_table.h"
#include "src/numa/placement.h"
#include "src/nvm/persist/persist_hook.h"
#include "src/nvm/region/region_file.h"
#include "src/nvm/region/region_finder.h"

namespace miodb {

struct PoolRegionOptions {
  std::string path;
  uint64_t limit = 0;  // most bytes; 0: what its file system has
  RegionNodes nodes = {};
};

struct PoolOptions {
  uint64_t limit = 0;   // most bytes of the pool's own file; 0: what the file system has
  uint64_t growth = 0;  // see Options::pool_growth
  PersistMode persist_mode = kPersistAuto;
  MemoryMedium* memory = nullptr;               // not null: the pool lies there, its path is only a name
  RegionNodes nodes = {};                       // where the memory of its own file has to lie
  NvmModel* model = nullptr;                    // not null: what stores and reads are charged to; outlives the pool
  std::vector<PoolRegionOptions> regions = {};  // further regions
  RegionPlaces search = {};                     // where to look for those that are not where regions says
  bool huge_pages = true;
  FileAccess access = FileAccess::kOwner;     // of files that are made
  std::array<uint8_t, kUuidBytes> uuid = {};  // of a new pool; zeros: drawn
  RegionUse use = RegionUse::kOwner;
  uint64_t secret = 0;  // of a new pool; 0: a random one, as it has to be wherever others choose values
  const PlacementPolicy* placement = nullptr;  // in which regions extents are made; null: the default

  // A number that no pool has drawn before.
  uint64_t DrawRandom() const;

  // The bytes of a new uuid.
  std::array<uint8_t, kUuidBytes> DrawUuid() const;
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_POOL_OPTIONS_H_
