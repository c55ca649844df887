// LevelDB's slice.h: miodb/slice.h in namespace leveldb, with the include guard and the other headers that programs
// find in LevelDB's.

#ifndef STORAGE_LEVELDB_INCLUDE_SLICE_H_
#define STORAGE_LEVELDB_INCLUDE_SLICE_H_

#include <cassert>
#include <cstddef>
#include <cstring>
#include <string>

#include "leveldb/export.h"
#include "leveldb/miodb_namespace.h"
#include "miodb/slice.h"

#endif  // STORAGE_LEVELDB_INCLUDE_SLICE_H_
