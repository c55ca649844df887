// ulimit -f: a process that writes beyond the size that its files may have gets SIGXFSZ, which ends it unless the
// program said otherwise. A library must not change the signals of a program, so it keeps the signal from coming.
//
// Threads: each object belongs to its caller.

#ifndef MIODB_SRC_UTIL_FILES_FILE_SIZE_LIMIT_H_
#define MIODB_SRC_UTIL_FILES_FILE_SIZE_LIMIT_H_

#include <signal.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdint>

namespace miodb {

// Bytes that a file of this process may have; UINT64_MAX: any number.
inline uint64_t FileSizeLimit() {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

// While it lives, a write of this thread beyond the limit fails with EFBIG and does no more. Without a limit it costs
// one system call.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal() : limited_(FileSizeLimit() != UINT64_MAX) {
    if (!limited_) return;
    sigset_t pending;
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
  }

  ~NoFileSizeSignal() {
    if (!limited_) return;
    const int error = errno;
    const struct timespec no_wait = {0, 0};
    while (!was_pending_ && sigtimedwait(&signal_, nullptr, &no_wait) < 0 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  const bool limited_;
  bool was_pending_ = false;
  sigset_t signal_;
  sigset_t before_;
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_FILES_FILE_SIZE_LIMIT_H_
