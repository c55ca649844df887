// The files and logs of the Env of POSIX systems: plain system calls on a descriptor, which they own and close.
//
// Threads: as the interfaces say (miodb/env.h).

#ifndef MIODB_SRC_API_ENV_POSIX_FILES_H_
#define MIODB_SRC_API_ENV_POSIX_FILES_H_

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "miodb/env.h"
#include "src/util/check/check.h"
#include "src/util/files/copy_files.h"
#include "src/util/files/posix_file.h"
#include "src/util/files/posix_writable.h"

namespace miodb {

class PosixSequentialFile final : public SequentialFile {
 public:
  PosixSequentialFile(std::string fname, Descriptor fd) : fname_(std::move(fname)), fd_(std::move(fd)) {
    CHECK(fd_.valid());
  }

  Status Read(size_t n, Slice* result, char* scratch) override;
  Status Skip(uint64_t n) override;

 private:
  const std::string fname_;
  const Descriptor fd_;
};

class PosixRandomAccessFile final : public RandomAccessFile {
 public:
  PosixRandomAccessFile(std::string fname, Descriptor fd) : fname_(std::move(fname)), fd_(std::move(fd)) {
    CHECK(fd_.valid());
  }

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override;
  RawFile Raw() const override { return {fd_.get(), 1}; }

 private:
  const std::string fname_;
  const Descriptor fd_;
};

// Collects what is appended in a buffer. Appends that would fill the buffer again and again go to the file directly.
class PosixWritableFile final : public PosixWritable {
 public:
  PosixWritableFile(std::string fname, Descriptor fd, FullDisk full);
  ~PosixWritableFile() override;

  Status Append(const Slice& data) override;
  Status Flush() override;
  Status RangeSync(uint64_t offset, uint64_t size) override;

 private:
  Status WriteOut(const char* p, size_t n);

  const std::unique_ptr<char[]> buffer_;
  size_t used_ = 0;  // bytes in the buffer
};

// Every message is one write to the end of the file, so threads and processes may share it without a lock.
class PosixLogger final : public Logger {
 public:
  PosixLogger(const std::string&, Descriptor fd) : fd_(std::move(fd)) { CHECK(fd_.valid()); }

  void Logv(const char* format, std::va_list ap) override;

 private:
  const Descriptor fd_;
};

}  // namespace miodb

#endif  // MIODB_SRC_API_ENV_POSIX_FILES_H_
