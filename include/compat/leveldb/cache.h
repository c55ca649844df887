// LevelDB's cache.h: miodb/cache.h in namespace leveldb, with the include guard and the other headers that programs
// find in LevelDB's.

#ifndef STORAGE_LEVELDB_INCLUDE_CACHE_H_
#define STORAGE_LEVELDB_INCLUDE_CACHE_H_

#include <cstdint>

#include "leveldb/export.h"
#include "leveldb/miodb_namespace.h"
#include "leveldb/slice.h"
#include "miodb/cache.h"

#endif  // STORAGE_LEVELDB_INCLUDE_CACHE_H_
