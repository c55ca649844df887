// The files of a database, and its info log.

#ifndef MIODB_SRC_FORMAT_FILE_NAMES_H_
#define MIODB_SRC_FORMAT_FILE_NAMES_H_

#include <memory>
#include <string>

#include "miodb/env.h"
#include "miodb/options.h"
#include "miodb/status.h"
#include "src/util/check/check.h"
#include "src/util/files/own_files.h"

namespace miodb {

inline std::string PoolPath(const std::string& pool_path, const std::string& name) {
  return pool_path.empty() ? name + "/pool" : pool_path;
}
inline std::string PoolPath(const Options& options, const std::string& name) {
  return PoolPath(options.pool_path, name);
}
inline std::string LockPath(const std::string& name) { return name + "/LOCK"; }
inline std::string LogPath(const std::string& name) { return name + "/LOG"; }

// Names the database's parts (db/store/store_file.h).
inline std::string StorePath(const std::string& name) { return name + "/STORE"; }

// Pins of readers in other processes (nvm/readers/reader_page.h).
inline std::string ReadersPath(const std::string& name) { return name + "/READERS"; }

// In a directory in which a checkpoint is being made (db/copy/checkpoint.h).
inline std::string CheckpointMarkPath(const std::string& name) { return name + "/CHECKPOINT"; }

inline std::string WalFolder(const std::string& wal_dir, const std::string& name) {
  return wal_dir.empty() ? name : wal_dir;
}

// The losses of a repair, in words.
inline std::string LostPath(const std::string& name) { return name + "/LOST"; }

// Where a repair keeps the lock of the database that it builds, and that database's pool.
inline std::string RepairDirectory(const std::string& name) { return name + "/repair.tmp"; }
inline std::string RepairedPoolPath(const Options& options, const std::string& name) {
  return PoolPath(options, name) + ".repaired";
}

inline std::string RepairedRegionPath(const std::string& region) { return region + ".repaired"; }

inline std::string RepairedSsdPath(const Options& options) { return options.ssd_path + ".repaired"; }

// The name of the damaged pool, or of the SSD tier's damaged directory, after its n-th repair, n >= 1.
inline std::string DamagedPath(const std::string& path, int n) {
  DCHECK_GE(n, 1);
  return path + ".damaged" + (n == 1 ? "" : "." + std::to_string(n));
}

// The first such name that is free.
inline std::string FreeDamagedPath(Env* env, const std::string& path) {
  int n = 1;
  while (env->FileExists(DamagedPath(path, n))) n++;
  return DamagedPath(path, n);
}

// The options with the Env for the database's own files: as file_access asks, unless the program has chosen one.
inline Options WithOwnFiles(Options options) {
  if (options.env == Env::Default()) options.env = Env::WithAccess(options.file_access);
  options.env = RefusingLinks(options.env);
  return options;
}

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_FILE_NAMES_H_
