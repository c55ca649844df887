#include "src/util/files/process_lock.h"

#include <pthread.h>
#include <sys/file.h>

#include <map>
#include <string>

#include "src/util/check/check.h"
#include "src/util/files/posix_file.h"
#include "src/util/threads/mutex.h"

namespace miodb {

namespace {

// The descriptors that have the locks, by those that they were asked for. The mutex is held over a fork, so that the
// child finds the map whole.
class ProcessLocks {
 public:
  static ProcessLocks* Instance() {
    // Never destroyed: pools closed while the process ends still use it.
    static ProcessLocks* const instance = new ProcessLocks;
    return instance;
  }

  void Add(int fd, Descriptor* holder) {
    CHECK(fd >= 0 && holder->valid());
    MutexLock lock(&mutex_);
    holders_.insert_or_assign(fd, holder->get());
    holder->release();  // last: what throws for lack of memory leaves no lock behind
  }
  void Remove(int fd) {
    CHECK_GE(fd, 0);
    MutexLock lock(&mutex_);
    const auto held = holders_.find(fd);
    if (held == holders_.end()) return;
    // Explicitly, because a child that has just been made may not have closed its copy yet.
    Retry([&] { return ::flock(held->second, LOCK_UN); });
    ::close(held->second);
    holders_.erase(held);
  }

 private:
  ProcessLocks() {
    ::pthread_atfork([] { Instance()->BeforeFork(); }, [] { Instance()->AfterFork(); },
                     [] { Instance()->AfterForkInChild(); });
  }

  void BeforeFork() NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
  void AfterFork() NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }
  // Closing the child's descriptors leaves the lock to the parent, whose own are still open. The lock would end only
  // with the last of both.
  void AfterForkInChild() NO_THREAD_SAFETY_ANALYSIS {
    for (const auto& [fd, holder] : holders_) ::close(holder);
    holders_.clear();
    AfterFork();
  }

  Mutex mutex_;
  std::map<int, int> holders_ GUARDED_BY(mutex_);
};

// Returns at once, whoever holds the lock.
int LockNow(int fd) {
  return Retry([fd] { return ::flock(fd, LOCK_EX | LOCK_NB); });
}

}  // namespace

// Opens the same file once more through /proc, so that name, links and a later rename do not matter, and locks that:
// nobody maps this descriptor, and children close it. fd itself stays unlocked.
int LockForProcess(int fd) {
  CHECK_GE(fd, 0);
  Descriptor holder(OpenFile("/proc/self/fd/" + std::to_string(fd), O_RDWR));
  if (!holder.valid()) return LockNow(fd);  // without /proc a child shares the lock
  if (LockNow(holder.get()) != 0) return -1;
  ProcessLocks::Instance()->Add(fd, &holder);
  return 0;
}

void UnlockForProcess(int fd) { ProcessLocks::Instance()->Remove(fd); }

}  // namespace miodb
