#include "miodb/options.h"

#include "miodb/comparator.h"
#include "miodb/env.h"
#include "src/api/types/other_leveldb.h"

// Options as a program gets them.

namespace miodb {

// Everything else has its default in the header. In the library for LevelDB programs this is also the place where a
// second LevelDB in the process is found out, because every program makes an Options before anything else.
Options::Options() : comparator(BytewiseComparator()), env(Env::Default()) {
#ifdef MIODB_AS_LEVELDB
  CheckNoOtherLevelDB();
#endif
}

}  // namespace miodb
