// Verifies what the manifest says of savepoints, but for tables: their areas and the parts of log chunks that they
// have. Part of VerifyPool.
//
//   area    it is there, and its records can be read up to the one that the savepoint is of
//   log     each part of a chunk is there, and belongs to nobody else but who has more or less of the same chunk; the
//           writes follow the flushed sequence up to that of the savepoint
//
// Threads: one.

#ifndef MIODB_SRC_INSPECT_VERIFY_VERIFY_SAVEPOINTS_H_
#define MIODB_SRC_INSPECT_VERIFY_VERIFY_SAVEPOINTS_H_

#include <vector>

#include "src/format/problem.h"
#include "src/inspect/verify/space_claims.h"
#include "src/nvm/pool/pool_image.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

// The state of a savepoint. The report adds the savepoint's name to every place.
struct SavedState {
  SavepointEntry entry;
  ManifestState state;
  ReportProblem report;
};

// The savepoints of a state, the newest first, each with what its area says, damaged or not. Without those whose area
// is not there.
std::vector<SavedState> ReadSavepoints(const PoolImage& image, const ManifestState& current, SpaceClaims* claims,
                                       const ReportProblem& report);

// REQUIRES: what tables of all states have is claimed, what the update stream has, and the logs of newer savepoints.
void VerifySavedLog(const PoolImage& image, const SavedState& saved, SpaceClaims* claims);

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_VERIFY_VERIFY_SAVEPOINTS_H_
