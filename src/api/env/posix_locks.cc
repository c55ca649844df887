#include "src/api/env/posix_locks.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "src/util/check/check.h"

// Locks of files by flock, and the table that keeps callers of one process apart.

namespace miodb {

class PosixLocks::Held final : public FileLock {
 public:
  Held(std::string name, FileId file_id, Descriptor descriptor)
      : fname(std::move(name)), id(file_id), fd(std::move(descriptor)) {
    CHECK(fd.valid());
  }

  const std::string fname;
  const FileId id;
  Descriptor fd;  // invalid in a child of the process that has the lock
};

PosixLocks* PosixLocks::Instance() {
  static PosixLocks* const locks = new PosixLocks;
  return locks;
}

// The lock of an open file ends with its last descriptor, so closing the child's leaves the parent's alone.
void PosixLocks::DropInChild() {
  for (const auto& [id, lock] : files_) ::close(lock->fd.release());
  files_.clear();
}

// The table is held over the attempts, so two threads of this process never race for one file. Lock does not wait for
// other processes: flock says at once that somebody has the lock.
Status PosixLocks::Lock(const std::string& fname, FileAccess access, Links links, FileLock** lock) {
  CHECK(lock != nullptr);
  MutexLock guard(&mutex_);
  Status s;
  while (TryLock(fname, access, links, lock, &s) == Attempt::kNameMoved) continue;
  return s;
}

// The file is opened or made first, then locked, then looked at once more under its name. A lock that somebody has is
// told apart: by this process from the table, by another from flock.
PosixLocks::Attempt PosixLocks::TryLock(const std::string& fname, FileAccess access, Links links, FileLock** lock,
                                        Status* s) {
  bool created;
  Descriptor fd(-1);
  const int opened = OpenOrCreateFile(fname, O_RDWR | kDontWait, access, links, &created);
  // If the attempt fails for another reason than somebody's lock, a file that this call has made is removed again.
  const auto fail = [&](const Status& error) {
    if (created) ::unlink(fname.c_str());
    *s = error;
    return Attempt::kFailed;
  };
  const Status checked = CheckOpened(fname, Descriptor(opened), FileType::kRegular, &fd);
  if (!checked.ok()) return fail(checked);
  struct stat mine;
  if (::fstat(fd.get(), &mine) != 0) return fail(PosixError(fname, errno));
  const FileId id(mine.st_dev, mine.st_ino);

  // By device and inode, so that one file under two names is one file.
  if (files_.count(id) != 0) {
    *s = Status::IOError("lock " + fname, "already held by process");
    return Attempt::kFailed;
  }
  if (Retry([&] { return ::flock(fd.get(), LOCK_EX | LOCK_NB); }) != 0) {
    if (errno != EWOULDBLOCK) return fail(PosixError(fname, errno));
    *s = Status::IOError("lock " + fname, std::system_category().message(EAGAIN) + " (another process has it)");
    return Attempt::kFailed;
  }

  // The last holder of the lock may have removed the file after we opened it. Then we hold a lock that no one else will
  // ever meet, and have to take the one of the file that has the name now.
  struct stat current;
  if (::stat(fname.c_str(), &current) != 0) {
    return errno == ENOENT ? Attempt::kNameMoved : fail(PosixError(fname, errno));
  }
  if (FileId(current.st_dev, current.st_ino) != id) return Attempt::kNameMoved;

  auto held = std::make_unique<Held>(fname, id, std::move(fd));
  CHECK(files_.emplace(id, held.get()).second);  // last: what throws for lack of memory leaves no lock behind
  *lock = held.release();
  return Attempt::kLocked;
}

// A child that has its parent's lock object may give it back; it has no descriptor, and the lock stays the parent's.
Status PosixLocks::Unlock(FileLock* lock) {
  CHECK(lock != nullptr);
  MutexLock guard(&mutex_);  // outlives the descriptor, so that no new lock meets a half-closed old one
  std::unique_ptr<Held> held(static_cast<Held*>(lock));
  if (!held->fd.valid()) return Status::IOError("lock " + held->fname, "held by the process that forked this one");
  CHECK_EQ(files_.erase(held->id), 1u);
  // Explicitly, because a child process may have inherited the descriptor and would keep the lock.
  Status s;
  if (Retry([&] { return ::flock(held->fd.get(), LOCK_UN); }) != 0) s = PosixError(held->fname, errno);
  return s;
}

}  // namespace miodb
