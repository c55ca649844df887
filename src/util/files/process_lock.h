// A lock on a mapped file that is this process's alone.
//
// flock's locks belong to an open file and end with its last descriptor and its last mapping. A child of fork()
// inherits both, so a lock would outlast the process that took it, and what that had open could not be opened again. So
// the lock is taken on the file opened once more, which nobody maps and children close.
//
// Threads: any.

#ifndef MIODB_SRC_UTIL_FILES_PROCESS_LOCK_H_
#define MIODB_SRC_UTIL_FILES_PROCESS_LOCK_H_

namespace miodb {

// Locks the file behind a descriptor for writing, without waiting. As flock: 0, or -1 with errno, EWOULDBLOCK if
// somebody else has it.
int LockForProcess(int fd);

// Ends such a lock. Before the descriptor is closed; one that has no lock is left alone.
void UnlockForProcess(int fd);

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_FILES_PROCESS_LOCK_H_
