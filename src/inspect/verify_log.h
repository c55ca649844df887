// Verifies that the chunks and files of a log hold all writes since the last flush. Part of VerifyPool.
//
// Threads: one.

#ifndef MIODB_SRC_INSPECT_VERIFY_LOG_H_
#define MIODB_SRC_INSPECT_VERIFY_LOG_H_

#include <cstdint>
#include <vector>

#include "src/inspect/log_piece.h"
#include "src/inspect/verify.h"

namespace miodb {

// Reads the log files, if there is a folder for them.
void AddLogFiles(const VerifyOptions& options, uint64_t log_id, uint64_t flushed_sequence,
                 std::vector<LogPiece>* pieces, VerifyResult* result);

// Checks that the pieces are whole and follow one another from the first write that is not flushed on. Sets the
// result's log_writes and last_sequence.
void JudgeLog(const VerifyOptions& options, uint64_t flushed_sequence, std::vector<LogPiece> pieces,
              VerifyResult* result);

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_VERIFY_LOG_H_
