// Functions that all sources of the log share.

#include "src/db/space/log_source.h"

#include <string>

#include "src/util/check/check.h"

namespace miodb {

Status NoMoreInLog(uint64_t sequence, uint64_t oldest) {
  DCHECK_LT(sequence, oldest);
  return Status::NotFound("write " + std::to_string(sequence) + " is in the log no more",
                          "the oldest there is " + std::to_string(oldest) +
                              "; make the copy anew from a checkpoint, and hold more log with keep_log_bytes");
}

}  // namespace miodb
