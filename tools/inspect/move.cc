// Where the parts of a closed database are: as it says itself, and as it is to say. docs/tools.md.

#include <cstdio>
#include <memory>
#include <string>

#include "miodb/env.h"
#include "src/db/store/places.h"
#include "src/db/store/region_places.h"
#include "src/db/store/store_file.h"
#include "src/format/file_names.h"
#include "src/inspect/image/manifest_image.h"
#include "src/nvm/pool/pool_image.h"
#include "tools/inspect/inspect.h"

namespace miodb {

ExitCode MoveParts(const char* program, const MoveRequest& request) {
  Options options;
  for (const std::string& region : request.regions) {
    options.nvm_regions.emplace_back();
    options.nvm_regions.back().path = region;
  }
  StoreDescriptor store;
  Status s = ReadStore(Env::Default(), request.directory, &store);
  options.pool_path = request.pool.value_or(store.pool_path);
  options.wal_dir = request.wal.value_or(store.log.wal_dir);
  options.ssd_path = request.ssd.value_or(store.ssd_path);
  if (s.ok()) s = MoveStore(request.directory, options);
  if (s.ok()) return kExitOk;
  fprintf(stderr, "%s: %s\n", program, s.ToString().c_str());
  return s.IsInvalidArgument() || s.IsCorruption() ? kExitDamage : kExitCannotRun;
}

// Places inside of the directory are those that the database knows without being told. A volatile pool's database has
// its log in files, and so had one whose files still hold something.
Status FindPlaces(const std::string& directory, Options* options) {
  StoreDescriptor store;
  Status s = ReadStore(Env::Default(), directory, &store);
  if (!s.ok()) return s;
  const bool is_volatile = store.state == StoreState::kInUse && store.pool == Uuid{};
  options->pool_path = is_volatile ? "anonymous" : store.pool_path;
  options->ssd_path = store.ssd_path;
  options->wal_dir = store.log.wal_dir;
  if (store.log.in_use || is_volatile) options->log_mode = kLogFile;
  return s;
}

// An open moves log that it replays into tables, and keeps that log where it keeps any. So the answer is read before an
// open, from the pool as it lies there.
bool KeepsLog(const std::string& directory, const Options& options) {
  std::unique_ptr<PoolImage> image;
  const Status s = PoolImage::Open(PoolPath(options, directory), &image, PlacesOfRegions(options, directory));
  if (!s.ok()) return !s.IsNotFound();
  const RootSlot root = image->Header().current;
  if (root.epoch == 0 || !image->IsExtent(root.manifest_offset, root.manifest_size)) return true;
  return !ReadManifestArea(*image, root.manifest_offset, root.manifest_size, root.generation).state.kept.by_id.empty();
}

}  // namespace miodb
