#include <memory>
#include <new>

#include "miodb/db.h"
#include "miodb/env.h"
#include "src/db/file_names.h"
#include "src/db/region_places.h"
#include "src/db/repairer.h"
#include "src/db/ssd_options.h"
#include "src/log/file_log.h"
#include "src/nvm/pool.h"
#include "src/nvm/pool_image.h"
#include "src/ssd/ssd_store.h"
#include "src/version/ssd_manifest.h"

namespace miodb {

namespace {

// The id of the database, whose log files bear it. False if it cannot be read.
bool ReadId(const std::string& name, const Options& options, uint64_t* id) {
  SsdManifest manifest;
  if (SsdManifest::Read(options.env, SsdManifestPath(name), &manifest).ok()) {
    *id = manifest.store_id;
    return true;
  }
  SequentialFile* opened = nullptr;
  if (!options.env->NewSequentialFile(PoolPath(options, name), &opened).ok()) return false;
  const std::unique_ptr<SequentialFile> file(opened);
  std::string space(kPoolHeaderSize, '\0');
  Slice page;
  if (!file->Read(space.size(), &page, space.data()).ok() || page.size() < space.size()) return false;
  const PoolHeader header = ReadPoolHeader(page.data(), page.size());
  *id = header.pool_id;
  return header.has_superblock;
}

// Removes the log files of a database that is not open.
Status DestroyFileLog(const std::string& name, const Options& options) {
  Env* const env = options.env;
  if (!env->FileExists(WalDirPath(name))) return Status::OK();
  std::string wal_dir;
  Status s = ReadFileToString(env, WalDirPath(name), &wal_dir);
  const std::string folder = WalFolder(wal_dir, name);
  uint64_t id, old_id, new_id;
  const bool known = ReadId(name, options, &id);
  // Until a repair has begun another log, it bears the id that the files in ssd_path have.
  const bool repaired = known && !options.ssd_path.empty() &&
                        SsdStore::ReadOwner(env, RepairedSsdPath(options), &new_id).ok() && new_id == id;
  if (repaired && SsdStore::ReadOwner(env, options.ssd_path, &old_id).ok() && FileLog::IsOwnedBy(env, folder, old_id)) {
    id = old_id;
  }
  if (s.ok()) s = FileLog::Destroy(env, folder, known ? &id : nullptr);
  if (!s.ok()) return s;
  if (folder != name) env->RemoveDir(folder).IgnoreError();  // foreign files keep it
  return env->RemoveFile(WalDirPath(name));
}

// DestroyDB, but for what runs out of memory. A lock that was had is let go in any case.
Status Destroy(const std::string& name, const Options& options) {
  Env* const env = options.env;
  const std::string pool = PoolPath(options, name);
  if (!env->FileExists(name) && !env->FileExists(pool)) return Status::OK();
  FileLock* lock = nullptr;
  Status s;
  if (env->FileExists(name)) {
    s = env->LockFile(LockPath(name), &lock);
    if (!s.ok()) return s;
  }
  s = DestroyFileLog(name, options);
  if (s.ok() && !options.ssd_path.empty()) {
    s = SsdStore::Destroy(env, options.ssd_path);
    if (s.ok()) s = SsdStore::Destroy(env, RepairedSsdPath(options));
    for (int i = 1; s.ok() && env->FileExists(DamagedPath(options.ssd_path, i)); i++) {
      s = SsdStore::Destroy(env, DamagedPath(options.ssd_path, i));
    }
  }
  if (s.ok()) s = Pool::Destroy(pool, PlacesOfRegions(options, name));
  if (s.ok()) s = Pool::Destroy(RepairedPoolPath(options, name), PlacesOfRegions(options, name));
  for (int i = 1; s.ok() && env->FileExists(DamagedPoolPath(options, name, i)); i++) {
    s = Pool::Destroy(DamagedPoolPath(options, name, i), PlacesOfRegions(options, name));
  }
  const std::string repair = RepairDirectory(name), manifest = SsdManifestPath(name);
  for (int i = 1; s.ok() && env->FileExists(DamagedPath(manifest, i)); i++) {
    s = env->RemoveFile(DamagedPath(manifest, i));
  }
  if (s.ok() && env->FileExists(repair)) s = RemoveRepairFiles(env, name);
  for (const std::string& file : {LogPath(name), LogPath(name) + ".old", LostPath(name), RegionsPath(name),
                                  RegionsPath(name) + ".tmp", WalDirPath(name) + ".tmp", manifest, manifest + ".tmp"}) {
    if (!s.ok() || !env->FileExists(file)) continue;
    s = env->RemoveFile(file);
  }
  if (s.ok() && env->FileExists(repair)) env->RemoveDir(repair).IgnoreError();
  if (lock != nullptr) {
    env->UnlockFile(lock).IgnoreError();
    if (!s.ok()) return s;
    env->RemoveFile(LockPath(name)).IgnoreError();
    env->RemoveDir(name).IgnoreError();  // foreign files stay, and the directory with them
  }
  return s;
}

}  // namespace

Status DestroyDB(const std::string& name, const Options& options) {
  try {
    return Destroy(name, options);
  } catch (const std::bad_alloc&) {
    return Status::IOError(name, "out of memory");
  }
}

}  // namespace miodb
