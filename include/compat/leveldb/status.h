// LevelDB's status.h: miodb/status.h in namespace leveldb, with the include guard and the other headers that programs
// find in LevelDB's.

#ifndef STORAGE_LEVELDB_INCLUDE_STATUS_H_
#define STORAGE_LEVELDB_INCLUDE_STATUS_H_

#include <algorithm>
#include <string>

#include "leveldb/export.h"
#include "leveldb/miodb_namespace.h"
#include "leveldb/slice.h"
#include "miodb/status.h"

#endif  // STORAGE_LEVELDB_INCLUDE_STATUS_H_
