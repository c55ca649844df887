// The common part of files that one thread writes, whatever lies between Append and the descriptor.

#ifndef MIODB_SRC_UTIL_FILES_POSIX_WRITABLE_H_
#define MIODB_SRC_UTIL_FILES_POSIX_WRITABLE_H_

#include <string>
#include <utility>

#include "miodb/env.h"
#include "src/util/check/mutation.h"
#include "src/util/files/copy_files.h"
#include "src/util/files/posix_file.h"

namespace miodb {

// A file that is written from begin to end. After the first error nobody knows what it holds, so that error is given
// for every later call. A derived class closes the file in its destructor, while Flush can still be called.
class PosixWritable : public WritableFile {
 public:
  Status Sync() override {
    Status s = Flush();
    if (!s.ok()) return s;

    // Before the data, so that files which the data speaks of are in the directory when the data is.
    if (!directory_synced_ && !MIODB_MUTATED(kDirectoryUnsynced)) {
      s = SyncDirectoryOf(fname_);
      if (!s.ok()) return Keep(s);
      directory_synced_ = true;
    }
    if (SyncFailed(Retry([&] { return ::fdatasync(fd_.get()); }))) return Keep(RoomError(fname_, errno, full_));
    return Status::OK();
  }

  Status Close() override {
    if (!fd_.valid()) return error_.ok() ? Closed() : error_;
    Status s = Flush();
    // Not repeated when interrupted: the descriptor is gone all the same.
    if (::close(fd_.release()) < 0 && errno != EINTR && s.ok()) s = Keep(RoomError(fname_, errno, full_));
    return s;
  }

 protected:
  PosixWritable(std::string fname, Descriptor fd, FullDisk full = FullDisk::kIsIoError)
      : fname_(std::move(fname)), fd_(std::move(fd)), full_(full) {
    CHECK(fd_.valid());
  }

  // The error that stands in the way of writing, or OK.
  Status Writable() const { return error_.ok() && !fd_.valid() ? Closed() : error_; }

  Status Keep(const Status& s) {
    CHECK(!s.ok());
    error_ = s;
    return s;
  }

  const std::string fname_;
  Descriptor fd_;
  const FullDisk full_;

 private:
  Status Closed() const { return Status::IOError(fname_, "already closed"); }

  bool directory_synced_ = false;
  Status error_;
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_FILES_POSIX_WRITABLE_H_
