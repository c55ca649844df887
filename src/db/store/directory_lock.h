// DirectoryLock: the file LOCK of a database's directory, which one open, removal, repair or move holds at a time.
//
// LOCK is the first file that is made and the last that is removed. Its name is removed while the lock is held: behind
// that, the name might lead to the lock of somebody who was quicker. Whoever has opened the removed file meanwhile
// finds that the name does not lead to it, and opens what does (src/api/env/posix_locks.h). So a look at the database
// decides nothing before the lock is held, but for one answer: that there is nothing.
//
// Threads: one. After a crash: LOCK is there, locked by nobody, and the directory.

#ifndef MIODB_SRC_DB_STORE_DIRECTORY_LOCK_H_
#define MIODB_SRC_DB_STORE_DIRECTORY_LOCK_H_

#include <string>

#include "miodb/env.h"
#include "src/util/check/check.h"
#include "src/util/files/held_lock.h"

namespace miodb {

class DirectoryLock {
 public:
  // An object that holds the lock lets go at its end, and leaves the files.
  DirectoryLock(Env* env, const std::string& name) : env_(env), name_(name), lock_(env) { CHECK(env != nullptr); }

  // NotFound without the directory; IOError if somebody else has the lock.
  Status Take();

  // Makes the directory where it is missing.
  Status MakeAndTake();

  bool held() const { return lock_.held(); }

  // Lets go, and removes the files that this object has made: LOCK, and the directory if it is empty then.
  void Undo();

  // Lets go, and removes LOCK, and the directory if it is empty then.
  void Remove();

 private:
  Env* const env_;
  const std::string name_;
  HeldLock lock_;
  bool made_lock_ = false;
  bool made_directory_ = false;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_STORE_DIRECTORY_LOCK_H_
