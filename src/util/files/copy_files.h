// Files that a copy of a database is written into: a checkpoint, a backup, a restored database. A program makes a copy
// anew when there is room, so a full disk is NoSpace, as a full pool is. For all further files it is an IOError, as
// with LevelDB.
//
// Threads: any.

#ifndef MIODB_SRC_UTIL_FILES_COPY_FILES_H_
#define MIODB_SRC_UTIL_FILES_COPY_FILES_H_

#include <cerrno>
#include <string>
#include <system_error>

#include "miodb/env.h"
#include "miodb/status.h"
#include "src/util/check/check.h"
#include "src/util/files/posix_file.h"

namespace miodb {

// The error of a call that finds no room on the file system.
enum class FullDisk { kIsIoError, kIsNoSpace };

// PosixError of a call that wants room: a file system, a quota or a limit (ulimit -f) may have none.
inline Status RoomError(const std::string& context, int error_number, FullDisk full) {
  DCHECK_GT(error_number, 0);  // 0: errno was changed before it was looked at
  const bool lacks_room = error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
  if (!lacks_room || full == FullDisk::kIsIoError) return PosixError(context, error_number);
  return Status::NoSpace(context, std::system_category().message(error_number));
}

// Returns the Env of the system that has the same access and writes copies, through no link (RefusingLinks). An Env of
// the program's own goes by its own rules, and is returned.
Env* WritingCopies(Env* env);

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_FILES_COPY_FILES_H_
