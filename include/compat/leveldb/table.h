// LevelDB's table.h: miodb/table.h in namespace leveldb, with the include guard and the other headers that programs
// find in LevelDB's.

#ifndef STORAGE_LEVELDB_INCLUDE_TABLE_H_
#define STORAGE_LEVELDB_INCLUDE_TABLE_H_

#include <cstdint>

#include "leveldb/export.h"
#include "leveldb/iterator.h"
#include "leveldb/miodb_namespace.h"
#include "miodb/table.h"

#endif  // STORAGE_LEVELDB_INCLUDE_TABLE_H_
