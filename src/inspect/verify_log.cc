#include "src/inspect/verify_log.h"

#include <algorithm>

#include "miodb/env.h"
#include "src/inspect/log_scan.h"
#include "src/log/file_log.h"

namespace miodb {

namespace {

LogPiece ReadLogFile(const std::string& folder, const LogFile& file, uint64_t flushed_sequence) {
  LogPiece piece;
  piece.name = folder + "/" + file.name();
  LogScan scan;
  scan.file = file;
  const Status s = ScanLogFile(Env::Default(), folder, flushed_sequence, &scan);
  if (!s.ok()) {
    piece.problems.push_back({piece.name, s.ToString()});
    return piece;
  }
  if (scan.damaged) {
    piece.problems.push_back(
        {piece.name + " at offset " + std::to_string(scan.valid_bytes), "damaged batch, later batches follow"});
  }
  if (scan.first_sequence == 0) return piece;
  piece.first_sequence = scan.first_sequence;
  piece.last_sequence = scan.last_sequence;
  piece.writes = scan.last_sequence - scan.first_sequence + 1;
  return piece;
}

}  // namespace

void AddLogFiles(const VerifyOptions& options, uint64_t log_id, uint64_t flushed_sequence,
                 std::vector<LogPiece>* pieces, VerifyResult* result) {
  const std::string& folder = options.wal_folder;
  if (folder.empty()) return;
  bool ours = false;
  const Status owner = FileLog::IsOwnedBy(Env::Default(), folder, log_id, &ours);
  if (!owner.ok()) result->problems.push_back({folder, owner.ToString()});
  if (!owner.ok()) return;
  if (!ours) {
    result->problems.push_back({folder, "does not hold the log of this database (no WAL_OWNER with its id)"});
    return;
  }
  std::vector<LogFile> files;
  const Status s = FileLog::List(Env::Default(), folder, &files);
  if (!s.ok()) result->problems.push_back({folder, s.ToString()});
  for (const LogFile& file : files) pieces->push_back(ReadLogFile(folder, file, flushed_sequence));
  result->log_files = files.size();
}

void JudgeLog(const VerifyOptions& options, uint64_t flushed_sequence, std::vector<LogPiece> pieces,
              VerifyResult* result) {
  SortPieces(&pieces);
  result->last_sequence = flushed_sequence;
  for (LogPiece& piece : pieces) {
    const bool is_empty = piece.first_sequence == 0;
    if (!is_empty && piece.first_sequence != result->last_sequence + 1) {
      piece.problems.push_back({piece.name, "writes after " + std::to_string(result->last_sequence) +
                                                " are missing, the next is " + std::to_string(piece.first_sequence)});
    }
    const bool may_end = options.holes_end_log && !piece.sealed;
    if (may_end && !is_empty && !piece.problems.empty()) return;
    for (Problem& problem : piece.problems) {
      if (!may_end) result->problems.push_back(std::move(problem));
    }
    if (is_empty) continue;
    result->log_writes += piece.writes;
    result->last_sequence = std::max(result->last_sequence, piece.last_sequence);
  }
}

}  // namespace miodb
