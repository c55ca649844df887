// Writing the file of a copy.

#include "src/nvm/pool/pool_copy.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "src/util/clock/clock.h"
#include "src/util/files/file_size_limit.h"
#include "src/util/files/posix_file.h"
#include "src/util/files/system_random.h"

namespace miodb {

namespace {

// Most bytes that one call writes: so few that a signal which ends the process does not wait for long.
constexpr uint64_t kMostAtOnce = uint64_t{32} << 20;

// Space for what a manifest keeps besides what it was asked for: its first area, and the spare one.
constexpr uint64_t kRoomOfAreas = uint64_t{1} << 20;

}  // namespace

// The claims refer to the pool, and the pool to its memory.
PoolCopy::~PoolCopy() {
  claims_.clear();
  pool_.reset();
  if (memory_.base != nullptr) munmap(memory_.base, memory_.capacity);
}

PoolCopy::Source PoolCopy::FromPool(const Pool& original) {
  return [&original](const Part& part, const Sink& sink) {
    CHECK(original.Readable(part.offset, part.bytes));
    original.ChargeRead(original.At(part.offset), part.bytes);
    return sink(part.offset, original.At(part.offset), part.bytes);
  };
}

// Addresses for as many bytes as the file will have, of which the manifest's and the header page get memory when they
// are stored to.
Status PoolCopy::Begin(const std::array<uint8_t, kUuidBytes>& uuid, std::vector<Part> parts, uint64_t manifest_room) {
  CHECK(pool_ == nullptr && parts_.empty());
  parts_ = std::move(parts);
  PmRef end = kPoolHeaderSize + kExtentUnit;
  DCHECK(
      std::is_sorted(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) { return a.offset < b.offset; }));
  for (const Part& part : parts_) end = std::max(end, part.offset + RoundToUnit(part.bytes));
  memory_.size = end;
  memory_.capacity = end + RoundToUnit(manifest_room) + kRoomOfAreas;
  memory_.random = SystemRandom64;
  memory_.created_micros = WallMicros();
  void* const base =
      mmap(nullptr, memory_.capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return Status::IOError(path_, "cannot have " + std::to_string(memory_.capacity) + " addresses for the copy");
  }
  memory_.base = static_cast<char*>(base);
  PoolOptions options;
  options.memory = &memory_;
  options.growth = kExtentUnit;
  options.uuid = uuid;
  options.secret = secret_;
  Status s = Pool::Create(path_, options, &pool_);
  for (const Part& part : parts_) {
    if (s.ok()) s = pool_->Claim(part.offset, RoundToUnit(part.bytes), part.kind, &claims_.emplace_back());
  }
  return s;
}

// Not by copy_file_range: where the file system has files share their blocks, a later store of the original into what
// it shares would need a new block, without which it is a SIGBUS.
Status PoolCopy::Write(PmRef offset, const char* bytes, uint64_t size) const {
  CHECK_LE(offset + size, memory_.capacity);
  while (size > 0) {
    DCHECK(bytes != nullptr);
    const ssize_t n =
        Retry([&] { return ::pwrite(file_.fd(), bytes, std::min(size, kMostAtOnce), static_cast<off_t>(offset)); });
    if (n <= 0) return file_.Error("cannot write the copy");
    bytes += n;
    offset += static_cast<uint64_t>(n);
    size -= static_cast<uint64_t>(n);
  }
  return Status::OK();
}

Status PoolCopy::WriteFromMemory(PmRef offset, uint64_t size) const {
  CHECK_LE(offset + size, memory_.size);
  return Write(offset, memory_.base + offset, size);
}

// The length comes first, so that one which the file system cannot have is found out at once. Until the header page is
// there the file is no pool.
Status PoolCopy::Finish(FileAccess access, const Source& source) {
  CHECK(pool_ != nullptr && claims_.size() == parts_.size());
  RootSlot root;
  Status s = pool_->ReadRoot(&root);
  if (s.ok()) s = file_.Create(access);
  if (!s.ok()) return s;
  uint64_t length = std::max(2 * kPoolHeaderSize, root.manifest_offset + root.manifest_size);
  for (const Part& part : parts_) length = std::max(length, part.offset + RoundToUnit(part.bytes));
  length = file_.RoundUp(length);
  const NoFileSizeSignal no_signal;
  if (Retry([&] { return ftruncate(file_.fd(), static_cast<off_t>(length)); }) != 0) {
    if ((errno != EFBIG && errno != EINVAL) || length > FileSizeLimit()) return file_.Error("cannot have its length");
    return Status::NotSupported(path_, "its file system has no files of " + std::to_string(length) +
                                           " bytes, the length with all regions of the pool: have the copy on "
                                           "another one (XFS, tmpfs)");
  }
  const Sink sink = [this](PmRef offset, const char* bytes, uint64_t size) { return Write(offset, bytes, size); };
  for (const Part& part : parts_) {
    if (s.ok()) s = source(part, sink);
  }
  if (s.ok()) s = WriteFromMemory(root.manifest_offset, root.manifest_size);
  if (s.ok()) s = file_.Sync();
  if (s.ok()) s = WriteFromMemory(0, kPoolHeaderSize);
  return s.ok() ? file_.Sync() : s;
}

}  // namespace miodb
