// System calls by which regions ask file systems.
//
// Threads: any.

#ifndef MIODB_SRC_NUMA_FILE_SYSTEM_H_
#define MIODB_SRC_NUMA_FILE_SYSTEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "miodb/status.h"

namespace miodb {

// Makes the names in the folder that path lies in durable. Stricter than SyncDirectoryOf: a folder that cannot be
// synced is an error, since a pool without its name is lost.
Status SyncNames(const std::string& path);

// Gives storage to a range of a file. Returns an error number, or 0. EFBIG, and no signal, if the process may not have
// files as large (ulimit -f).
int Allocate(int fd, uint64_t offset, uint64_t size);

// Gives a range of a file blocks of its own, where it may share some with the file that it is a copy of: a store into
// these would need new ones. Holes in the range may be filled as well. Returns an error number, or 0, also where the
// file system has nothing of the kind.
int Unshare(int fd, uint64_t offset, uint64_t size);

// Whether a store into a block that the file has goes to a new block (btrfs, unless told otherwise). On a full file
// system it is a SIGBUS then.
bool CopiesOnWrite(int fd);

// Tells the file system to write the file, which is empty, in place. Returns an error number, or 0.
int StopCopyOnWrite(int fd);

// Takes the storage of a range away and keeps the length. Returns an error number, or 0.
int PunchHole(int fd, uint64_t offset, uint64_t size);

// Stretches of the first size bytes of a file that may have no storage, in order. Storage that was never written counts
// as none. Empty as well if the file system does not tell.
struct FileHole {
  uint64_t begin;
  uint64_t end;
};
std::vector<FileHole> HolesOf(int fd, uint64_t size);

// Bytes of a file system in all, and bytes that are left. File systems in memory may give no figure, because they take
// whatever memory the machine has.
struct FileSystemSize {
  uint64_t total = 0;
  uint64_t available = 0;
};

// Measures the file system of the open file.
Status MeasureFileSystem(int fd, const std::string& path, FileSystemSize* size);

// Measures the file system on which path lies, or would lie if it were made.
Status MeasureFileSystemOf(const std::string& path, FileSystemSize* size);

}  // namespace miodb

#endif  // MIODB_SRC_NUMA_FILE_SYSTEM_H_
