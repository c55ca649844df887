// An Env whose files are in memory, for tests and for databases that need not outlive the process.

#ifndef MIODB_INCLUDE_MEMENV_H_
#define MIODB_INCLUDE_MEMENV_H_

#include "miodb/export.h"

namespace miodb {

class Env;

// Makes an Env with no files in it, which the caller deletes after all databases and files that it gave. Threads and
// time are those of *base_env, which stays the caller's and must outlive it. Every directory that is named is there.
//
// A database on it has its pool in anonymous memory, which grows up to Options::pool_size, or if that is 0 up to the
// memory of the machine, and keeps it until the database is destroyed or the Env is deleted: it can be closed and
// opened again. Its persist mode is emulated. Such a pool cannot be placed on NUMA nodes, repaired or dumped
// (NotSupported).
MIODB_EXPORT Env* NewMemEnv(Env* base_env);

}  // namespace miodb

#endif  // MIODB_INCLUDE_MEMENV_H_
