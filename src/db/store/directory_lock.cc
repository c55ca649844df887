#include "src/db/store/directory_lock.h"

#include <utility>

#include "src/format/file_names.h"
#include "src/util/check/check.h"

namespace miodb {

Status DirectoryLock::Take() {
  CHECK(!held());
  const std::string path = LockPath(name_);
  const bool is_there = env_->FileExists(path);
  const Status s = lock_.Lock(path);
  made_lock_ = s.ok() && !is_there;
  return s;
}

// A directory that is gone again was removed by somebody who had the lock. It is made once more.
Status DirectoryLock::MakeAndTake() {
  CHECK(!held() && !made_directory_);
  Status s;
  do {
    if (!env_->FileExists(name_)) {
      s = env_->CreateDir(name_);
      made_directory_ = s.ok();
      if (!s.ok() && !env_->FileExists(name_)) {
        // LevelDB's message, which finds the missing directory with LOCK.
        if (s.IsNotFound())
          return Status::NotFound(LockPath(name_), "No such file or directory (nor the one above it)");
        return Status::IOError(name_, "cannot create the directory: " + s.ToString());
      }
    }
    s = Take();
  } while (s.IsNotFound() && !env_->FileExists(name_));
  return s;
}

void DirectoryLock::Undo() {
  if (held() && made_lock_) env_->RemoveFile(LockPath(name_)).IgnoreError();
  lock_.Unlock();
  if (std::exchange(made_directory_, false)) env_->RemoveDir(name_).IgnoreError();
}

void DirectoryLock::Remove() {
  CHECK(held());
  made_lock_ = made_directory_ = true;
  Undo();
}

}  // namespace miodb
