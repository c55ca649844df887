// What recovery, repair and the checker find in one place of the log: a chunk of the pool, or a log file.

#ifndef MIODB_SRC_INSPECT_LOG_SCAN_H_
#define MIODB_SRC_INSPECT_LOG_SCAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "miodb/status.h"
#include "src/log/file_log.h"
#include "src/log/frame_reader.h"
#include "src/nvm/pool.h"
#include "src/version/version_edit.h"

namespace miodb {

struct LogScan {
  // A chunk has an extent, a file has none.
  LogChunkPlace place;
  ExtentRef extent;
  LogFile file;

  uint64_t order = 0;           // scans are replayed by rising order
  uint64_t first_sequence = 0;  // 0: nothing that is not flushed
  uint64_t last_sequence = 0;
  uint64_t valid_bytes = 0;
  bool damaged = false;           // more that checks follows after something that does not
  std::vector<FrameView> frames;  // of a chunk
  const char* last_frame = nullptr;
  std::vector<std::string> batches;  // of a file, without those that are flushed

  bool in_file() const { return extent == nullptr; }
  std::string Where() const;  // for errors
  FileLog::Kept AsKept() const { return {file, last_sequence, damaged, valid_bytes}; }
};

// Finds the frames of a chunk. secret: of its pool. REQUIRES: place and extent are set.
void ScanChunk(uint64_t secret, LogScan* scan);

// Reads a log file and finds the batches above this sequence. An error is one of reading. REQUIRES: file is set.
Status ScanLogFile(Env* env, const std::string& folder, uint64_t flushed_sequence, LogScan* scan);

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_LOG_SCAN_H_
