// LevelDB's dumpfile.h: miodb/dumpfile.h in namespace leveldb, with the include guard and the other headers that
// programs find in LevelDB's.

#ifndef STORAGE_LEVELDB_INCLUDE_DUMPFILE_H_
#define STORAGE_LEVELDB_INCLUDE_DUMPFILE_H_

#include <string>

#include "leveldb/env.h"
#include "leveldb/export.h"
#include "leveldb/miodb_namespace.h"
#include "leveldb/status.h"
#include "miodb/dumpfile.h"

#endif  // STORAGE_LEVELDB_INCLUDE_DUMPFILE_H_
