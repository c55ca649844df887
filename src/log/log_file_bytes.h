// The bytes of a log file, a window at a time: what is read at once, and kept, does not grow with what the file says
// its length is, and holes of a sparse file are not read at all.
//
// Threads: one at a time.

#ifndef MIODB_SRC_LOG_LOG_FILE_BYTES_H_
#define MIODB_SRC_LOG_LOG_FILE_BYTES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "miodb/env.h"

namespace miodb {

class LogFileBytes {
 public:
  // Bytes in memory, which outlive it.
  explicit LogFileBytes(const Slice& content) : window_(content), size_(content.size()) {}

  static Status Open(Env* env, const std::string& path, std::unique_ptr<LogFileBytes>* bytes);

  LogFileBytes(const LogFileBytes&) = delete;
  LogFileBytes& operator=(const LogFileBytes&) = delete;

  uint64_t size() const { return size_; }

  // The bytes at offset, n of them or what there is up to the end of the file, valid until the next call. Fewer after
  // an error, which status() then keeps.
  Slice At(uint64_t offset, uint64_t n);

  // The first place from offset on that does not lie in a hole, or size().
  uint64_t SkipHole(uint64_t offset) const;

  const Status& status() const { return status_; }

 private:
  LogFileBytes(std::unique_ptr<RandomAccessFile> file, uint64_t size) : file_(std::move(file)), size_(size) {}

  const std::unique_ptr<RandomAccessFile> file_;  // null: in memory
  std::string buffer_;
  Slice window_;
  uint64_t window_begin_ = 0;  // in the file
  const uint64_t size_;
  Status status_;
};

}  // namespace miodb

#endif  // MIODB_SRC_LOG_LOG_FILE_BYTES_H_
