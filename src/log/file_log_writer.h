// Writes records into one log file (file_log_format.h).
//
// Threads: one at a time.
// After a crash: what was handed to the file and flushed survives the process; the rest depends on the file's
// Sync. The last record may be torn, which its checksum shows.

#ifndef MIODB_SRC_LOG_FILE_LOG_WRITER_H_
#define MIODB_SRC_LOG_FILE_LOG_WRITER_H_

#include <cstdint>

#include "miodb/env.h"
#include "miodb/slice.h"
#include "miodb/status.h"
#include "src/log/file_log_format.h"
#include "src/util/check/check.h"

namespace miodb {

class FileLogWriter {
 public:
  // file is empty and outlives this. padding: a record that does not fit into what is left of a block begins the next
  // one, so that only records larger than a block are ever split.
  FileLogWriter(WritableFile* file, size_t block_size, bool padding)
      : file_(file), block_size_(block_size), padding_(padding) {
    CHECK(file_ != nullptr && IsLogBlockSize(block_size_));
  }

  // Appends a record. Does not flush the file.
  Status Add(const Slice& record);

  uint64_t bytes() const { return bytes_; }                  // of the file
  uint64_t padding_bytes() const { return padding_bytes_; }  // of those, zeros at ends of blocks

 private:
  Status EndBlock();
  Status AddFragment(uint8_t type, const char* payload, size_t size);

  WritableFile* const file_;
  const size_t block_size_;
  const bool padding_;
  size_t used_ = 0;  // bytes of the current block
  uint64_t bytes_ = 0;
  uint64_t padding_bytes_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_LOG_FILE_LOG_WRITER_H_
