// The name of a database's mutex, for the analysis of locks.

#ifndef MIODB_SRC_DB_CONTEXT_DB_MUTEX_H_
#define MIODB_SRC_DB_CONTEXT_DB_MUTEX_H_

#include "src/util/check/thread_annotations.h"

namespace miodb {

// The mutex of the database at hand, as the analysis of locks knows it: parts share one mutex, and the analysis cannot
// see that the pointers which they hold are to the same one. The name does nothing at run time.
class CAPABILITY("mutex") DbMutexName {};
inline DbMutexName db_mutex;

}  // namespace miodb

#endif  // MIODB_SRC_DB_CONTEXT_DB_MUTEX_H_
