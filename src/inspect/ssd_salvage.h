// What can be read of the SSD tier of a damaged database.

#ifndef MIODB_SRC_INSPECT_SSD_SALVAGE_H_
#define MIODB_SRC_INSPECT_SSD_SALVAGE_H_

#include <cstdint>
#include <memory>
#include <set>

#include "src/format/problem.h"
#include "src/iterator/internal_iterator.h"
#include "src/ssd/ssd_store.h"
#include "src/version/version_edit.h"

namespace miodb {

// A walk from first to last over all versions in the files that the manifest names; in all files that there are but
// those that were dropped if state is null, for then nobody knows which of them count. What is missing or damaged is
// reported and passed over: of a file the rest, from the damage on. What cannot be read for another reason is the error
// of the walk, or of this. The walk goes forward only. The store outlives it.
Status NewSsdSalvage(SsdStore* store, const ManifestState* state, const std::set<uint64_t>& dropped,
                     const ReportProblem& report, std::unique_ptr<InternalIterator>* walk);

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_SSD_SALVAGE_H_
