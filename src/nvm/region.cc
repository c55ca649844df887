#include "src/nvm/region.h"

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

#include "src/format/pm_ref.h"
#include "src/format/superblock.h"
#include "src/numa/file_system.h"
#include "src/util/file_size_limit.h"
#include "src/util/mutation.h"
#include "src/util/no_throw.h"
#include "src/util/posix_file.h"
#include "src/util/process_lock.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

namespace miodb {

namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;

constexpr int kProtection = PROT_READ | PROT_WRITE;
constexpr int kSyncedMapping = MAP_SHARED_VALIDATE | MAP_SYNC;

// Pages that are looked at to see where memory lies: when a region is opened, and of every piece that it grows by.
constexpr uint64_t kSampleAtOpen = 64;
constexpr uint64_t kSampleOfGrowth = 16;

// Of a file that is copied on write, what its file system must have left for an open: enough for the stores of the open
// itself.
constexpr uint64_t kRoomToCopy = uint64_t{64} << 20;
constexpr char kHowToStopCopies[] = "Make room, or make a folder, chattr +C it, and copy the database there";

}  // namespace

Status Region::Error(const char* what) const {
  const int error = errno;
  const std::string reason = std::string(what) + ": " + strerror(error);
  if (error == ENOSPC || error == EDQUOT) return Status::NoSpace(path_, reason);
  if (error != EFBIG) return Status::IOError(path_, reason);
  const uint64_t limit = FileSizeLimit();
  return Status::NoSpace(path_, limit == UINT64_MAX ? reason
                                                    : reason + ": files of this process may have " +
                                                          std::to_string(limit) + " bytes (ulimit -f)");
}

Status Region::Create(const std::string& path, uint64_t size, uint64_t max_size, PersistMode wanted,
                      std::unique_ptr<Region>* region, const Place& place) {
  std::unique_ptr<Region> r(new Region(path));
  r->place_ = place;
  r->fd_ = IsAnonymous(path) ? memfd_create("miodb", MFD_CLOEXEC) : CreateNewFile(path, O_RDWR, place.access);
  if (r->fd_ < 0) return Status::IOError(path, strerror(errno));
  Status s = r->Lock();
  if (s.ok()) s = r->FindKind();
  if (s.ok()) s = r->WriteInPlace();
  // Mapped before it has any memory, because a binding is one of addresses.
  if (s.ok()) s = r->Map(std::max(max_size, max_size > 0 ? size : 0), wanted);
  if (s.ok()) s = r->Grow(size);
  if (!s.ok()) {
    if (!IsAnonymous(path)) unlink(path.c_str());
    return s;
  }
  *region = std::move(r);
  return s;
}

Status Region::Open(const std::string& path, uint64_t max_size, PersistMode wanted, std::unique_ptr<Region>* region,
                    const Place& place) {
  std::unique_ptr<Region> r(new Region(path));
  r->place_ = place;
  Status s = r->OpenExisting();
  if (s.ok()) s = r->Lock();
  if (s.ok()) s = r->Measure();
  if (s.ok()) s = r->Map(max_size, wanted);
  if (s.ok()) s = r->CheckNodes(0, r->size());
  if (s.ok()) *region = std::move(r);
  return s;
}

Status Region::OpenExisting() {
  Descriptor fd(-1);
  Status s = OpenTyped(path_, O_RDWR, FileType::kRegularOrDevice, &fd);
  fd_ = fd.release();
  return s.IsNotFound() ? Status::IOError(path_, strerror(ENOENT)) : s;
}

Status Region::Measure() {
  struct stat st;
  if (fstat(fd_, &st) != 0) return Error("stat");
  if (S_ISCHR(st.st_mode)) return MeasureDevice(major(st.st_rdev), minor(st.st_rdev));
  Status s = FindKind();
  return s.ok() ? MeasureFile() : s;
}

Status Region::FindKind() {
  struct statfs fs;
  struct stat st;
  if (fstatfs(fd_, &fs) != 0) return Error("statfs");
  if (fstat(fd_, &st) != 0) return Error("stat");
  kind_ = IsAnonymous(path_)             ? RegionKind::kAnonymous
          : fs.f_type == TMPFS_MAGIC     ? RegionKind::kTmpfs
          : fs.f_type == HUGETLBFS_MAGIC ? RegionKind::kHugetlbfs
                                         : RegionKind::kOtherFile;
  granularity_ = kind_ == RegionKind::kHugetlbfs ? static_cast<uint64_t>(fs.f_bsize) : kExtentUnit;
  file_system_ = st.st_dev;
  return Status::OK();
}

