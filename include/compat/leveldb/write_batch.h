// LevelDB's write_batch.h: miodb/write_batch.h in namespace leveldb, with the include guard and the other headers that
// programs find in LevelDB's.

#ifndef STORAGE_LEVELDB_INCLUDE_WRITE_BATCH_H_
#define STORAGE_LEVELDB_INCLUDE_WRITE_BATCH_H_

#include <string>

#include "leveldb/export.h"
#include "leveldb/miodb_namespace.h"
#include "leveldb/status.h"
#include "miodb/write_batch.h"

#endif  // STORAGE_LEVELDB_INCLUDE_WRITE_BATCH_H_
