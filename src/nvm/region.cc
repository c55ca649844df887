#include "src/nvm/region.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "src/format/superblock.h"
#include "src/util/mutation.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

namespace miodb {

namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;

// Pages that are looked at to see where memory lies: when a region is opened, and of every piece that it grows by.
constexpr uint64_t kSampleAtOpen = 64;
constexpr uint64_t kSampleOfGrowth = 16;

// Repeats a system call for as long as a signal interrupts it.
template <typename Call>
int Retry(Call call) {
  int result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

int OpenFile(const std::string& path, int flags) {
  return Retry([&] { return open(path.c_str(), flags | O_CLOEXEC, 0644); });
}

// Gives storage to a range of a file. Returns an error number, or 0.
int Allocate(int fd, uint64_t offset, uint64_t size) {
  int error;
  do {
    error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(size));
  } while (error == EINTR);
  return error;
}

Status SyncDirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string dir = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const int fd = OpenFile(dir, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return Status::IOError(dir, strerror(errno));
  Status s;
  if (Retry([&] { return fsync(fd); }) != 0) s = Status::IOError(dir, std::string("fsync: ") + strerror(errno));
  close(fd);
  return s;
}

}  // namespace

Status Region::Error(const char* what) const {
  const int error = errno;
  const std::string reason = std::string(what) + ": " + strerror(error);
  return error == ENOSPC || error == EDQUOT ? Status::NoSpace(path_, reason) : Status::IOError(path_, reason);
}

Status Region::Create(const std::string& path, uint64_t size, uint64_t max_size, PersistMode wanted,
                      std::unique_ptr<Region>* region, const RegionNodes& nodes) {
  std::unique_ptr<Region> r(new Region(path));
  r->nodes_ = nodes;
  r->fd_ = OpenFile(path, O_RDWR | O_CREAT | O_EXCL);
  if (r->fd_ < 0) return Status::IOError(path, strerror(errno));
  Status s = r->Lock();
  // Mapped before it has any memory, because a binding is one of addresses.
  if (s.ok()) s = r->Map(std::max(max_size, max_size > 0 ? size : 0), wanted);
  if (s.ok()) s = r->Grow(size);
  if (!s.ok()) {
    unlink(path.c_str());
    return s;
  }
  *region = std::move(r);
  return s;
}

Status Region::Open(const std::string& path, uint64_t max_size, PersistMode wanted, std::unique_ptr<Region>* region,
                    const RegionNodes& nodes) {
  std::unique_ptr<Region> r(new Region(path));
  r->nodes_ = nodes;
  const int fd = r->fd_ = OpenFile(path, O_RDWR);
  if (fd < 0) return Status::IOError(path, strerror(errno));
  Status s = r->Lock();
  if (!s.ok()) return s;
  struct stat st;
  if (fstat(fd, &st) != 0) return r->Error("stat");
  s = S_ISCHR(st.st_mode) ? r->MeasureDevice(major(st.st_rdev), minor(st.st_rdev)) : r->MeasureFile();
  if (s.ok()) s = r->Map(max_size, wanted);
  if (s.ok()) s = r->CheckNodes(0, r->size());
  if (s.ok()) *region = std::move(r);
  return s;
}

Status Region::MeasureFile() {
  struct stat st;
  if (fstat(fd_, &st) != 0) return Error("stat");
  if (!S_ISREG(st.st_mode)) {
    return Status::InvalidArgument(path_, "the pool is neither a regular file nor a DAX device");
  }
  const uint64_t size = static_cast<uint64_t>(st.st_size) / kExtentUnit * kExtentUnit;
  if (size < 2 * kPoolHeaderSize) return Status::Corruption(path_, "too short to be a pool");
  // A copy may have holes. On a full file system a store into one would be a SIGBUS.
  if (static_cast<uint64_t>(st.st_blocks) * 512 < size) {
    errno = Allocate(fd_, 0, size);
    if (errno != 0) return Error("cannot fill the holes of the file");
  }
  // release: pairs with size(). Nobody else sees the region yet.
  size_.store(size, std::memory_order_release);
  return Status::OK();
}