Status Region::SizeOf(const std::string& path, uint64_t* bytes) {
  if (IsDevice(path)) return LargestSize(path, bytes);
  struct stat st;
  if (stat(path.c_str(), &st) != 0) return Status::IOError(path, strerror(errno));
  *bytes = static_cast<uint64_t>(st.st_size);
  return Status::OK();
}

Status Region::LargestSize(const std::string& path, uint64_t* bytes) {
  if (IsDevice(path)) {
    Region device(path);
    Status s = device.OpenExisting();
    if (s.ok()) s = device.Measure();
    *bytes = device.size();
    return s;
  }
  FileSystemSize file_system;
  // Nameless memory has what shared memory has.
  Status s = MeasureFileSystemOf(IsAnonymous(path) ? "/proc" : path, &file_system);
  *bytes = file_system.total;
  return s;
}

Status Region::MeasureFile() {
  struct stat st;
  if (fstat(fd_, &st) != 0) return Error("stat");
  if (!S_ISREG(st.st_mode)) {
    return Status::InvalidArgument(path_, "the pool is neither a regular file nor a DAX device");
  }
  const uint64_t size = static_cast<uint64_t>(st.st_size) / granularity_ * granularity_;
  if (size < 2 * kPoolHeaderSize) return Status::Corruption(path_, "too short to be a pool");
  Status s = OwnAllBlocks(size, static_cast<uint64_t>(st.st_blocks) * 512);
  if (!s.ok()) return s;
  // release: pairs with size(). Nobody else sees the region yet.
  size_.store(size, std::memory_order_release);
  return Status::OK();
}

// A copy may share blocks with the original, or be copied on write, and it or a pool that gave space back may have
// holes. On a full file system a store would be a SIGBUS then.
Status Region::OwnAllBlocks(uint64_t size, uint64_t allocated) {
  FileSystemSize file_system;
  Status s = MeasureFileSystem(fd_, path_, &file_system);
  if (s.ok()) s = FindHoles(size, allocated);
  if (!s.ok()) return s;
  uint64_t begin = 0;
  for (size_t i = 0; i <= holes_at_open_.size(); i++) {
    const FileHole hole = i < holes_at_open_.size() ? holes_at_open_[i] : FileHole{size, size};
    errno = Unshare(fd_, begin, hole.begin - begin);
    if (errno != 0) return Error("cannot give the file blocks of its own");
    begin = hole.end;
  }
  copies_on_write_ = CopiesOnWrite(fd_);
  if (!copies_on_write_ || file_system.available >= std::min(size, kRoomToCopy)) return Status::OK();
  return Status::NoSpace(path_, "its file system copies on write and has " + std::to_string(file_system.available) +
                                    " bytes left: a store into the pool could end the process. " + kHowToStopCopies);
}

