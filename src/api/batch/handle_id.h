// The id that a handle of a column family stands for in calls that may go without one.

#ifndef MIODB_SRC_API_BATCH_HANDLE_ID_H_
#define MIODB_SRC_API_BATCH_HANDLE_ID_H_

#include <cstdint>

#include "miodb/column_family.h"
#include "src/util/bytes/family_key.h"

namespace miodb {

// Without a handle, or with one from a class that is no database: the default family.
inline uint32_t IdOf(const ColumnFamilyHandle* family) { return family == nullptr ? kDefaultFamily : family->GetID(); }

}  // namespace miodb

#endif  // MIODB_SRC_API_BATCH_HANDLE_ID_H_
