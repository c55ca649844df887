// LevelDB's options.h: miodb/options.h in namespace leveldb, with the include guard and the other headers that programs
// find in LevelDB's.

#ifndef STORAGE_LEVELDB_INCLUDE_OPTIONS_H_
#define STORAGE_LEVELDB_INCLUDE_OPTIONS_H_

#include <cstddef>

#include "leveldb/export.h"
#include "leveldb/miodb_namespace.h"
#include "miodb/options.h"

#endif  // STORAGE_LEVELDB_INCLUDE_OPTIONS_H_
