// The error of a call that finds no room in the pool: the figures of the pool, and the savepoints that keep space.
//
// Threads: the caller has the database's mutex, which versions need.

#ifndef MIODB_SRC_DB_CONTEXT_POOL_FULL_H_
#define MIODB_SRC_DB_CONTEXT_POOL_FULL_H_

#include <string>

#include "miodb/status.h"

namespace miodb {

class Pool;
class VersionSet;

// Returns NoSpace. The text what names the work that finds no room; for a write it is empty.
Status PoolFull(const Pool& pool, const VersionSet& versions, const std::string& what);

}  // namespace miodb

#endif  // MIODB_SRC_DB_CONTEXT_POOL_FULL_H_
