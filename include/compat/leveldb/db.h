// LevelDB's db.h: miodb/db.h in namespace leveldb, with the include guard and the other headers that programs find
// in LevelDB's.

#ifndef STORAGE_LEVELDB_INCLUDE_DB_H_
#define STORAGE_LEVELDB_INCLUDE_DB_H_

#include <cstdint>
#include <cstdio>

#include "leveldb/export.h"
#include "leveldb/iterator.h"
#include "leveldb/miodb_namespace.h"
#include "leveldb/options.h"
#include "miodb/db.h"

namespace leveldb {

// The version of LevelDB whose interface this is.
static const int kMajorVersion = 1;
static const int kMinorVersion = 23;

}  // namespace leveldb

#endif  // STORAGE_LEVELDB_INCLUDE_DB_H_
