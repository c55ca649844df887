// The files of a database.

#ifndef MIODB_SRC_DB_FILE_NAMES_H_
#define MIODB_SRC_DB_FILE_NAMES_H_

#include <string>

#include "miodb/options.h"

namespace miodb {

inline std::string PoolPath(const Options& options, const std::string& name) {
  return options.pool_path.empty() ? name + "/pool" : options.pool_path;
}
inline std::string LockPath(const std::string& name) { return name + "/LOCK"; }
inline std::string LogPath(const std::string& name) { return name + "/LOG"; }

// What a repair says of its losses.
inline std::string LostPath(const std::string& name) { return name + "/LOST"; }

// Where a repair keeps the lock of the database that it builds, and that database's pool.
inline std::string RepairDirectory(const std::string& name) { return name + "/repair.tmp"; }
inline std::string RepairedPoolPath(const Options& options, const std::string& name) {
  return PoolPath(options, name) + ".repaired";
}

// What the pool is called after its n-th repair, n >= 1.
inline std::string DamagedPoolPath(const Options& options, const std::string& name, int n) {
  return PoolPath(options, name) + ".damaged" + (n == 1 ? "" : "." + std::to_string(n));
}

}  // namespace miodb

#endif  // MIODB_SRC_DB_FILE_NAMES_H_