// Holes that nobody uses stay what they are: what is in use is filled when recovery claims it.
Status Region::FindHoles(uint64_t size, uint64_t allocated) {
  // Only shared memory says exactly what it has taken. Others count what they keep for themselves, too.
  if (allocated != size || kind_ == RegionKind::kOtherFile) holes_at_open_ = HolesOf(fd_, size);
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
Status Region::WriteInPlace() {
  if (IsAnonymous(path_) || !CopiesOnWrite(fd_)) return Status::OK();
  const int error = StopCopyOnWrite(fd_);
  if (error == 0) return Status::OK();
  return Status::NotSupported(path_, std::string("its file system copies on write, and that cannot be turned off: ") +
                                         strerror(error) +
                                         "; a store could end the process when there is no space. "
                                         "Use another file system, or mount this one with nodatacow");
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
  granularity_ = alignment;
  size_.store(size, std::memory_order_release);  // release: as above
  return Status::OK();
}

bool Region::IsDevice(const std::string& path) {
  struct stat st;
  return stat(path.c_str(), &st) == 0 && S_ISCHR(st.st_mode);
}

Status Region::Lock() const {
  if (IsAnonymous(path_)) return Status::OK();  // nobody else can open it
  if (LockForProcess(fd_) == 0) return Status::OK();
  return errno == EWOULDBLOCK ? Status::IOError(path_, "the pool is in use by another open database") : Error("flock");
}

std::unique_ptr<Region> Region::InMemory(MemoryMedium* medium, uint64_t capacity) {
  std::unique_ptr<Region> r(new Region("memory"));
  r->medium_ = medium;
  r->base_ = medium->base;
  r->granularity_ = kExtentUnit;
  r->max_size_.store(capacity, std::memory_order_relaxed);  // relaxed: nobody else sees the region yet
  r->mode_ = medium->mode;
  r->size_.store(medium->size, std::memory_order_release);  // release: as in Open
  return r;
}

std::unique_ptr<Region> Region::PartOfMemory(MemoryMedium* medium, uint64_t offset, uint64_t size) {
  std::unique_ptr<Region> r = InMemory(medium, size);
  r->base_ += offset;
  r->grows_ = false;
  r->size_.store(size, std::memory_order_release);  // release: as in Open
  return r;
}

Region::~Region() {
  if (medium_ != nullptr) return;
  if (addresses_ > 0) place_.range->Clear(place_.offset, addresses_);
  if (fd_ < 0) return;
  UnlockForProcess(fd_);
  close(fd_);
}

// What is reserved for a file of this size, if it may become as large: at_open or, of a large file, several times its
// size.
uint64_t Region::AddressesFor(uint64_t size, uint64_t at_open) const {
  const uint64_t alignment = std::max(kHugePage, granularity_);
  const uint64_t soon = std::max(at_open, std::min(size, UINT64_MAX / kAddressesPerByte) * kAddressesPerByte);
  return (std::min(soon, max_size()) + alignment - 1) / alignment * alignment;
}

void Region::LimitTo(uint64_t max_size) {
  max_size_.store(std::min(max_size_.load(std::memory_order_relaxed), max_size), std::memory_order_relaxed);
  addresses_ = std::min(addresses_, this->max_size());
}

// The addresses to begin with: a range of its own, or its part of the one that it was given.
Status Region::Reserve(uint64_t max_size) {
  const uint64_t alignment = std::max(kHugePage, granularity_);
  const auto round = [alignment](uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
  max_size = std::min(max_size, IndexWord::kMaxRef + 1 - std::min(place_.offset, IndexWord::kMaxRef));
  max_size_.store(round(std::max(max_size, size())), std::memory_order_relaxed);  // relaxed: as in InMemory
  const uint64_t least = std::max(round(size()), alignment);
  const uint64_t wanted = std::max(least, AddressesFor(size(), place_.at_open));
  const uint64_t offset = place_.offset;
  if (place_.range == nullptr) {
    const uint64_t room = place_.room + (this->max_size() - std::min(wanted, this->max_size()));
    Status s =
        AddressRange::Reserve(std::max(least, place_.least), std::max(wanted, place_.least), room, &place_.range);
    if (!s.ok()) return Status::IOError(path_, s.ToString());
  }
  if (alignment > AddressRange::kAlignment || offset % alignment != 0 ||
      !place_.range->Extend(offset + least, offset + wanted)) {
    const uint64_t room = place_.range->size() - std::min(place_.range->size(), offset);
    return Status::InvalidArgument(path_, std::to_string(least) + " bytes in pages of " + std::to_string(alignment) +
                                              " do not fit into the " + std::to_string(room) +
                                              " bytes of address space left for it");
  }
  addresses_ = std::min(this->max_size(), place_.range->size() - offset);
  base_ = place_.range->base() + offset;
  return Status::OK();
}

// More addresses than it has, so that its file may have this many bytes, and as many again if they can be had.
Status Region::TakeAddresses(uint64_t size) {
  const uint64_t most = max_size(), had = addresses_;
  if (size > most) {
    return Status::NoSpace(path_,
                           "cannot grow to " + std::to_string(size) + " bytes: it may have " + std::to_string(most));
  }
  const uint64_t wanted = AddressesFor(size, 0);
  if (place_.range->Extend(place_.offset + size, place_.offset + wanted)) {
    const uint64_t all = std::min(most, place_.range->size() - place_.offset);
    Status s = kind_ == RegionKind::kHugetlbfs ? Status::OK() : MapPages(had, all - had);
    if (!s.ok()) return Status::NoSpace(path_, s.ToString());
    addresses_ = all;
    return s;
  }
  out_of_addresses_.store(true, std::memory_order_relaxed);  // relaxed: for messages
  LimitTo(had);
  return Status::NoSpace(path_, "cannot grow to " + std::to_string(size) + " bytes: " + DescribeShortage());
}

Status Region::Map(uint64_t max_size, PersistMode wanted) {
  const bool device = kind_ == RegionKind::kDevdax;
  Status s;
  if (device) {
    max_size = size();
    grows_ = false;
  } else if (max_size == 0) {
    FileSystemSize file_system;
    s = MeasureFileSystem(fd_, path_, &file_system);
    max_size = file_system.total;
  }
  if (s.ok()) s = Reserve(max_size);
  if (!s.ok()) return s;
  if (device) LimitTo(size());

  if (CanMapWithSync() && MapWith(kSyncedMapping, 0, addresses_)) {
    mode_ = kPersistPmem;
    if (!device) kind_ = RegionKind::kFsdax;
  } else if (wanted == kPersistPmem) {
    return Status::NotSupported(path_, "this file system cannot map persistent memory with MAP_SYNC");
  } else {
    s = MapPages(0, kind_ == RegionKind::kHugetlbfs ? size() : addresses_);
    if (!s.ok()) return s;
    mode_ = kind_ == RegionKind::kOtherFile ? kPersistFile : kPersistEmulated;
  }
  if (wanted == kPersistEmulated || wanted == kPersistFile) mode_ = wanted;
  return CheckBindable();
}

// Tried with a page of its own: a call with MAP_FIXED that fails may leave a hole in the range.
bool Region::CanMapWithSync() const {
  const uint64_t page = kind_ == RegionKind::kDevdax ? granularity_ : kExtentUnit;
  void* const mapped = mmap(nullptr, page, kProtection, kSyncedMapping, fd_, 0);
  if (mapped == MAP_FAILED) return false;
  munmap(mapped, page);
  return true;
}

bool Region::MapWith(int flags, uint64_t offset, uint64_t size) {
  char* const at = base_ + offset;
  if (mmap(at, size, kProtection, flags | MAP_FIXED, fd_, static_cast<off_t>(offset)) == MAP_FAILED) return false;
  // Where the kernel does not do it, small pages serve as well.
  madvise(at, size, place_.huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  madvise(at, size, MADV_DONTDUMP);
  return true;
}

// Maps a part of the file, in the way that the first was. Files on hugetlbfs are as long as what is mapped of them for
// writing, so they are mapped as they grow, and their pages are taken by Allocate, not by mapping.
Status Region::MapPages(uint64_t offset, uint64_t size) {
  const int flags = kind_ == RegionKind::kFsdax ? kSyncedMapping : MAP_SHARED | MAP_NORESERVE;
  return size == 0 || MapWith(flags, offset, size) ? Status::OK() : Error("mmap");
}

Status Region::CheckBindable() const {
  if (!place_.nodes.bound() || kind_ != RegionKind::kOtherFile) return Status::OK();
  return Status::InvalidArgument(
      path_, "memory of this file system cannot be bound to NUMA node " + std::to_string(place_.nodes.node) +
                 " (nvm_node): it lies in the page cache. Use a tmpfs, or a DAX file system on a device of that node");
}

// Binds what Grow is about to add to the first node that has room for it. A DAX file system's memory lies where its
// device is, so there it is only looked at, afterwards.
Status Region::BindGrowth(uint64_t offset, uint64_t size, int* node) {
  *node = kAnyNode;
  if (!place_.nodes.bound() || kind_ == RegionKind::kFsdax || kind_ == RegionKind::kDevdax) return Status::OK();
  const NumaTopology topology;
  for (int candidate : {place_.nodes.node, place_.nodes.next_node}) {
    if (candidate == kAnyNode || AvailableOn(topology, candidate) < size) continue;
    *node = candidate;
    return BindMemory(base_ + offset, size, candidate);
  }
  return Status::NoSpace(path_, "cannot grow by " + std::to_string(size) + " bytes: " + DescribeNodes());
}

uint64_t Region::AvailableOn(const NumaTopology& topology, int node) const {
  return kind_ == RegionKind::kHugetlbfs ? topology.AvailableHugePages(node, granularity_)
                                         : topology.AvailableBytes(node);
}

std::string Region::DescribeNodes() const {
  const NumaTopology topology;
  std::string text;
  for (int node : {place_.nodes.node, place_.nodes.next_node}) {
    if (node == kAnyNode) continue;
    text += (text.empty() ? "" : ", ") + std::string("NUMA node ") + std::to_string(node) + " has " +
            std::to_string(AvailableOn(topology, node)) + " bytes available";
  }
  return text;
}

std::string Region::DescribeShortage() const {
  std::string text = DescribeNodes();
  const auto add = [&text](const std::string& reason) { text += (text.empty() ? "" : ", ") + reason; };
  if (out_of_addresses_.load(std::memory_order_relaxed)) {  // relaxed: as in TakeAddresses
    add("the addresses behind its " + std::to_string(max_size()) +
        " bytes are taken: open the database again, and it gets more");
  }
  const uint64_t limit = FileSizeLimit();
  if (limit < max_size()) add("files of this process may have " + std::to_string(limit) + " bytes (ulimit -f)");
  return text;
}

Status Region::CheckNodes(uint64_t offset, uint64_t size) const {
  if (!place_.nodes.bound()) return Status::OK();
  PageSample sample;
  if (size == this->size()) {
    SampleStored(kSampleAtOpen, Touch::kForWriting, &sample);
  } else {  // has just been stored, and is not counted yet
    SamplePages(base_ + offset, size, offset == 0 ? kSampleAtOpen : kSampleOfGrowth, Touch::kForWriting, &sample);
  }
  if (sample.looked_at > 0 && sample.Elsewhere(place_.nodes.node, place_.nodes.next_node) == 0) return Status::OK();
  std::string asked = "nvm_node is " + std::to_string(place_.nodes.node);
  if (place_.nodes.next_node != kAnyNode) asked += ", nvm_next_node " + std::to_string(place_.nodes.next_node);
  return Status::InvalidArgument(path_, asked + ", but its memory lies on " + sample.Describe());
}

PageSample Region::Sample(uint64_t count) const {
  PageSample sample;
  const Touch touch = kind_ == RegionKind::kOtherFile ? Touch::kForReading : Touch::kForWriting;
  if (medium_ == nullptr) SampleStored(count, touch, &sample);
  return sample;
}

// To look at a page gives it memory, which holes are not to have.
void Region::SampleStored(uint64_t count, Touch touch, PageSample* sample) const {
  if (stored_bytes() == size()) return SamplePages(base_, size(), count, touch, sample);
  const auto has_storage = [this](uint64_t at) {
    return lseek(fd_, static_cast<off_t>(at), SEEK_DATA) == static_cast<off_t>(at);
  };
  SamplePages(base_, size(), count, touch, sample, has_storage);
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
    case RegionKind::kAnonymous:
      return "anonymous";
    case RegionKind::kMemory:
      return "memory";
  }
  return "";
}

Status Region::Grow(uint64_t new_size) {
  const uint64_t old_size = size();
  new_size = (new_size + granularity_ - 1) / granularity_ * granularity_;
  if (new_size <= old_size) return Status::OK();
  if (medium_ != nullptr) {
    if (!grows_ || new_size > max_size()) return Status::NoSpace(path_, "no more memory");
    medium_->size = new_size;
    size_.store(new_size, std::memory_order_release);  // release: as below
    return Status::OK();
  }
  if (kind_ == RegionKind::kDevdax) return Status::NoSpace(path_, "a DAX device does not grow");
  Status s = new_size > addresses_ ? TakeAddresses(new_size) : Status::OK();
  if (!s.ok()) return s;
  s = Store(old_size, new_size - old_size, "cannot grow to " + std::to_string(new_size) + " bytes");
  if (s.ok() && kind_ == RegionKind::kHugetlbfs) s = MapPages(old_size, new_size - old_size);
  if (s.ok()) s = CheckNodes(old_size, new_size - old_size);
  if (!s.ok()) {
    if (Retry([&] { return ftruncate(fd_, static_cast<off_t>(old_size)); }) != 0) return Error("ftruncate");
    return s;
  }
  // release: pairs with size(); whoever sees the new size may use the bytes below it.
  size_.store(new_size, std::memory_order_release);
  return Status::OK();
}

// Takes the storage of a part of the file from the file system, and from the nodes that it has to be on.
Status Region::Store(uint64_t offset, uint64_t size, const std::string& what) {
  int node;
  Status s = BindGrowth(offset, size, &node);
  if (!s.ok()) return s;
  const ThreadMemoryPolicy policy(node, ThreadMemoryPolicy::Strength::kBind);  // hugetlbfs goes by the thread's
  errno = Allocate(fd_, offset, size);
  return errno == 0 ? s : Error(what.c_str());
}

Status Region::Fill(uint64_t offset, uint64_t size) {
  if (medium_ != nullptr || kind_ == RegionKind::kDevdax) return Status::OK();
  Status s = Store(offset, size, "cannot fill a hole of " + std::to_string(size) + " bytes");
  return s.ok() ? CheckNodes(offset, size) : s;
}

// Large pages are kept: a file on hugetlbfs does not tell its holes.
Status Region::Punch(uint64_t offset, uint64_t size) {
  if (medium_ != nullptr || kind_ == RegionKind::kDevdax || kind_ == RegionKind::kHugetlbfs) {
    return Status::NotSupported(path_, "keeps its storage");
  }
  errno = PunchHole(fd_, offset, size);
  if (errno == 0) return Status::OK();
  const bool never = errno == EOPNOTSUPP || errno == ENOSYS;
  return never ? Status::NotSupported(path_, "its file system makes no holes") : Error("cannot make a hole");
}

uint64_t Region::stored_bytes() const {
  struct stat st;
  if (medium_ != nullptr || kind_ == RegionKind::kDevdax || fstat(fd_, &st) != 0) return size();
  return std::min(size(), static_cast<uint64_t>(st.st_blocks) * 512);
}

Status Region::Cut(uint64_t new_size) {
  new_size = (new_size + granularity_ - 1) / granularity_ * granularity_;
  if (medium_ != nullptr || !grows_ || new_size >= size()) return Status::OK();
  if (Retry([&] { return ftruncate(fd_, static_cast<off_t>(new_size)); }) != 0) return Error("ftruncate");
  size_.store(new_size, std::memory_order_release);  // release: as in Grow
  return Status::OK();
}

uint64_t Region::FileSystemAvailable() const {
  if (medium_ != nullptr) return max_size() - size();
  if (kind_ == RegionKind::kDevdax) return 0;
  FileSystemSize file_system;
  if (!MeasureFileSystem(fd_, path_, &file_system).ok()) return 0;
  const uint64_t limit = FileSizeLimit();
  const uint64_t available = std::min(file_system.available, limit - std::min(limit, size()));
  if (!place_.nodes.bound() || kind_ == RegionKind::kFsdax) return available;
  const NumaTopology topology;
  uint64_t on_nodes = AvailableOn(topology, place_.nodes.node);
  if (place_.nodes.next_node != kAnyNode) on_nodes += AvailableOn(topology, place_.nodes.next_node);
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

Status Region::CheckUnused(const std::string& path) {
  Region region(path);
  Status s = region.OpenExisting();
  return s.ok() ? region.Lock() : s;
}

Status Region::Remove(const std::string& path) {
  Region region(path);
  if (access(path.c_str(), F_OK) != 0 && errno == ENOENT) return Status::OK();
  Status s = region.OpenExisting();
  if (s.ok()) s = region.Lock();
  if (s.ok() && unlink(path.c_str()) != 0) s = region.Error("unlink");
  return s;
}

Status Region::Replace(const std::string& path, const std::string& fresh, const std::string& kept) {
  if (link(path.c_str(), kept.c_str()) != 0) return Status::IOError(kept, std::string("link: ") + strerror(errno));
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

Status Region::SyncFile() {
  if (kind_ == RegionKind::kDevdax) return Status::OK();  // has nothing but its bytes
  return Retry([this] { return fsync(fd_); }) == 0 ? Status::OK() : Error("fsync");
}

Status Region::Rename(const std::string& to) {
  std::string name = to;  // before the file has it: without memory a file keeps the name by which it can be removed
  if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0 &&
      // File systems that do not know the flag: a second creator is kept out by the check alone.
      (errno != EINVAL || access(to.c_str(), F_OK) == 0 || rename(path_.c_str(), to.c_str()) != 0)) {
    return Error(("cannot rename to " + to).c_str());
  }
  path_.swap(name);
  const Status s =
      NoThrow(path_, [this] { return MIODB_MUTATED(kPoolNameUnsynced) ? Status::OK() : SyncNames(path_); });
  if (!s.ok()) unlink(path_.c_str());  // a name that may not last is worse than none
  return s;
}

}  // namespace miodb