// sysfs knows what a device cannot be asked.
Status Region::MeasureDevice(unsigned major, unsigned minor) {
  const std::string folder = "/sys/dev/char/" + std::to_string(major) + ":" + std::to_string(minor);
  uint64_t size = 0, alignment = 0;
  std::ifstream(folder + "/size") >> size;
  std::ifstream(folder + "/align") >> alignment;
  if (size < 2 * kPoolHeaderSize || alignment == 0) {
    return Status::InvalidArgument(path_, "the pool is neither a regular file nor a DAX device");
  }
  kind_ = RegionKind::kDevdax;
  alignment_ = alignment;
  size_.store(size, std::memory_order_release);  // release: as above
  return Status::OK();
}

bool Region::IsDevice(const std::string& path) {
  struct stat st;
  return stat(path.c_str(), &st) == 0 && S_ISCHR(st.st_mode);
}

Status Region::Lock() const {
  if (Retry([this] { return flock(fd_, LOCK_EX | LOCK_NB); }) == 0) return Status::OK();
  return errno == EWOULDBLOCK ? Status::IOError(path_, "the pool is in use by another open database") : Error("flock");
}

std::unique_ptr<Region> Region::InMemory(MemoryMedium* medium) {
  std::unique_ptr<Region> r(new Region("memory"));
  r->medium_ = medium;
  r->base_ = medium->base;
  r->max_size_ = medium->capacity;
  r->mode_ = medium->mode;
  r->size_.store(medium->size, std::memory_order_release);  // release: as in Open
  return r;
}

Region::~Region() {
  if (medium_ != nullptr) return;
  if (base_ != nullptr) munmap(base_, max_size_);
  if (fd_ >= 0) close(fd_);
}

Status Region::Map(uint64_t max_size, PersistMode wanted) {
  const bool device = kind_ == RegionKind::kDevdax;
  const uint64_t alignment = std::max(kHugePage, alignment_);
  if (device) {
    max_size = size();
  } else if (max_size == 0) {
    struct statvfs vfs;
    if (fstatvfs(fd_, &vfs) != 0) return Error("statvfs");
    max_size = static_cast<uint64_t>(vfs.f_blocks) * vfs.f_frsize;
  }
  max_size_ = device ? size() : (std::max(max_size, size()) + kHugePage - 1) / kHugePage * kHugePage;

  // A range aligned for huge pages, taken by reserving more than is needed and giving back both ends.
  char* const reserved = static_cast<char*>(
      mmap(nullptr, max_size_ + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (reserved == MAP_FAILED) {
    return Error(("cannot reserve " + std::to_string(max_size_) + " bytes of address space").c_str());
  }
  char* const aligned =
      reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(reserved) + alignment - 1) & ~(uintptr_t{alignment} - 1));
  const uint64_t front = static_cast<uint64_t>(aligned - reserved);
  if (front > 0) munmap(reserved, front);
  if (front < alignment) munmap(aligned + max_size_, alignment - front);
  base_ = aligned;

  const int protection = PROT_READ | PROT_WRITE;
  void* const synced = mmap(base_, max_size_, protection, MAP_SHARED_VALIDATE | MAP_SYNC | MAP_FIXED, fd_, 0);
  if (synced != MAP_FAILED) {
    mode_ = kPersistPmem;
    if (!device) kind_ = RegionKind::kFsdax;
  } else if (wanted == kPersistPmem) {
    return Status::NotSupported(path_, "this file system cannot map persistent memory with MAP_SYNC");
  } else {
    if (mmap(base_, max_size_, protection, MAP_SHARED | MAP_FIXED, fd_, 0) == MAP_FAILED) return Error("mmap");
    struct statfs fs;
    if (fstatfs(fd_, &fs) != 0) return Error("statfs");
    kind_ = fs.f_type == TMPFS_MAGIC       ? RegionKind::kTmpfs
            : fs.f_type == HUGETLBFS_MAGIC ? RegionKind::kHugetlbfs
                                           : RegionKind::kOtherFile;
    mode_ = kind_ == RegionKind::kOtherFile ? kPersistFile : kPersistEmulated;
  }
  if (wanted == kPersistEmulated || wanted == kPersistFile) mode_ = wanted;
  madvise(base_, max_size_, MADV_HUGEPAGE);  // where the kernel does not do it, small pages serve as well
  madvise(base_, max_size_, MADV_DONTDUMP);
  return CheckBindable();
}

