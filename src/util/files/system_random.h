// Random numbers of the system, which nobody can guess: for ids and secrets.
//
// Threads: any number at once.

#ifndef MIODB_SRC_UTIL_FILES_SYSTEM_RANDOM_H_
#define MIODB_SRC_UTIL_FILES_SYSTEM_RANDOM_H_

#include <cstdint>

namespace miodb {

uint64_t SystemRandom64();

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_FILES_SYSTEM_RANDOM_H_
