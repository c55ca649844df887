// LogSource: the log of a database as its update stream reads it, wherever the chunks of it are found.
//
// Threads: any.

#ifndef MIODB_SRC_DB_SPACE_LOG_SOURCE_H_
#define MIODB_SRC_DB_SPACE_LOG_SOURCE_H_

#include <cstdint>

#include "miodb/status.h"
#include "src/nvm/pool/extent.h"

namespace miodb {

// A log chunk, and which writes of it may be read. The extent keeps its frames where they are.
struct LogPart {
  uint64_t id = 0;
  ExtentRef extent;
  uint64_t bytes = 0;  // in which frames may lie
  uint64_t first_sequence = 0;
  uint64_t last_sequence = 0;
};

class LogSource {
 public:
  LogSource() = default;
  LogSource(const LogSource&) = delete;
  LogSource& operator=(const LogSource&) = delete;

  // The last write that reads see. A thread that gets this sequence sees the write's frame.
  virtual uint64_t LastVisible() const = 0;

  // The part of the log with this write. NotFound if the pool has it no more. REQUIRES: the write is visible.
  virtual Status FindPart(uint64_t sequence, LogPart* part) const = 0;

 protected:
  ~LogSource() = default;
};

// The error if no part has the write.
Status NoMoreInLog(uint64_t sequence, uint64_t oldest);

}  // namespace miodb

#endif  // MIODB_SRC_DB_SPACE_LOG_SOURCE_H_
