// Files of regions by system calls: opening and locking, their storage, and their names.

#include "src/nvm/region/region_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "src/format/superblock.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/check/no_throw.h"
#include "src/util/files/descriptors.h"
#include "src/util/files/file_size_limit.h"
#include "src/util/files/posix_file.h"
#include "src/util/files/process_lock.h"

namespace miodb {

namespace {

// How the options call memory without a name.
constexpr char kAnonymousPath[] = "anonymous";

// If the file is copied on write, its file system must have so much left for an open: enough for the stores of the open
// itself.
constexpr uint64_t kRoomToCopy = uint64_t{64} << 20;
constexpr char kHowToStopCopies[] = "Make room, or make a folder, chattr +C it, and copy the database there";

}  // namespace

const char* RegionKindName(RegionKind kind) {
  switch (kind) {
    case RegionKind::kFsdax:
      return "fsdax";
    case RegionKind::kDevdax:
      return "devdax";
    case RegionKind::kTmpfs:
      return "tmpfs";
    case RegionKind::kHugetlbfs:
      return "hugetlbfs";
    case RegionKind::kOtherFile:
      return "file";
    case RegionKind::kAnonymous:
      return "anonymous";
    case RegionKind::kCallersMemory:
      return "memory";
  }
  return "";
}

bool IsAnonymousPath(const std::string& path) { return path == kAnonymousPath; }

// A link to a device is a device. A path that does not exist, or cannot be looked at, counts as a file: opening it
// tells the error.
PathKind KindOfPath(const std::string& path) {
  if (IsAnonymousPath(path)) return PathKind::kAnonymous;
  struct stat st;
  return stat(path.c_str(), &st) == 0 && S_ISCHR(st.st_mode) ? PathKind::kDevice : PathKind::kFile;
}

RegionFile::RegionFile(MemoryMedium* medium)
    : path_("memory"), medium_(medium), kind_(RegionKind::kCallersMemory), granularity_(kExtentUnit) {
  CHECK(medium != nullptr && medium->base != nullptr);
  CHECK_EQ(reinterpret_cast<uintptr_t>(medium->base) % kPoolHeaderSize, 0u);  // as its header asks
}

// The lock goes before the descriptor: locks are kept by its number, which another thread may be given at once.
RegionFile::~RegionFile() {
  if (fd_ < 0) return;
  UnlockForProcess(fd_);
  close(fd_);
}

// Three errors mean that space is short, which the database takes for a state it can leave again (NoSpace); all others
// are of the medium.
Status RegionFile::Error(const char* what) const {
  const int error = errno;
  DCHECK_NE(error, 0);
  const std::string reason = std::string(what) + ": " + strerror(error);
  if (error == ENOSPC || error == EDQUOT) return Status::NoSpace(path_, reason);
  if (error != EFBIG) return Status::IOError(path_, reason);
  const uint64_t limit = FileSizeLimit();
  return Status::NoSpace(path_, limit == UINT64_MAX ? reason
                                                    : reason + ": files of this process may have " +
                                                          std::to_string(limit) + " bytes (ulimit -f)");
}

// ---- Opening

// Locked before anything is in it, so that nobody removes it for what a crash left of making one. A file that cannot be
// made ready is removed.
Status RegionFile::Create(FileAccess access) {
  CHECK(fd_ == -1 && medium_ == nullptr);
  const bool anonymous = IsAnonymousPath(path_);
  if (anonymous) kind_ = RegionKind::kAnonymous;
  fd_ = anonymous ? MakeDescriptor([] { return memfd_create("miodb", MFD_CLOEXEC); })
                  : CreateNewFile(path_, O_RDWR, access);
  if (fd_ < 0) return Status::IOError(path_, strerror(errno));
  Status s = Lock();
  if (s.ok()) s = FindKind();
  if (s.ok()) s = WriteInPlace();
  if (!s.ok() && !anonymous) unlink(path_.c_str());
  return s;
}

// The lock comes before the size, which another database could be changing. A reader takes the size that there is, and
// later the one that there is then.
Status RegionFile::Open(uint64_t* size, RegionUse use) {
  DCHECK(size != nullptr);
  Status s = OpenExisting(use);
  if (s.ok() && use == RegionUse::kOwner) s = Lock();
  if (s.ok()) s = Measure(size, use);
  return s;
}

Status RegionFile::SizeNow(uint64_t* size) const {
  CHECK(fd_ >= 0 && granularity_ > 0);
  struct stat st;
  if (fstat(fd_, &st) != 0) return Error("stat");
  *size = static_cast<uint64_t>(st.st_size) / granularity_ * granularity_;
  DCHECK_EQ(*size % kExtentUnit, 0u);
  return Status::OK();
}

// A FIFO, a socket or a folder at the path is refused, and not waited for: others may write into the folder.
Status RegionFile::OpenExisting(RegionUse use) {
  CHECK(fd_ == -1 && medium_ == nullptr);
  Descriptor fd(-1);
  Status s = OpenTyped(path_, use == RegionUse::kOwner ? O_RDWR : O_RDONLY, FileType::kRegularOrDevice, &fd);
  fd_ = fd.release();
  CHECK_EQ(s.ok(), fd_ >= 0);
  return s.IsNotFound() ? Status::IOError(path_, strerror(ENOENT)) : s;
}

// The lock is this process's alone and does not live on in a child that it forks (process_lock.h).
Status RegionFile::Lock() const {
  CHECK_GE(fd_, 0);
  if (kind_ == RegionKind::kAnonymous) return Status::OK();  // nobody else can open it
  if (LockForProcess(fd_) == 0) return Status::OK();
  return errno == EWOULDBLOCK ? Status::IOError(path_, "the pool is in use by another open database") : Error("flock");
}

Status RegionFile::Measure(uint64_t* size, RegionUse use) {
  CHECK_GE(fd_, 0);
  struct stat st;
  if (fstat(fd_, &st) != 0) return Error("stat");
  if (S_ISCHR(st.st_mode)) return MeasureDevice(major(st.st_rdev), minor(st.st_rdev), size);
  Status s = FindKind();
  return s.ok() ? MeasureFile(size, use) : s;
}

// The file system's number tells the kind; whether it is DAX shows only when it is mapped (SetDax).
Status RegionFile::FindKind() {
  CHECK_GE(fd_, 0);
  struct statfs fs;
  struct stat st;
  if (fstatfs(fd_, &fs) != 0) return Error("statfs");
  if (fstat(fd_, &st) != 0) return Error("stat");
  if (kind_ != RegionKind::kAnonymous) {
    kind_ = fs.f_type == TMPFS_MAGIC       ? RegionKind::kTmpfs
            : fs.f_type == HUGETLBFS_MAGIC ? RegionKind::kHugetlbfs
                                           : RegionKind::kOtherFile;
  }
  granularity_ = kind_ == RegionKind::kHugetlbfs ? static_cast<uint64_t>(fs.f_bsize) : kExtentUnit;
  CHECK_EQ(granularity_ % kExtentUnit, 0u);  // extents would else end inside of a page
  file_system_ = st.st_dev;
  return Status::OK();
}

// The size is rounded down: what a growth that failed, or a copy that was cut off, left behind the last unit is
// nobody's. st_blocks counts blocks of 512 bytes, whatever those of the file system are.
Status RegionFile::MeasureFile(uint64_t* size, RegionUse use) {
  CHECK_GT(granularity_, 0u);  // FindKind came before
  struct stat st;
  if (fstat(fd_, &st) != 0) return Error("stat");
  if (!S_ISREG(st.st_mode)) {
    return Status::InvalidArgument(path_, "the pool is neither a regular file nor a DAX device");
  }
  *size = static_cast<uint64_t>(st.st_size) / granularity_ * granularity_;
  if (*size < 2 * kPoolHeaderSize) return Status::Corruption(path_, "too short to be a pool");
  if (use == RegionUse::kReader) return Status::OK();  // what blocks a file has matters to who stores
  return OwnAllBlocks(*size, static_cast<uint64_t>(st.st_blocks) * 512);
}

// A copy may share blocks with the original, or be copied on write, and it or a pool that gave space back may have
// holes. On a full file system a store would be a SIGBUS then.
Status RegionFile::OwnAllBlocks(uint64_t size, uint64_t allocated) {
  CHECK_EQ(size % granularity_, 0u);
  FileSystemSize file_system;
  Status s = MeasureFileSystem(fd_, path_, &file_system);
  if (s.ok()) s = FindHoles(size, allocated);
  if (!s.ok()) return s;
  // Between the holes only: to unshare a hole would fill it.
  uint64_t begin = 0;
  for (size_t i = 0; i <= holes_at_open_.size(); i++) {
    const FileHole hole = i < holes_at_open_.size() ? holes_at_open_[i] : FileHole{size, size};
    CHECK(begin <= hole.begin && hole.begin <= hole.end);
    errno = Unshare(fd_, begin, hole.begin - begin);
    if (errno != 0) return Error("cannot give the file blocks of its own");
    begin = hole.end;
  }
  copies_on_write_ = CopiesOnWrite(fd_);
  if (!copies_on_write_ || file_system.available >= std::min(size, kRoomToCopy)) return Status::OK();
  return Status::NoSpace(path_, "its file system copies on write and has " + std::to_string(file_system.available) +
                                    " bytes left: a store into the pool could end the process. " + kHowToStopCopies);
}

// Holes that nobody uses stay what they are: what is in use is filled when recovery claims it. The header page is
// filled here, for it is stored to before any claim.
Status RegionFile::FindHoles(uint64_t size, uint64_t allocated) {
  CHECK(holes_at_open_.empty());
  // Only shared memory says exactly what it has taken. On disks the file system's own blocks count, too.
  if (allocated != size || kind_ == RegionKind::kOtherFile) holes_at_open_ = HolesOf(fd_, size);
  // Blocks are missing, and the file system does not say where: any of it may be a hole.
  if (allocated < size && holes_at_open_.empty()) holes_at_open_.push_back({0, size});
  if (holes_at_open_.empty() || holes_at_open_.front().begin >= kPoolHeaderSize) return Status::OK();
  FileHole& first = holes_at_open_.front();
  errno = Allocate(fd_, 0, kPoolHeaderSize);
  if (errno != 0) return Error("cannot fill a hole at its beginning");
  first.begin = kPoolHeaderSize;
  if (first.end <= first.begin) holes_at_open_.erase(holes_at_open_.begin());
  return Status::OK();
}

// A new file must not be copied on write.
Status RegionFile::WriteInPlace() {
  CHECK_GE(fd_, 0);
  if (kind_ == RegionKind::kAnonymous || !CopiesOnWrite(fd_)) return Status::OK();
  // While the file is empty: afterwards a file system does not take it any more.
  const int error = StopCopyOnWrite(fd_);
  if (error == 0) return Status::OK();
  return Status::NotSupported(path_, std::string("its file system copies on write, and that cannot be turned off: ") +
                                         strerror(error) +
                                         "; a store could end the process when there is no space. "
                                         "Use another file system, or mount this one with nodatacow");
}

// sysfs knows what a device cannot be asked.
Status RegionFile::MeasureDevice(unsigned major, unsigned minor, uint64_t* size) {
  const std::string folder = "/sys/dev/char/" + std::to_string(major) + ":" + std::to_string(minor);
  uint64_t alignment = 0;
  *size = 0;
  MakeDescriptor([&] { return std::ifstream(folder + "/size"); }) >> *size;
  MakeDescriptor([&] { return std::ifstream(folder + "/align"); }) >> alignment;
  if (*size < 2 * kPoolHeaderSize || alignment == 0) {
    return Status::InvalidArgument(path_, "the pool is neither a regular file nor a DAX device");
  }
  kind_ = RegionKind::kDevdax;
  granularity_ = alignment;
  return Status::OK();
}

// A device is devdax already, by its number.
void RegionFile::SetDax() {
  CHECK(kind_ != RegionKind::kAnonymous && kind_ != RegionKind::kCallersMemory);
  if (kind_ != RegionKind::kDevdax) kind_ = RegionKind::kFsdax;
}

// ---- Storage

// The size of the file system, not the space left: somebody may make room.
Status RegionFile::LargestSize(uint64_t* bytes) const {
  CHECK_GE(fd_, 0);
  FileSystemSize file_system;
  Status s = MeasureFileSystem(fd_, path_, &file_system);
  *bytes = file_system.total;
  return s;
}

// fallocate, in the end: it takes blocks and leaves the bytes zero, or as they are where there were blocks.
Status RegionFile::Store(uint64_t offset, uint64_t size, const std::string& what) {
  CHECK(!keeps_storage() && fd_ >= 0);
  CHECK(size > 0 && size <= INT64_MAX - offset);
  errno = Allocate(fd_, offset, size);
  return errno == 0 ? Status::OK() : Error(what.c_str());
}

// Large pages are kept: a file on hugetlbfs does not tell its holes.
Status RegionFile::Punch(uint64_t offset, uint64_t size) {
  if (keeps_storage() || kind_ == RegionKind::kHugetlbfs) return Status::NotSupported(path_, "keeps its storage");
  CHECK(offset % granularity_ == 0 && size % granularity_ == 0 && size > 0);
  errno = PunchHole(fd_, offset, size);
  if (errno == 0) return Status::OK();
  const bool never = errno == EOPNOTSUPP || errno == ENOSYS;
  return never ? Status::NotSupported(path_, "its file system makes no holes") : Error("cannot make a hole");
}

// XFS makes a hole first, and fills it then if there is room. More file systems may do so.
bool RegionFile::Zero(uint64_t offset, uint64_t size) {
  struct statfs fs;
  if (keeps_storage() || fstatfs(fd_, &fs) != 0 || fs.f_type != EXT4_SUPER_MAGIC) return false;
  CHECK(offset % granularity_ == 0 && size % granularity_ == 0 && size > 0);
  return Retry([&] {
           return fallocate(fd_, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                            static_cast<off_t>(size));
         }) == 0;
}

// The mapping stays, beyond the new end too: nobody touches what is not below the region's size.
Status RegionFile::Cut(uint64_t size) {
  CHECK(!keeps_storage() && fd_ >= 0);
  CHECK_EQ(size % granularity_, 0u);
  return Retry([&] { return ftruncate(fd_, static_cast<off_t>(size)); }) == 0 ? Status::OK() : Error("ftruncate");
}

// More than the file's size where its file system counts what it keeps for itself; then all of it has storage.
uint64_t RegionFile::StoredBytes(uint64_t size) const {
  DCHECK(keeps_storage() || fd_ >= 0);
  struct stat st;
  if (keeps_storage() || fstat(fd_, &st) != 0) return size;
  return std::min(size, static_cast<uint64_t>(st.st_blocks) * 512);
}

// SEEK_DATA finds the next data at or behind a place, which is the place itself if it has storage.
bool RegionFile::HasStorageAt(uint64_t offset) const {
  DCHECK_GE(fd_, 0);
  return lseek(fd_, static_cast<off_t>(offset), SEEK_DATA) == static_cast<off_t>(offset);
}

// 0 if the file system does not answer: a figure that promises nothing.
uint64_t RegionFile::Available(uint64_t size) const {
  DCHECK(keeps_storage() || fd_ >= 0);
  FileSystemSize file_system;
  if (keeps_storage() || !MeasureFileSystem(fd_, path_, &file_system).ok()) return 0;
  const uint64_t limit = FileSizeLimit();
  return std::min(file_system.available, limit - std::min(limit, size));
}

// For a file that is to get its name, so that the name stands for its length as well. Growth is not synced: with
// MAP_SYNC the place of a page is durable with its fault, and in file mode msync sees to it with the page.
Status RegionFile::Sync() {
  if (keeps_storage()) return Status::OK();  // it has nothing but its bytes
  CHECK_GE(fd_, 0);
  return Retry([this] { return fsync(fd_); }) == 0 ? Status::OK() : Error("fsync");
}

// ---- Names

// The name is what makes the file a pool, or a region, so it is never taken from a file that has it, and it is durable
// before anybody is told.
Status RegionFile::Rename(const std::string& to) {
  CHECK(!keeps_storage() && kind_ != RegionKind::kAnonymous);
  CHECK(fd_ >= 0 && to != path_);
  std::string name = to;  // before the file has it: without memory a file keeps the name by which it can be removed
  if (RenameToNew(path_, to) != 0) return Error(("cannot rename to " + to).c_str());
  path_.swap(name);
  const Status s =
      NoThrow(path_, [this] { return MIODB_MUTATED(kPoolNameUnsynced) ? Status::OK() : SyncNames(path_); });
  if (!s.ok()) unlink(path_.c_str());  // a name that may not last is worse than none
  return s;
}

// A device has the size that it could have at most.
Status RegionFile::SizeOf(const std::string& path, uint64_t* bytes) {
  if (KindOfPath(path) == PathKind::kDevice) return LargestSizeOf(path, bytes);
  struct stat st;
  if (stat(path.c_str(), &st) != 0) return Status::IOError(path, strerror(errno));
  *bytes = static_cast<uint64_t>(st.st_size);
  return Status::OK();
}

// A device is opened for this, without a lock: it may be in use.
Status RegionFile::LargestSizeOf(const std::string& path, uint64_t* bytes) {
  const PathKind kind = KindOfPath(path);
  *bytes = 0;
  if (kind == PathKind::kDevice) {
    RegionFile device(path);
    Status s = device.OpenExisting();
    return s.ok() ? device.Measure(bytes) : s;
  }
  FileSystemSize file_system;
  // Nameless memory has what shared memory has.
  Status s = MeasureFileSystemOf(kind == PathKind::kAnonymous ? "/proc" : path, &file_system);
  *bytes = file_system.total;
  return s;
}

// The lock is let go at once: what is asked is whether somebody else has it.
Status RegionFile::CheckUnused(const std::string& path) {
  RegionFile file(path);
  Status s = file.OpenExisting();
  return s.ok() ? file.Lock() : s;
}

// Removed under its lock, so that no database opens the file between the question whether it is in use and the unlink.
Status RegionFile::Remove(const std::string& path) {
  RegionFile file(path);
  if (access(path.c_str(), F_OK) != 0 && errno == ENOENT) return Status::OK();
  Status s = file.OpenExisting();
  if (s.ok()) s = file.Lock();
  if (s.ok() && unlink(path.c_str()) != 0) s = file.Error("unlink");
  return s;
}

// For repair. The old file has its second name durably before the first is taken from it: a crash at any moment leaves
// a file at path, the old one or the fresh one, and never loses the old one.
Status RegionFile::Replace(const std::string& path, const std::string& fresh, const std::string& kept) {
  CHECK(path != fresh && path != kept && fresh != kept);
  if (link(path.c_str(), kept.c_str()) != 0) return Status::IOError(kept, std::string("link: ") + strerror(errno));
  // From here on the old file has two names, of which a crash may leave both.
  Status s = SyncNames(kept);
  if (s.ok() && rename(fresh.c_str(), path.c_str()) != 0) {
    s = Status::IOError(path, "cannot rename " + fresh + " to it: " + strerror(errno));
  }
  if (!s.ok()) {
    unlink(kept.c_str());
    return s;
  }
  return SyncNames(path);
}

}  // namespace miodb
