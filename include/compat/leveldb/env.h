// LevelDB's env.h: miodb/env.h in namespace leveldb, with the include guard and the other headers that programs find
// in LevelDB's.

#ifndef STORAGE_LEVELDB_INCLUDE_ENV_H_
#define STORAGE_LEVELDB_INCLUDE_ENV_H_

#include <cstdarg>
#include <cstdint>
#include <string>
#include <vector>

#include "leveldb/export.h"
#include "leveldb/miodb_namespace.h"
#include "leveldb/status.h"
#include "miodb/env.h"

#endif  // STORAGE_LEVELDB_INCLUDE_ENV_H_
