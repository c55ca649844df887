// What can be read of the SSD tier of a damaged database.

#ifndef MIODB_SRC_INSPECT_SSD_SALVAGE_H_
#define MIODB_SRC_INSPECT_SSD_SALVAGE_H_

#include <memory>

#include "src/format/internal_iterator.h"
#include "src/inspect/problem.h"
#include "src/ssd/ssd_store.h"
#include "src/version/version_edit.h"

namespace miodb {

// A walk from first to last over all versions in the files that the manifest names; in all files that there are if
// state is null, for then nobody knows which of them count. What is missing or damaged is reported and passed over: of
// a file the rest, from the damage on. The walk is valid and OK in any case; it goes forward only. The store outlives
// it.
std::unique_ptr<InternalIterator> NewSsdSalvage(SsdStore* store, const ManifestState* state,
                                                const ReportProblem& report);

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_SSD_SALVAGE_H_
