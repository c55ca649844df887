#include <memory>
#include <vector>

#include "miodb/db.h"
#include "miodb/env.h"
#include "src/db/file_names.h"
#include "src/db/region_places.h"
#include "src/db/repairer.h"
#include "src/db/ssd_options.h"
#include "src/log/file_log.h"
#include "src/log/log_place.h"
#include "src/nvm/memory_env.h"
#include "src/nvm/pool.h"
#include "src/nvm/pool_image.h"
#include "src/ssd/ssd_store.h"
#include "src/util/held_lock.h"
#include "src/util/no_throw.h"
#include "src/version/ssd_manifest.h"

namespace miodb {

namespace {

// The id of the log, which is a volatile database's own. Until a repair of one has begun another log, it bears the id
// that the files in ssd_path have. False if it cannot be read.
bool ReadLogId(const std::string& name, const Options& options, const std::string& folder, uint64_t* log_id) {
  Env* const env = options.env;
  uint64_t old_id, new_id;
  SsdManifest manifest;
  if (!SsdManifest::Read(env, SsdManifestPath(name), &manifest).ok()) return false;
  *log_id = manifest.store_id;
  const bool repaired = !options.ssd_path.empty() && SsdStore::ReadOwner(env, RepairedSsdPath(options), &new_id).ok() &&
                        new_id == *log_id;
  if (repaired && SsdStore::ReadOwner(env, options.ssd_path, &old_id).ok() && FileLog::IsOwnedBy(env, folder, old_id)) {
    *log_id = old_id;
  }
  return true;
}

// Removes the log files of a database that is not open.
Status DestroyFileLog(const std::string& name, const Options& options) {
  Env* const env = options.env;
  LogPlace place;
  Status s = LogPlace::Read(env, WalDirPath(name), &place);
  if (s.ok()) {
    const std::string folder = WalFolder(place.wal_dir, name);
    const bool is_volatile = env->FileExists(SsdManifestPath(name));
    const bool known = !is_volatile || ReadLogId(name, options, folder, &place.log_id);
    s = FileLog::Destroy(env, folder, known ? &place.log_id : nullptr);
    if (s.ok() && folder != name) env->RemoveDir(folder).IgnoreError();  // foreign files keep it
  }
  // The directory itself may have had a log before another folder had it, or, if that cannot be read, have it still.
  const bool unknown = s.IsCorruption();
  if (s.IsNotFound() || unknown) s = Status::OK();
  std::vector<LogFile> files;
  if (s.ok()) s = FileLog::List(env, name, &files);
  if (s.ok() && (unknown || files.empty()) && FileLog::IsOwned(env, name)) s = FileLog::Destroy(env, name, nullptr);
  return s.ok() && env->FileExists(WalDirPath(name)) ? env->RemoveFile(WalDirPath(name)) : s;
}

// Removes a pool, from where the Env keeps it.
Status DestroyPool(const std::string& path, const Options& options, const std::string& name) {
  MemoryEnv* const memory = MemoryEnv::Of(options.env);
  if (memory == nullptr) return Pool::Destroy(path, PlacesOfRegions(options, name));
  return memory->FileExists(path) ? memory->RemoveFile(path) : Status::OK();
}

// DestroyDB, but for what is thrown.
Status Destroy(const std::string& name, const Options& options) {
  Env* const env = options.env;
  const std::string pool = PoolPath(options, name);
  if (!env->FileExists(name) && !env->FileExists(pool)) return Status::OK();
  HeldLock lock(env);
  Status s;
  if (env->FileExists(name)) {
    s = lock.Lock(LockPath(name));
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
  if (s.ok()) s = DestroyPool(pool, options, name);
  if (s.ok()) s = DestroyPool(RepairedPoolPath(options, name), options, name);
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
  if (s.ok() && lock.held()) {
    lock.Unlock();
    env->RemoveFile(LockPath(name)).IgnoreError();
    env->RemoveDir(name).IgnoreError();  // foreign files stay, and the directory with them
  }
  return s;
}

}  // namespace

Status DestroyDB(const std::string& name, const Options& options) {
  return NoThrow(name, [&] { return Destroy(name, options); });
}

}  // namespace miodb
