// The file STORE in a database directory: the store descriptor (format/store_descriptor.h), which names the database's
// parts. A database has one from its first step of being made until its last of being destroyed, unless nothing of it
// outlives its process.
//
// Threads: one call for a database at a time.

#ifndef MIODB_SRC_DB_STORE_STORE_FILE_H_
#define MIODB_SRC_DB_STORE_STORE_FILE_H_

#include <optional>
#include <string>

#include "miodb/env.h"
#include "miodb/status.h"
#include "src/format/store_descriptor.h"

namespace miodb {

// NotFound if there is no such file. Corruption, saying what can be done, if it is damaged. Paths in the directory
// begin with its name as it is given here.
Status ReadStore(Env* env, const std::string& name, StoreDescriptor* store);

// Replaces the file and syncs it. A crash leaves the old descriptor or the new one, and an error the old one; but where
// it is *in_doubt as well, whether a crash leaves the new one is not known. Null: nobody asks.
Status WriteStore(Env* env, const std::string& name, const StoreDescriptor& store, Status* in_doubt = nullptr);

// Makes the file and its name durable, whoever wrote it.
Status SyncStore(Env* env, const std::string& name);

// The part of the path below the folder; nothing if the path does not lie in the folder. The two are compared name by
// name, as they are written: links are not followed, and a path that leaves the folder again is not in it.
std::optional<std::string> PathBelow(const std::string& folder, const std::string& path);

// The path without links, so that two names of one file are the same. A path that the system does not know keeps its
// links.
std::string RealPath(const std::string& path);

// A number, and a uuid, that were never drawn before.
uint64_t NewId();
Uuid NewUuid();

}  // namespace miodb

#endif  // MIODB_SRC_DB_STORE_STORE_FILE_H_
