// LevelDB's iterator.h: miodb/iterator.h in namespace leveldb, with the include guard and the other headers that
// programs find in LevelDB's.

#ifndef STORAGE_LEVELDB_INCLUDE_ITERATOR_H_
#define STORAGE_LEVELDB_INCLUDE_ITERATOR_H_

#include "leveldb/export.h"
#include "leveldb/miodb_namespace.h"
#include "leveldb/slice.h"
#include "leveldb/status.h"
#include "miodb/iterator.h"

#endif  // STORAGE_LEVELDB_INCLUDE_ITERATOR_H_
