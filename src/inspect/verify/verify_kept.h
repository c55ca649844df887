// Verifies the log that is kept for the update stream: each chunk is there, belongs to nobody else but the tables whose
// payload it is, and has the writes that the manifest says; and they follow one another up to the flushed sequence.
// Part of VerifyPool.
//
// Threads: one.

#ifndef MIODB_SRC_INSPECT_VERIFY_VERIFY_KEPT_H_
#define MIODB_SRC_INSPECT_VERIFY_VERIFY_KEPT_H_

#include "src/format/problem.h"
#include "src/inspect/verify/space_claims.h"
#include "src/nvm/pool/pool_image.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

// REQUIRES: what tables of all states have is claimed.
void VerifyKept(const PoolImage& image, const ManifestState& state, SpaceClaims* claims, const ReportProblem& report);

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_VERIFY_VERIFY_KEPT_H_
