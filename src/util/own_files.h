// How a database reaches its own files.
//
// A program may name a link, as with LevelDB: Env::Default() and Env::WithAccess follow it. The names in a database's
// folders are the library's, and who else may write there could have put a link in the place of a file: what is made
// or written under them is never reached through a symbolic link. It is an IOError that names the link.
//
// Threads: any.

#ifndef MIODB_SRC_UTIL_OWN_FILES_H_
#define MIODB_SRC_UTIL_OWN_FILES_H_

#include "miodb/env.h"

namespace miodb {

// Whether a file that is written may be reached through a symbolic link of its name. Links among the folders above it
// are followed in any case.
enum class Links { kFollowed, kRefused };

// Whether this is one of the system's, not the program's.
bool IsSystemEnv(const Env* env);

// Of one of the system's, that with the same access which writes through no link. One of the program's goes by its own
// rules, and is returned.
Env* RefusingLinks(Env* env);

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_OWN_FILES_H_
