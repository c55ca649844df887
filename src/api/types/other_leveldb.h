// Keeps the library for LevelDB programs and a real LevelDB apart.
//
// The two libraries define the same names for classes of different layout. Where the dynamic linker can reach both from
// one scope, it gives the calls of one to the other, and memory is overwritten without a word. So the process ends with
// a message: when the library is loaded, or, if the other one came later, at the first Options that anybody makes,
// which is what programs of either begin with. Two that are loaded with RTLD_LOCAL, by two plugins, do not meet and are
// left alone.
//
// Threads: any.

#ifndef MIODB_SRC_API_TYPES_OTHER_LEVELDB_H_
#define MIODB_SRC_API_TYPES_OTHER_LEVELDB_H_

namespace miodb {

// Ends the process if names of this library are another LevelDB's as well. Looks only when something was loaded since
// the last call.
void CheckNoOtherLevelDB() noexcept;

}  // namespace miodb

#endif  // MIODB_SRC_API_TYPES_OTHER_LEVELDB_H_
