// LevelDB's comparator.h: miodb/comparator.h in namespace leveldb, with the include guard and the other headers that
// programs find in LevelDB's.

#ifndef STORAGE_LEVELDB_INCLUDE_COMPARATOR_H_
#define STORAGE_LEVELDB_INCLUDE_COMPARATOR_H_

#include <string>

#include "leveldb/export.h"
#include "leveldb/miodb_namespace.h"
#include "miodb/comparator.h"

#endif  // STORAGE_LEVELDB_INCLUDE_COMPARATOR_H_
