// Verifies that the chunks and files of a log hold all writes since the last flush. Part of VerifyPool.
//
// Threads: one.

#ifndef MIODB_SRC_INSPECT_VERIFY_LOG_H_
#define MIODB_SRC_INSPECT_VERIFY_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/inspect/problem.h"
#include "src/inspect/verify.h"

namespace miodb {

// A chunk or a file of the log, without what is flushed.
struct LogPiece {
  std::string name;
  uint64_t first_sequence = 0;  // 0: it has nothing
  uint64_t last_sequence = 0;
  uint64_t writes = 0;
  bool sealed = false;  // has no end that a crash left
  std::vector<Problem> problems;
};

// Reads the log files, if there is a folder for them.
void AddLogFiles(const VerifyOptions& options, uint64_t log_id, uint64_t flushed_sequence,
                 std::vector<LogPiece>* pieces, VerifyResult* result);

// Checks that the pieces are whole and follow one another from the first write that is not flushed on. Sets the
// result's log_writes and last_sequence.
void JudgeLog(const VerifyOptions& options, uint64_t flushed_sequence, std::vector<LogPiece> pieces,
              VerifyResult* result);

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_VERIFY_LOG_H_
