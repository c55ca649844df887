// Writes the records of a write group into a log chunk, as one frame (format/record.h).
//
// Threads: one at a time, the leader of the current group.
// What a crash leaves: before the fence that follows, any part of the frame, which its checksum then refuses. After
// it, the whole frame. So a group is in the log as a whole or not at all.

#ifndef MIODB_SRC_LOG_FRAME_WRITER_H_
#define MIODB_SRC_LOG_FRAME_WRITER_H_

#include <cstdint>
#include <vector>

#include "src/format/record.h"
#include "src/log/log_chunk.h"

namespace miodb {

// One update of a group. place is set by FrameWriter::Write: where the record now lies.
struct LogRecord {
  ValueType type;
  Slice key;
  Slice value;
  const char* place = nullptr;

  size_t size() const { return RecordSize(key.size(), value.size()); }
};

class FrameWriter {
 public:
  // secret: of the pool that the chunks belong to.
  FrameWriter(Persist* persist, uint64_t secret) : persist_(persist), secret_(secret) { CHECK(persist_ != nullptr); }

  // Bytes that a frame around this much payload takes in a chunk.
  static uint64_t FrameSize(uint64_t body_size) { return FrameHeaderSize(body_size) + body_size; }

  // Appends a frame with these records, numbered from first_sequence on, and sets their places. Not durable before
  // the next fence. REQUIRES: body_size is the sum of the records' sizes; chunk->room() >= FrameSize(body_size).
  void Write(LogChunk* chunk, std::vector<LogRecord>* records, uint64_t body_size, uint64_t first_sequence);

 private:
  void WriteToMemory(LogChunk* chunk, std::vector<LogRecord>* records, uint64_t first_sequence);
  char* Reserve(size_t n);

  Persist* const persist_;
  const uint64_t secret_;
  std::vector<char> staging_;  // what goes to the pool with the next Copy
  size_t staged_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_LOG_FRAME_WRITER_H_
