// An Env whose files are in memory, for tests and for databases that need not outlive the process.
//
//   std::unique_ptr<miodb::Env> env(miodb::NewMemEnv(miodb::Env::Default()));
//   miodb::Options options;
//   options.env = env.get();
//   options.create_if_missing = true;
//   status = miodb::DB::Open(options, "/any/name", &db);
//
// Threads: any number at once.
//
// After a crash: nothing. Syncing is OK and does nothing, so such an Env shows no bug of a missing sync.
//
// Errors are those of env.h: NotFound for a file that does not exist. Direct files are NotSupported, and loggers take
// messages and drop them.

#ifndef MIODB_INCLUDE_MEMENV_H_
#define MIODB_INCLUDE_MEMENV_H_

#include "miodb/export.h"

namespace miodb {

class Env;

// Makes an Env with no files in it, which the caller deletes after all databases and files that it gave. Threads and
// time are those of *base_env, which stays the caller's and must outlive it. Every directory that is named is there: a
// file may be made below any path, and GetChildren of one that nobody made has no names. A lock holds between callers
// of this Env.
//
// A database on it has its pool in anonymous memory, which grows up to Options::pool_size, or if that is 0 up to the
// memory of the machine, and keeps it until the database is destroyed or the Env is deleted: it can be closed and
// opened again. The persist mode is emulated. An anonymous pool of an Env cannot be placed on NUMA nodes, repaired or
// dumped (NotSupported).
MIODB_EXPORT Env* NewMemEnv(Env* base_env);

}  // namespace miodb

#endif  // MIODB_INCLUDE_MEMENV_H_
