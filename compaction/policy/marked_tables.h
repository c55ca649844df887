// Finds the tables that refer to extents which are marked for evacuation (Extent::evacuate).

#ifndef MIODB_COMPACTION_POLICY_MARKED_TABLES_H_
#define MIODB_COMPACTION_POLICY_MARKED_TABLES_H_

#include <functional>

#include "src/version/version.h"

namespace miodb {

// Notes with each table of the version whether it refers to a marked extent (PMTable::marked). A table that refers
// to one is left at its first such entry; of another all words are read, unless the table is older than all marked
// extents. stop: asked before each table; the search ends when it says so. Threads: one at a time, without a lock.
void MarkTables(const Version& version, const std::function<bool()>& stop);

}  // namespace miodb

#endif  // MIODB_COMPACTION_POLICY_MARKED_TABLES_H_