Status Region::CheckBindable() const {
  if (!nodes_.bound() || kind_ != RegionKind::kOtherFile) return Status::OK();
  return Status::InvalidArgument(
      path_, "memory of this file system cannot be bound to NUMA node " + std::to_string(nodes_.node) +
                 " (nvm_node): it lies in the page cache. Use a tmpfs, or a DAX file system on a device of that node");
}

// Binds what Grow is about to add to the first node that has room for it. A DAX file system's memory lies where its
// device is, so there it is only looked at, afterwards.
Status Region::BindGrowth(uint64_t offset, uint64_t size, int* node) {
  *node = kAnyNode;
  if (!nodes_.bound() || kind_ == RegionKind::kFsdax || kind_ == RegionKind::kDevdax) return Status::OK();
  const NumaTopology topology;
  for (int candidate : {nodes_.node, nodes_.next_node}) {
    if (candidate == kAnyNode || topology.AvailableBytes(candidate) < size) continue;
    *node = candidate;
    return BindMemory(base_ + offset, size, candidate);
  }
  return Status::NoSpace(path_, "cannot grow by " + std::to_string(size) + " bytes: " + DescribeNodes());
}

std::string Region::DescribeNodes() const {
  const NumaTopology topology;
  std::string text;
  for (int node : {nodes_.node, nodes_.next_node}) {
    if (node == kAnyNode) continue;
    text += (text.empty() ? "" : ", ") + std::string("NUMA node ") + std::to_string(node) + " has " +
            std::to_string(topology.AvailableBytes(node)) + " bytes available";
  }
  return text;
}

Status Region::CheckNodes(uint64_t offset, uint64_t size) const {
  if (!nodes_.bound()) return Status::OK();
  PageSample sample;
  SamplePages(base_ + offset, size, offset == 0 ? kSampleAtOpen : kSampleOfGrowth, Touch::kForWriting, &sample);
  if (sample.looked_at > 0 && sample.Elsewhere(nodes_.node, nodes_.next_node) == 0) return Status::OK();
  std::string asked = "nvm_node is " + std::to_string(nodes_.node);
  if (nodes_.next_node != kAnyNode) asked += ", nvm_next_node " + std::to_string(nodes_.next_node);
  return Status::InvalidArgument(path_, asked + ", but its memory lies on " + sample.Describe());
}

PageSample Region::Sample(uint64_t count) const {
  PageSample sample;
  const Touch touch = kind_ == RegionKind::kOtherFile ? Touch::kForReading : Touch::kForWriting;
  if (medium_ == nullptr) SamplePages(base_, size(), count, touch, &sample);
  return sample;
}

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
    case RegionKind::kMemory:
      return "memory";
  }
  return "";
}

Status Region::Grow(uint64_t new_size) {
  const uint64_t old_size = size();
  if (new_size <= old_size) return Status::OK();
  if (medium_ != nullptr) {
    if (new_size > medium_->capacity) return Status::NoSpace(path_, "no more memory");
    medium_->size = new_size;
    size_.store(new_size, std::memory_order_release);  // release: as below
    return Status::OK();
  }
  if (kind_ == RegionKind::kDevdax) return Status::NoSpace(path_, "a DAX device does not grow");
  int node;
  Status s = BindGrowth(old_size, new_size - old_size, &node);
  if (!s.ok()) return s;
  {
    const ThreadMemoryPolicy policy(node, ThreadMemoryPolicy::Strength::kBind);  // hugetlbfs goes by the thread's
    errno = Allocate(fd_, old_size, new_size - old_size);
    if (errno != 0) s = Error(("cannot grow to " + std::to_string(new_size) + " bytes").c_str());
  }
  if (s.ok()) s = CheckNodes(old_size, new_size - old_size);
  if (!s.ok()) {
    if (Retry([&] { return ftruncate(fd_, static_cast<off_t>(old_size)); }) != 0) return Error("ftruncate");
    return s;
  }
  // release: pairs with size(); whoever sees the new size may use the bytes below it.
  size_.store(new_size, std::memory_order_release);
  return Status::OK();
}

