// Making, emptying and naming the directory.

#include "src/db/copy/workshop.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "src/util/files/posix_file.h"

namespace miodb {

// Only what says that it is a copy in the making may be emptied. A directory without anything in it is what a
// call leaves that was cut off at its first step; what has LOCK was opened since.
Status Workshop::CheckLeft() const {
  struct stat info;
  if (::lstat(path_.c_str(), &info) != 0 || info.st_uid != ::geteuid()) {
    return Status::InvalidArgument(path_, "exists, and is another user's: move it away");
  }
  std::vector<std::string> names;
  Status s = env_->GetChildren(path_, &names);
  if (!s.ok()) return Status::IOError(path_, "cannot be looked at: " + s.ToString());
  bool blank = true;
  for (const std::string& name : names) blank = blank && (name == "." || name == "..");
  if (blank || (Exists(Mark()) && !Exists(LockPath(path_)))) return s;
  return Status::InvalidArgument(path_, "exists, and is no copy that was cut off: move it away");
}

// The lock tells a copy that was cut off from one that another call is making.
Status Workshop::Open(const std::function<void()>& left) {
  CHECK(!lock_.held());
  if (Exists(directory_)) return Status::InvalidArgument(directory_, "exists: the directory of a copy is made with it");
  if (directory_.ends_with(".tmp")) {
    return Status::InvalidArgument(directory_, "ends in .tmp, as a copy that was cut off does");
  }
  const std::string parent = DirectoryOf(directory_);
  if (!env_->FileExists(parent)) {
    return Status::InvalidArgument(parent, "does not exist: the copy would be in it");
  }
  Status s = RefuseLink(path_);
  if (!s.ok()) return s;
  if (Exists(path_)) {
    s = CheckLeft();
  } else {
    s = env_->CreateDir(path_);
    if (!s.ok()) return Status::IOError(path_, "cannot create the directory: " + s.ToString());
  }
  if (s.ok()) s = lock_.Lock(Mark());
  if (!s.ok()) return s.IsNotFound() ? Status::IOError(path_, "another copy is made there") : s;
  CHECK(left != nullptr);
  left();
  return Empty(path_);
}

// Files but the mark, and the one folder that a copy has.
Status Workshop::Empty(const std::string& folder) const {
  CHECK(lock_.held());
  std::vector<std::string> names;
  Status s = env_->GetChildren(folder, &names);
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    if (!s.ok() || name == "." || name == ".." || path == Mark()) continue;
    if (path == SsdFolder(path_) && !IsLink(path)) {
      s = Empty(path);
      if (s.ok()) s = env_->RemoveDir(path);
    } else {
      s = env_->RemoveFile(path);
    }
  }
  return s;
}

// The mark goes last, so that a removal that is cut off, or fails, can be repeated.
void Workshop::Remove() {
  const bool emptied = Empty(path_).ok();
  if (emptied) env_->RemoveFile(Mark()).IgnoreError();
  lock_.Unlock();
  if (emptied) env_->RemoveDir(path_).IgnoreError();
}

// The mark is gone for good before the call returns: with it a copy that is whole could be taken for one in the making,
// if it is given such a name.
Status Workshop::Publish() {
  CHECK(lock_.held());
  Status s = SyncDirectory(path_);
  if (!s.ok()) return s;
  if (RenameToNew(path_, directory_) != 0) {
    return Status::IOError(path_, "cannot rename to " + directory_ + ": " + strerror(errno));
  }
  s = SyncDirectoryOf(directory_);
  if (!s.ok()) {  // a name that may not last is worse than none
    ::rename(directory_.c_str(), path_.c_str());
    return s;
  }
  // The directory is whole and has its name: a mark that stays in it means nothing.
  if (env_->RemoveFile(CheckpointMarkPath(directory_)).ok()) SyncDirectory(directory_).IgnoreError();
  lock_.Unlock();
  return s;
}

}  // namespace miodb
