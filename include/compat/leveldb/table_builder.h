// LevelDB's table_builder.h: miodb/table_builder.h in namespace leveldb, with the include guard and the other headers
// that programs find in LevelDB's.

#ifndef STORAGE_LEVELDB_INCLUDE_TABLE_BUILDER_H_
#define STORAGE_LEVELDB_INCLUDE_TABLE_BUILDER_H_

#include <cstdint>

#include "leveldb/export.h"
#include "leveldb/miodb_namespace.h"
#include "leveldb/options.h"
#include "leveldb/status.h"
#include "miodb/table_builder.h"

#endif  // STORAGE_LEVELDB_INCLUDE_TABLE_BUILDER_H_
