// The readable part of the SSD tier of a damaged database.

#ifndef MIODB_SRC_INSPECT_SALVAGE_SSD_SALVAGE_H_
#define MIODB_SRC_INSPECT_SALVAGE_SSD_SALVAGE_H_

#include <cstdint>
#include <memory>
#include <set>

#include "src/format/problem.h"
#include "src/iterator/internal_iterator.h"
#include "src/ssd/ssd_store.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

// A walk from first to last over all versions in the files that the manifest names; in all files that there are but
// those that were dropped if state is null, for then nobody knows which of them count. Missing files, and a file from
// its first damage on, are reported and passed over. If a file cannot be read for another reason, the walk, or this
// call, has the error. The walk goes forward only. The store outlives it.
Status NewSsdSalvage(SsdStore* store, const ManifestState* state, const std::set<uint64_t>& dropped,
                     const ReportProblem& report, std::unique_ptr<InternalIterator>* walk);

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_SALVAGE_SSD_SALVAGE_H_
