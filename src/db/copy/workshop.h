// Workshop: the directory in which a database is made that others are not to see before it is whole.
//
// The workshop is DIRECTORY.tmp, and has in it a locked file CHECKPOINT, which says that a checkpoint or a restored
// backup is in the making. By this file a workshop that was cut off is recognised, and emptied. Publish gives the
// directory its name.
//
// Threads: one; several processes may have workshops of the same name, of which all but one are refused.
// After a crash: DIRECTORY.tmp, which the next workshop for DIRECTORY takes up; or DIRECTORY as a whole, maybe
// with the file CHECKPOINT still in it.

#ifndef MIODB_SRC_DB_COPY_WORKSHOP_H_
#define MIODB_SRC_DB_COPY_WORKSHOP_H_

#include <sys/stat.h>

#include <functional>
#include <string>

#include "src/format/file_names.h"
#include "src/util/check/check.h"
#include "src/util/files/held_lock.h"

namespace miodb {

inline bool Exists(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0;
}

// A name without slashes at its end: what is made beside it has the same and something behind it.
inline std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// Where a copy of a database has its SSD tier, unless it was asked to have it elsewhere.
inline std::string SsdFolder(const std::string& directory) { return directory + "/ssd"; }

// DIRECTORY.tmp, from its making to its rename. The destructor removes the directory, unless it was renamed.
class Workshop {
 public:
  Workshop(Env* env, const std::string& directory)
      : env_(env), directory_(WithoutSlashes(directory)), path_(directory_ + ".tmp"), lock_(env) {
    CHECK(env != nullptr);
  }
  ~Workshop() {
    if (lock_.held()) Remove();
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  const std::string& path() const { return path_; }
  const std::string& directory() const { return directory_; }

  // left: called before what an earlier one has left is removed.
  Status Open(const std::function<void()>& left = [] {});

  // Everything in it is durable.
  Status Publish();

 private:
  std::string Mark() const { return CheckpointMarkPath(path_); }
  Status CheckLeft() const;
  Status Empty(const std::string& folder) const;
  void Remove();

  Env* const env_;
  const std::string directory_;
  const std::string path_;
  HeldLock lock_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_COPY_WORKSHOP_H_
