// The content of a database's pool as text, for people who want to see what is stored, and in which version of the
// format.
//
// Threads: any; the pool is mapped for reading only, and locked against a database that would open it meanwhile.
//
// Ownership: *dst stays the caller's, who flushes and closes it. Nothing is kept when the call returns.

#ifndef MIODB_INCLUDE_DUMPFILE_H_
#define MIODB_INCLUDE_DUMPFILE_H_

#include <string>

#include "miodb/env.h"
#include "miodb/export.h"
#include "miodb/status.h"

namespace miodb {

// Writes what the pool file fname holds to *dst: what the superblock and the manifest say, then every record of the log
// and of the tables, each item as one line that ends with a newline, in one dst->Append. Bytes of keys and values that
// are not printable are written as \xNN. The pool is not changed. Takes time for everything that the pool holds, and
// memory for its manifest.
//
// Comparators are not needed: records come in the order in which they are stored, log chunks first, and all versions
// of a key with their sequences, also what newer ones hide. Files of the SSD tier and log files are not in it:
// miodb_dump shows all (docs/tools.md). The text is for eyes: its words may change between versions.
//
// Corruption if fname is no pool or is damaged; what was read until then has been written. NotFound if it does not
// exist, IOError if the database is open or *dst fails. NotSupported if *env keeps the file where it cannot be mapped.
MIODB_EXPORT Status DumpFile(Env* env, const std::string& fname, WritableFile* dst);

}  // namespace miodb

#endif  // MIODB_INCLUDE_DUMPFILE_H_
