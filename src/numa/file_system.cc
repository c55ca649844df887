#include "src/numa/file_system.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "src/util/check/check.h"
#include "src/util/files/descriptors.h"
#include "src/util/files/file_size_limit.h"
#include "src/util/files/posix_file.h"

// System calls about files and file systems. Errors come back as numbers where the caller decides what they mean, and
// as a status where they only have to be told.

namespace miodb {

#ifndef FALLOC_FL_UNSHARE_RANGE
#define FALLOC_FL_UNSHARE_RANGE 0x40
#endif

namespace {

// 0 if the file is not there or has no number: systems differ in what of /sys they have.
uint64_t ReadNumber(const std::string& file) {
  uint64_t number = 0;
  MakeDescriptor([&] { return std::ifstream(file); }) >> number;
  return number;
}

// A hugetlbfs without a limit of its own takes what pages of its size the system keeps.
FileSystemSize HugePagePool(uint64_t page_bytes) {
  const std::string folder = "/sys/kernel/mm/hugepages/hugepages-" + std::to_string(page_bytes >> 10) + "kB/";
  const uint64_t free = ReadNumber(folder + "free_hugepages");
  FileSystemSize size;
  size.total = ReadNumber(folder + "nr_hugepages") * page_bytes;
  size.available = (free - std::min(free, ReadNumber(folder + "resv_hugepages"))) * page_bytes;
  return size;
}

// A tmpfs without a limit names no sizes, or sizes that do not fit into bytes: then it is what memory there is.
FileSystemSize SizeOf(const struct statfs& fs) {
  FileSystemSize size;
  const uint64_t block = static_cast<uint64_t>(fs.f_frsize > 0 ? fs.f_frsize : fs.f_bsize);
  size.total = static_cast<uint64_t>(fs.f_blocks) * block;
  size.available = static_cast<uint64_t>(fs.f_bavail) * block;
  if (size.total / block == static_cast<uint64_t>(fs.f_blocks) && fs.f_blocks > 0) return size;
  if (fs.f_type == HUGETLBFS_MAGIC) return HugePagePool(static_cast<uint64_t>(fs.f_bsize));
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  size.total = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page;
  size.available = static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * page;
  return size;
}

}  // namespace

// Called when a pool or a region gets its name and before anything durable refers to it: a crash must not leave a
// manifest whose file nobody can find.
Status SyncNames(const std::string& path) {
  const std::string dirname = DirectoryOf(path);
  const Descriptor dir(OpenFile(dirname, O_RDONLY | O_DIRECTORY));
  if (!dir.valid()) return Status::IOError(dirname, strerror(errno));
  if (Retry([&] { return fsync(dir.get()); }) == 0) return Status::OK();
  return Status::IOError(dirname, std::string("fsync: ") + strerror(errno));
}

// posix_fallocate gives storage now, so that a later store through the mapping cannot meet a full file system, which
// would be a SIGBUS in the middle of a put. The limit of the process is asked first, because going beyond it is a
// signal as well.
int Allocate(int fd, uint64_t offset, uint64_t size) {
  CHECK(fd >= 0 && size > 0);
  struct stat st;
  const uint64_t limit = FileSizeLimit();
  if (offset + size > limit && fstat(fd, &st) == 0 && static_cast<uint64_t>(st.st_size) < offset + size) return EFBIG;
  int error;
  do {
    error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(size));
  } while (error == EINTR);
  return error;
}

// Only three errors mean that a store could fail later for want of space or of a sound disk; every other one says that
// the file system has no shared blocks, and nothing to do.
int Unshare(int fd, uint64_t offset, uint64_t size) {
  CHECK_GE(fd, 0);
  const auto call = [&] {
    return fallocate(fd, FALLOC_FL_UNSHARE_RANGE, static_cast<off_t>(offset), static_cast<off_t>(size));
  };
  return size > 0 && Retry(call) != 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO) ? errno : 0;
}

// Only btrfs is asked. File systems that copy blocks which two files share (XFS) are what Unshare is for.
bool CopiesOnWrite(int fd) {
  CHECK_GE(fd, 0);
  struct statfs fs;
  int flags = 0;
  return fstatfs(fd, &fs) == 0 && fs.f_type == BTRFS_SUPER_MAGIC &&
         (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0 || (flags & FS_NOCOW_FL) == 0);
}

// Works on an empty file alone, so it is called right after a file was made. The flag is looked at again afterwards,
// because the system may accept the call and change nothing.
int StopCopyOnWrite(int fd) {
  CHECK_GE(fd, 0);
  int flags = 0;
  if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return errno;
  flags = (flags | FS_NOCOW_FL) & ~FS_COMPR_FL;  // files are not both
  if (ioctl(fd, FS_IOC_SETFLAGS, &flags) != 0) return errno;
  return CopiesOnWrite(fd) ? EOPNOTSUPP : 0;
}

// The range reads as zeros afterwards, through a mapping too.
int PunchHole(int fd, uint64_t offset, uint64_t size) {
  CHECK(fd >= 0 && size > 0 && size <= UINT64_MAX - offset);
  const auto punch = [&] {
    return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                     static_cast<off_t>(size));
  };
  return Retry(punch) == 0 ? 0 : errno;
}

// SEEK_HOLE and SEEK_DATA find the holes: a file system that does not tell holes from data says that everything is
// data, so an empty list means no hole that anybody knows. The walk takes one or two system calls for each hole.
std::vector<FileHole> HolesOf(int fd, uint64_t size) {
  CHECK_GE(fd, 0);
  std::vector<FileHole> holes;
  for (uint64_t at = 0; at < size;) {
    const off_t hole = lseek(fd, static_cast<off_t>(at), SEEK_HOLE);
    if (hole < 0) return {};
    if (static_cast<uint64_t>(hole) >= size) break;
    const off_t data = lseek(fd, hole, SEEK_DATA);
    if (data < 0 && errno != ENXIO) return {};  // ENXIO: a hole up to the end
    at = data < 0 ? size : std::min(static_cast<uint64_t>(data), size);
    holes.push_back({static_cast<uint64_t>(hole), at});
    CHECK_LE(holes.back().end, size);
  }
  return holes;
}

// Asked by the open file, so that a name that leads elsewhere by now does not matter.
Status MeasureFileSystem(int fd, const std::string& path, FileSystemSize* size) {
  struct statfs fs;
  if (fstatfs(fd, &fs) != 0) return Status::IOError(path, std::string("statfs: ") + strerror(errno));
  *size = SizeOf(fs);
  return Status::OK();
}

// path need not be there yet: the folder tells as well.
Status MeasureFileSystemOf(const std::string& path, FileSystemSize* size) {
  struct statfs fs;
  if (statfs(path.c_str(), &fs) != 0 && statfs(DirectoryOf(path).c_str(), &fs) != 0) {
    return Status::IOError(path, std::string("statfs: ") + strerror(errno));
  }
  *size = SizeOf(fs);
  return Status::OK();
}

}  // namespace miodb
