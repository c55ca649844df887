// Marks extents for evacuation (Extent::evacuate), and finds the tables that refer to them. Without a lock, because
// both look at all that there is. Marks are hints to merges beside them: a mark that is seen late costs a copy more or
// less.
//
// Threads: one at a time.

#ifndef MIODB_COMPACTION_POLICY_MARKED_TABLES_H_
#define MIODB_COMPACTION_POLICY_MARKED_TABLES_H_

#include <functional>

#include "compaction/policy/picker.h"
#include "src/version/version.h"

namespace miodb {

struct MarkedExtents {
  size_t count = 0;
  uint64_t live = 0;  // bytes in them
  bool same = false;  // as were marked before
};

// Marks those extents of the version that the request asks for, and no others.
MarkedExtents MarkExtents(const Version& version, const MarkRequest& request);

// Notes with each table of the version whether it refers to a marked extent (PMTable::marked), and calls found for
// those that do. A table that refers to one is left at its first such entry; of another all words are read, unless the
// table is older than all marked extents. stop: asked before each table; the search ends when it says so.
void MarkTables(const Version& version, const std::function<bool()>& stop,
                const std::function<void(const TableRef&)>& found);

}  // namespace miodb

#endif  // MIODB_COMPACTION_POLICY_MARKED_TABLES_H_