uint64_t Region::FileSystemAvailable() const {
  if (medium_ != nullptr) return medium_->capacity - size();
  if (kind_ == RegionKind::kDevdax) return 0;
  struct statvfs vfs;
  if (fstatvfs(fd_, &vfs) != 0) return 0;
  const uint64_t available = static_cast<uint64_t>(vfs.f_bavail) * vfs.f_frsize;
  if (!nodes_.bound() || kind_ == RegionKind::kFsdax) return available;
  const NumaTopology topology;
  uint64_t on_nodes = topology.AvailableBytes(nodes_.node);
  if (nodes_.next_node != kAnyNode) on_nodes += topology.AvailableBytes(nodes_.next_node);
  return std::min(available, on_nodes);
}

void Region::Populate(uint64_t offset, uint64_t size) {
  if (medium_ != nullptr) return;
  if (madvise(base_ + offset, size, MADV_POPULATE_WRITE) == 0) return;
  // Kernels before 5.14: touch each page. The bytes are nobody's yet, so writing back what is there changes nothing.
  for (uint64_t i = 0; i < size; i += kExtentUnit) {
    volatile char* const byte = base_ + offset + i;
    *byte = *byte;
  }
}

void Region::PopulateForReading(uint64_t offset, uint64_t size) {
  if (medium_ != nullptr) return;
  madvise(base_ + offset, size, MADV_POPULATE_READ);  // kernels that cannot do it map page by page, as they are read
}

Status Region::Remove(const std::string& path) {
  Region region(path);
  region.fd_ = OpenFile(path, O_RDWR);
  if (region.fd_ < 0) return errno == ENOENT ? Status::OK() : Status::IOError(path, strerror(errno));
  Status s = region.Lock();
  if (s.ok() && unlink(path.c_str()) != 0) s = region.Error("unlink");
  return s;
}

Status Region::Replace(const std::string& path, const std::string& fresh, const std::string& kept) {
  if (link(path.c_str(), kept.c_str()) != 0) return Status::IOError(kept, std::string("link: ") + strerror(errno));
  Status s = SyncDirectoryOf(kept);
  if (s.ok() && rename(fresh.c_str(), path.c_str()) != 0) {
    s = Status::IOError(path, "cannot rename " + fresh + " to it: " + strerror(errno));
  }
  if (!s.ok()) {
    unlink(kept.c_str());
    return s;
  }
  return SyncDirectoryOf(path);
}

Status Region::SyncFile() {
  if (kind_ == RegionKind::kDevdax) return Status::OK();  // has nothing but its bytes
  return Retry([this] { return fsync(fd_); }) == 0 ? Status::OK() : Error("fsync");
}

Status Region::Rename(const std::string& to) {
  if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0 &&
      // File systems that do not know the flag: a second creator is kept out by the check alone.
      (errno != EINVAL || access(to.c_str(), F_OK) == 0 || rename(path_.c_str(), to.c_str()) != 0)) {
    return Error(("cannot rename to " + to).c_str());
  }
  Status s = MIODB_MUTATED(kPoolNameUnsynced) ? Status::OK() : SyncDirectoryOf(to);
  if (s.ok()) {
    path_ = to;
  } else {
    unlink(to.c_str());  // a name that may not last is worse than none
  }
  return s;
}

}  // namespace miodb
