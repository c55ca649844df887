#include "tools/inspect/arguments.h"

#include <sys/stat.h>

#include <cstdio>

#include "miodb/env.h"
#include "miodb/options.h"
#include "src/db/store/region_places.h"
#include "src/db/store/store_file.h"
#include "src/format/file_names.h"
#include "src/inspect/verify/verify.h"
#include "src/log/file_log.h"
#include "src/util/files/posix_file.h"

namespace miodb {

namespace {

bool IsDirectory(const std::string& path) {
  struct stat st;
  return stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}

// The database's directory; path is that, or its pool.
std::string DirectoryOfDatabase(const std::string& path) { return IsDirectory(path) ? path : DirectoryOf(path); }

// STORE says where the pool is. Without a STORE that can be read it is looked for where a pool is by default.
std::string PoolAt(const std::string& path) {
  if (!IsDirectory(path)) return path;
  StoreDescriptor store;
  return PoolPath(ReadStore(Env::Default(), path, &store).ok() ? store.pool_path : "", path);
}

}  // namespace

bool IsVolatile(const std::string& path) {
  StoreDescriptor store;
  return ReadStore(Env::Default(), path, &store).ok() && store.state == StoreState::kInUse && store.pool == Uuid{};
}

bool FindLogFolder(const char* program, const std::string& path, const std::string& wal_dir, std::string* folder,
                   uint64_t* log_id, ExitCode* code) {
  const std::string name = DirectoryOfDatabase(path);
  StoreDescriptor store;
  const Status s = ReadStore(Env::Default(), name, &store);
  if (!s.ok() && !s.IsNotFound()) {
    fprintf(stderr, "%s: %s\n", program, s.ToString().c_str());
    *code = s.IsCorruption() ? kExitDamage : kExitCannotRun;
    return false;
  }
  folder->clear();
  *log_id = store.log.id;
  if (s.ok() && !store.log.in_use) return true;
  if (s.ok() || IsVolatile(path)) *folder = WalFolder(store.log.wal_dir, name);
  if (!wal_dir.empty()) *folder = wal_dir;
  OwnerMark owner;
  if (!s.ok() && !wal_dir.empty() && FileLog::ReadOwner(Env::Default(), wal_dir, &owner).ok()) *log_id = owner.id;
  return true;
}

bool OpenImage(const char* program, const std::string& path, const std::vector<std::string>& regions,
               std::unique_ptr<PoolImage>* image, ExitCode* code) {
  Options options;
  for (const std::string& region : regions) {
    options.nvm_regions.emplace_back();
    options.nvm_regions.back().path = region;
  }
  Status s = PoolImage::Open(PoolAt(path), image, PlacesOfRegions(options, DirectoryOfDatabase(path)));
  *code = kExitCannotRun;
  if (s.IsNotFound() && IsVolatile(path)) {
    s = Status::NotSupported(
        path, "the pool is volatile memory: what there is are log files, and the table files that " + StorePath(path) +
                  " names");
  }
  if (s.ok()) {
    s = CheckReadable(**image);
    if (s.IsCorruption()) *code = kExitDamage;
  }
  if (!s.ok()) fprintf(stderr, "%s: %s\n", program, s.ToString().c_str());
  return s.ok();
}

}  // namespace miodb
