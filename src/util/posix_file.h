// What the files of POSIX systems share: system calls that are repeated, errors with names, descriptors that are
// closed.
//
// Threads: each function and object belongs to its caller.

#ifndef MIODB_SRC_UTIL_POSIX_FILE_H_
#define MIODB_SRC_UTIL_POSIX_FILE_H_

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "miodb/status.h"

namespace miodb {

inline Status PosixError(const std::string& context, int error_number) {
  const std::string reason = std::system_category().message(error_number);  // unlike strerror, safe in threads
  if (error_number == ENOENT) return Status::NotFound(context, reason);
  return Status::IOError(context, reason);
}

// Repeats a system call for as long as a signal interrupts it.
template <typename Call>
auto Retry(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

inline int OpenFile(const std::string& fname, int flags, mode_t mode = 0) {
  return Retry([&] { return ::open(fname.c_str(), flags | O_CLOEXEC, mode); });
}

// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void Swap(Descriptor* other) { std::swap(fd_, other->fd_); }

 private:
  int fd_;
};

// The directory that holds the file.
inline std::string DirectoryOf(const std::string& fname) {
  const size_t slash = fname.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : fname.substr(0, slash);
}

// What cannot be synced (a device, some file systems' directories) says EINVAL; there is nothing to lose then.
inline bool SyncFailed(int result) { return result != 0 && errno != EINVAL && errno != EROFS; }

// The names in a directory survive loss of power.
inline Status SyncDirectory(const std::string& dirname) {
  const Descriptor dir(OpenFile(dirname, O_RDONLY | O_DIRECTORY));
  if (!dir.valid()) return PosixError(dirname, errno);
  if (SyncFailed(Retry([&] { return ::fsync(dir.get()); }))) return PosixError(dirname, errno);
  return Status::OK();
}

// The same for the directory that holds the file.
inline Status SyncDirectoryOf(const std::string& fname) { return SyncDirectory(DirectoryOf(fname)); }

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_POSIX_FILE_H_
