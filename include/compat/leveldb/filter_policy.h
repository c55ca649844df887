// LevelDB's filter_policy.h: miodb/filter_policy.h in namespace leveldb, with the include guard and the other headers
// that programs find in LevelDB's.

#ifndef STORAGE_LEVELDB_INCLUDE_FILTER_POLICY_H_
#define STORAGE_LEVELDB_INCLUDE_FILTER_POLICY_H_

#include <string>

#include "leveldb/export.h"
#include "leveldb/miodb_namespace.h"
#include "miodb/filter_policy.h"

#endif  // STORAGE_LEVELDB_INCLUDE_FILTER_POLICY_H_
