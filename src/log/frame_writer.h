// Writes the records of a write group into a log chunk, as one frame (format/record.h).
//
// Threads: one at a time, the leader of the current group; WriteBeside by any number.
// After a crash: before the fence that follows, any part of the frame, which its checksum then refuses. After
// it, the whole frame. So a group is in the log as a whole or not at all.

#ifndef MIODB_SRC_LOG_FRAME_WRITER_H_
#define MIODB_SRC_LOG_FRAME_WRITER_H_

#include <cstdint>
#include <vector>

#include "src/format/record.h"
#include "src/log/log_chunk.h"

namespace miodb {

// An update of a group. place is set by FrameWriter::Write: where the record now lies.
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

  // Writers beside one another write small frames: what is staged is on their stacks.
  static constexpr uint64_t kMostBodyBeside = 8 * 1024;

  // Write of one record, at a place of the chunk that the caller alone has, by the writer that has the lane. The
  // chunk's used stays. Durable after FenceBeside. REQUIRES: record->size() <= kMostBodyBeside; the chunk is in the
  // pool. ahead: so many writes in front of it are perhaps not durable yet, fewer than kLogWindow.
  void WriteBeside(size_t lane, const LogChunk& chunk, uint64_t offset, LogRecord* record, uint64_t sequence,
                   uint64_t ahead) const;

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
