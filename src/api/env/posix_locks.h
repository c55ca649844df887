// The files that this process holds locks on, whichever Env has locked them.
//
// A lock is flock's: it belongs to the open file, so it ends when the process dies however it dies, and closing some
// other descriptor of the same file does not end it, as it would with fcntl. Where flock is emulated with fcntl (NFS)
// it does not keep callers of one process apart; the table does.
//
// Threads: any. Around fork() the table is held, so that it is whole in the child, which keeps no lock of its parent's.

#ifndef MIODB_SRC_API_ENV_POSIX_LOCKS_H_
#define MIODB_SRC_API_ENV_POSIX_LOCKS_H_

#include <sys/types.h>

#include <map>
#include <string>
#include <utility>

#include "miodb/env.h"
#include "src/util/check/thread_annotations.h"
#include "src/util/files/posix_file.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class PosixLocks {
 public:
  // Never destroyed: databases closed while the process ends may still use it.
  static PosixLocks* Instance();

  // As Env::LockFile and Env::UnlockFile. access, links: of the file, if it is made.
  Status Lock(const std::string& fname, FileAccess access, Links links, FileLock** lock);
  Status Unlock(FileLock* lock);

  void BeforeFork() NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
  void AfterFork() NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }

  // Between the two, in the child.
  void DropInChild() NO_THREAD_SAFETY_ANALYSIS;

 private:
  class Held;

  // The identity of a file, the same under every name.
  using FileId = std::pair<dev_t, ino_t>;

  PosixLocks() = default;

  // The outcome of an attempt to open and lock the file of a name.
  enum class Attempt { kLocked, kNameMoved, kFailed };

  Attempt TryLock(const std::string& fname, FileAccess access, Links links, FileLock** lock, Status* s)
      REQUIRES(mutex_);

  Mutex mutex_;
  std::map<FileId, Held*> files_ GUARDED_BY(mutex_);
};

}  // namespace miodb

#endif  // MIODB_SRC_API_ENV_POSIX_LOCKS_H_
