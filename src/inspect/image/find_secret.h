// The secret of a pool that has lost both copies of its superblock.
//
// Manifest areas and tables say it too. But a client could have written a value that looks like one of these, with a
// secret of its own making, and then tables, frames and records to go with it. So what is found counts only if all that
// there is says the same; and even then it may be that nothing of the pool is left but what a client has written.

#ifndef MIODB_SRC_INSPECT_IMAGE_FIND_SECRET_H_
#define MIODB_SRC_INSPECT_IMAGE_FIND_SECRET_H_

#include "miodb/status.h"
#include "src/format/problem.h"
#include "src/nvm/pool/pool_image.h"

namespace miodb {

// Has the image use what it finds, and reports that nobody can tell whether it is the right one. Corruption if it finds
// none, or more than one. Nothing to do for a pool with a superblock.
Status FindSecret(PoolImage* image, const ReportProblem& report);

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_IMAGE_FIND_SECRET_H_
