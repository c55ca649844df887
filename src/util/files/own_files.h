// How a database reaches its own files.
//
// A program may name a link, as with LevelDB: Env::Default() and Env::WithAccess follow it. The names in a database's
// folders are the library's, and who else may write there could have put a link in the place of a file: what is made
// or written under them is never reached through a symbolic link. The error is an IOError that names the link.
//
// Threads: any.

#ifndef MIODB_SRC_UTIL_FILES_OWN_FILES_H_
#define MIODB_SRC_UTIL_FILES_OWN_FILES_H_

#include "miodb/env.h"

namespace miodb {

// Whether a file that is written may be reached through a symbolic link of its name. Links among the folders above it
// are followed in any case.
enum class Links { kFollowed, kRefused };

// Whether this is one of the system's, not the program's.
bool IsSystemEnv(const Env* env);

// For an Env of the system: the Env with the same access that writes through no link. An Env of the program goes by its
// own rules and is returned as it is.
Env* RefusingLinks(Env* env);

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_FILES_OWN_FILES_H_
