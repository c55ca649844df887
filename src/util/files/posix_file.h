// Functions that all files of POSIX systems share: system calls that are repeated, errors with names, descriptors that
// are closed.
//
// Threads: each function and object belongs to its caller.

#ifndef MIODB_SRC_UTIL_FILES_POSIX_FILE_H_
#define MIODB_SRC_UTIL_FILES_POSIX_FILE_H_

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "miodb/options.h"
#include "miodb/status.h"
#include "src/util/check/check.h"
#include "src/util/files/descriptors.h"
#include "src/util/files/own_files.h"

namespace miodb {

inline Status PosixError(const std::string& context, int error_number) {
  DCHECK_GT(error_number, 0);  // 0: errno was changed before it was looked at
  std::string reason;
  try {
    reason = std::system_category().message(error_number);  // unlike strerror, safe in threads
    if (error_number == EFBIG) reason += ": larger than files of this process may be (ulimit -f)";
  } catch (const std::exception&) {
    // The kind of error has to do.
  }
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
  return Retry([&] { return MakeDescriptor([&] { return ::open(fname.c_str(), flags | O_CLOEXEC, mode); }); });
}

// The mode of a file that is made.
inline mode_t FileMode(FileAccess access) {
  return access == FileAccess::kGroupWrites ? 0660 : access == FileAccess::kGroupReads ? 0640 : 0600;
}

// The same of a folder: whoever reads a file in it may also enter it.
inline mode_t FolderMode(FileAccess access) {
  return access == FileAccess::kGroupWrites ? 0770 : access == FileAccess::kGroupReads ? 0750 : 0700;
}

// Makes a file, which must not exist; the umask takes nothing of its mode away.
inline int CreateNewFile(const std::string& fname, int flags, FileAccess access) {
  const int fd = OpenFile(fname, flags | O_CREAT | O_EXCL, FileMode(access));
  // File systems without modes refuse, and have nothing to be changed.
  if (fd >= 0 && ::fchmod(fd, FileMode(access)) != 0) errno = 0;
  return fd;
}

inline bool IsLink(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

// Names of one file by a link, or by another mount of its file system, count as one.
inline bool IsOneFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
inline bool IsOneFile(const std::string& a, const std::string& b) {
  struct stat of_a, of_b;
  return ::stat(a.c_str(), &of_a) == 0 && ::stat(b.c_str(), &of_b) == 0 && IsOneFile(of_a, of_b);
}

// The error for a symbolic link where none may be.
inline Status LinkRefused(const std::string& path) {
  return Status::IOError(path,
                         "is a symbolic link: what a database makes in its folders is not written through one. "
                         "Remove the link, after a look at where it leads");
}

// For a name of ours that the system would follow a link of.
inline Status RefuseLink(const std::string& path) { return IsLink(path) ? LinkRefused(path) : Status::OK(); }

// Opens a file, or makes it. The second attempt may make it as well: it was removed in between, or is a link to a file
// that is not there. So asked, the system also keeps files of other users out in folders that are everybody's.
inline int OpenOrCreateFile(const std::string& fname, int flags, FileAccess access, Links links,
                            bool* created = nullptr) {
  CHECK_EQ(flags & (O_CREAT | O_EXCL), 0);
  const int fresh = CreateNewFile(fname, flags, access);
  if (created != nullptr) *created = fresh >= 0;
  if (fresh >= 0 || errno != EEXIST) return fresh;
  return OpenFile(fname, flags | O_CREAT | (links == Links::kRefused ? O_NOFOLLOW : 0), FileMode(access));
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

// The kinds of files that an open accepts.
enum class FileType { kRegular, kRegularOrDevice };

// Flags for every open of a file that somebody else may have put there, because nobody may ever open the other end of a
// FIFO.
inline constexpr int kDontWait = O_NONBLOCK | O_NOCTTY;

// Takes over a descriptor opened with these flags, or -1 with errno. A file of another type is closed again, unread:
// FIFOs and devices have no end. A device is one of characters.
inline Status CheckOpened(const std::string& fname, Descriptor opened, FileType type, Descriptor* fd) {
  static constexpr char kNoFile[] = "is a FIFO, a socket or a device, not a file";
  if (!opened.valid()) {
    const int error = errno;
    if (error == ENXIO) return Status::IOError(fname, kNoFile);
    struct stat behind;
    // Links that lead round in a circle are another matter.
    const bool refused = error == ELOOP && IsLink(fname) && (::stat(fname.c_str(), &behind) == 0 || errno != ELOOP);
    return refused ? LinkRefused(fname) : PosixError(fname, error);
  }
  struct stat info;
  if (::fstat(opened.get(), &info) != 0) return PosixError(fname, errno);
  if (S_ISDIR(info.st_mode)) return PosixError(fname, EISDIR);
  if (!S_ISREG(info.st_mode) && !(type == FileType::kRegularOrDevice && S_ISCHR(info.st_mode))) {
    return Status::IOError(fname, kNoFile);
  }
  const int flags = ::fcntl(opened.get(), F_GETFL);
  if (flags < 0 || ::fcntl(opened.get(), F_SETFL, flags & ~O_NONBLOCK) != 0) return PosixError(fname, errno);
  CHECK(!fd->valid());  // nobody would close it
  fd->Swap(&opened);
  return Status::OK();
}

// Opens a file that is there.
inline Status OpenTyped(const std::string& fname, int flags, FileType type, Descriptor* fd) {
  return CheckOpened(fname, Descriptor(OpenFile(fname, flags | kDontWait)), type, fd);
}

// The directory that holds the file.
inline std::string DirectoryOf(const std::string& fname) {
  const size_t slash = fname.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : fname.substr(0, slash);
}

// Gives a file or a directory a name that nothing has: rename would take it from a file, or from an empty directory. 0,
// or -1 and errno. On file systems that do not know the flag a second creator is kept out by the look alone.
inline int RenameToNew(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL) return -1;
  struct stat info;
  if (::lstat(to.c_str(), &info) != 0) return ::rename(from.c_str(), to.c_str());
  errno = EEXIST;
  return -1;
}

// A file that cannot be synced (a device, directories of some file systems) gives EINVAL; there is nothing to lose
// then. A file system that became read-only behind an error gives EROFS, and what was written before is lost.
inline bool SyncFailed(int result) { return result != 0 && errno != EINVAL; }

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

#endif  // MIODB_SRC_UTIL_FILES_POSIX_FILE_H_
