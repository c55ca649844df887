// A file lock that is let go with its owner.

#ifndef MIODB_SRC_UTIL_FILES_HELD_LOCK_H_
#define MIODB_SRC_UTIL_FILES_HELD_LOCK_H_

#include <string>

#include "miodb/env.h"
#include "src/util/check/check.h"

namespace miodb {

// Threads: one.
class HeldLock {
 public:
  explicit HeldLock(Env* env) : env_(env) {}
  ~HeldLock() { Unlock(); }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;

  Status Lock(const std::string& path) {
    CHECK(!held());
    return env_->LockFile(path, &lock_);
  }
  void Unlock() {
    if (lock_ != nullptr) env_->UnlockFile(lock_).IgnoreError();
    lock_ = nullptr;
  }
  bool held() const { return lock_ != nullptr; }

 private:
  Env* const env_;
  FileLock* lock_ = nullptr;
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_FILES_HELD_LOCK_H_
