// LevelDB's helpers/memenv.h: miodb/memenv.h in namespace leveldb, with the include guard and the other headers that
// programs find in LevelDB's.

#ifndef STORAGE_LEVELDB_HELPERS_MEMENV_MEMENV_H_
#define STORAGE_LEVELDB_HELPERS_MEMENV_MEMENV_H_

#include "leveldb/export.h"
#include "leveldb/miodb_namespace.h"
#include "miodb/memenv.h"

#endif  // STORAGE_LEVELDB_HELPERS_MEMENV_MEMENV_H_
