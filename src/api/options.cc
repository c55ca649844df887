#include "miodb/options.h"

#include "miodb/comparator.h"
#include "miodb/env.h"
#include "src/api/other_leveldb.h"

namespace miodb {

Options::Options() : comparator(BytewiseComparator()), env(Env::Default()) {
#ifdef MIODB_AS_LEVELDB
  CheckNoOtherLevelDB();
#endif
}

}  // namespace miodb
