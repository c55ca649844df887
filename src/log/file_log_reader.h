// Reads the records of a log file (file_log_format.h) out of its bytes, which may be any.
//
// Threads: one at a time. The bytes outlive the reader.

#ifndef MIODB_SRC_LOG_FILE_LOG_READER_H_
#define MIODB_SRC_LOG_FILE_LOG_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "miodb/slice.h"
#include "src/log/log_file_bytes.h"

namespace miodb {

class FileLogReader {
 public:
  FileLogReader(LogFileBytes* bytes, size_t block_size) : own_(Slice()), bytes_(bytes), block_size_(block_size) {}
  FileLogReader(const Slice& content, size_t block_size) : own_(content), bytes_(&own_), block_size_(block_size) {}

  // The next record. *record refers to the bytes, until they are asked for others, or to *scratch if the record is
  // split. False, then and from then on, where the bytes end or are no record.
  bool Next(Slice* record, std::string* scratch);

  // End of the last record.
  uint64_t valid_bytes() const { return valid_bytes_; }

  // Whether behind valid_bytes() there begins a batch that is not the next one but a later one, or the next one behind
  // damaged padding: the sign that the reader stopped at damage or at a hole, and not where writing ended. last: the
  // last sequence that was read. flushed: writes up to there are in tables, and nothing is lost with them.
  bool HasLaterBatch(uint64_t last, uint64_t flushed) const;

 private:
  bool ReadFragment(uint64_t* offset, uint8_t* type, Slice* payload) const;
  bool ReadFirstFragment(uint64_t* offset, uint8_t* type, Slice* payload) const;
  bool NextBlockBegins(uint64_t sequence) const;
  bool BeginsLaterBatch(uint64_t offset, const Slice& rest, uint64_t after) const;
  bool HasLaterBatchIn(uint64_t from, uint64_t until, uint64_t after) const;

  LogFileBytes own_;  // of bytes in memory
  LogFileBytes* const bytes_;
  const size_t block_size_;
  uint64_t valid_bytes_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_LOG_FILE_LOG_READER_H_
