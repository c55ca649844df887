// Mapping by system calls: MAP_FIXED over addresses that the range has reserved, so that no other mapping of the
// process can be hit.

#include "src/nvm/region/region_mapping.h"

#include <sys/mman.h>

#include <algorithm>

#include "src/format/pm_ref.h"
#include "src/format/region_table.h"
#include "src/format/superblock.h"
#include "src/util/check/check.h"
#include "src/util/files/page.h"

namespace miodb {

namespace {

static_assert(AddressRange::kAlignment % kHugePageBytes == 0 && AddressRange::kAlignment % kRegionAlignment == 0);

int Protection(RegionUse use) { return use == RegionUse::kOwner ? PROT_READ | PROT_WRITE : PROT_READ; }

constexpr int kSyncedMapping = MAP_SHARED_VALIDATE | MAP_SYNC;

}  // namespace

RegionMapping::RegionMapping(const RegionFile& file, uint64_t offset, uint64_t max_size)
    : file_(file), base_(file.memory()->base + offset), max_size_(max_size) {
  CHECK_LE(offset + max_size, file.memory()->capacity);
  CHECK_EQ(offset % kExtentUnit, 0u);
}

// The range goes on, with the addresses of other regions of the pool and of those that are added later.
RegionMapping::~RegionMapping() {
  if (addresses_ > 0) place_.range->Clear(place_.offset, addresses_);
}

// The alignment of addresses: the kernel gives huge pages only where file and address are aligned to them alike.
uint64_t RegionMapping::Alignment() const {
  const uint64_t alignment = std::max(kHugePageBytes, file_.granularity());
  CHECK_EQ(alignment % kExtentUnit, 0u);
  return alignment;
}

// Addresses to reserve for a file of this size, if it may become as large: at_open, or several times the size of a
// large file.
uint64_t RegionMapping::AddressesFor(uint64_t size, uint64_t at_open) const {
  CHECK_LE(size, max_size());
  const uint64_t alignment = Alignment();
  const uint64_t soon = std::max(at_open, std::min(size, UINT64_MAX / kAddressesPerByte) * kAddressesPerByte);
  return (std::min(soon, max_size()) + alignment - 1) / alignment * alignment;
}

// Addresses beyond the limit stay the range's: another region of the pool is mapped there.
void RegionMapping::LimitTo(uint64_t max_size) {
  CHECK_GT(max_size, 0u);
  // relaxed: as in max_size
  max_size_.store(std::min(this->max_size(), max_size), std::memory_order_relaxed);
  addresses_ = std::min(addresses_.load(), this->max_size());
}

// Reserves a range for this region alone, or a part of the range that the region was given.
Status RegionMapping::Reserve(uint64_t size, uint64_t max_size) {
  CHECK(base_ == nullptr);
  const uint64_t alignment = Alignment();
  const auto round = [alignment](uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
  const uint64_t offset = place_.offset;
  max_size = std::min(max_size, IndexWord::kMaxRef + 1 - std::min(offset, IndexWord::kMaxRef));
  max_size_.store(round(std::max(max_size, size)), std::memory_order_relaxed);  // relaxed: nobody else sees it yet
  const uint64_t least = std::max(round(size), alignment);
  const uint64_t wanted = std::max(least, AddressesFor(size, place_.at_open));
  // The pool's own file makes the range, as long as its regions need (least); those share it.
  if (place_.range == nullptr) {
    const uint64_t room = place_.room + (this->max_size() - std::min(wanted, this->max_size()));
    Status s =
        AddressRange::Reserve(std::max(least, place_.least), std::max(wanted, place_.least), room, &place_.range);
    if (!s.ok()) return Status::IOError(file_.path(), s.ToString());
  }
  if (alignment > AddressRange::kAlignment || offset % alignment != 0 ||
      !place_.range->Extend(offset + least, offset + wanted)) {
    const uint64_t room = place_.range->size() - std::min(place_.range->size(), offset);
    return Status::InvalidArgument(file_.path(), std::to_string(least) + " bytes in pages of " +
                                                     std::to_string(alignment) + " do not fit into the " +
                                                     std::to_string(room) + " bytes of address space left for it");
  }
  addresses_ = std::min(this->max_size(), place_.range->size() - offset);
  base_ = place_.range->base() + offset;
  CHECK_GE(addresses_, size);
  return Status::OK();
}

// All addresses are mapped at once, beyond the end of the file too: as the file grows its pages are there without
// another call. A touch behind the end would be a SIGBUS, and nobody touches what is not below the region's size.
bool RegionMapping::MapSynced() { return IsPersistentMemory() && MapWith(kSyncedMapping, 0, addresses_); }

// Tried with a page of its own: a call with MAP_FIXED that fails may leave a hole in the range.
bool RegionMapping::IsPersistentMemory() const {
  CHECK_GE(file_.fd(), 0);
  const uint64_t page = file_.kind() == RegionKind::kDevdax ? file_.granularity() : kExtentUnit;
  void* const mapped = mmap(nullptr, page, Protection(place_.use), kSyncedMapping, file_.fd(), 0);
  if (mapped == MAP_FAILED) return false;
  munmap(mapped, page);
  return true;
}

bool RegionMapping::MapWith(int flags, uint64_t offset, uint64_t size) {
  CHECK(base_ != nullptr);
  CHECK_LE(offset + size, place_.range->size() - place_.offset);
  char* const at = base_ + offset;
  if (mmap(at, size, Protection(place_.use), flags | MAP_FIXED, file_.fd(), static_cast<off_t>(offset)) == MAP_FAILED) {
    return false;
  }
  // Where the kernel does not do it, small pages serve as well. A core dump without the pool is one that can be kept.
  madvise(at, size, place_.huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  madvise(at, size, MADV_DONTDUMP);
  return true;
}

// Without memory for it the old mapping stays: what a touch does there is a matter of damage alone.
void RegionMapping::Cover(uint64_t from, uint64_t to) {
  CHECK(base_ != nullptr && from < to && to <= addresses_);
  DCHECK(covered_from_ == covered_to_ || covered_from_ == to);
  constexpr int kZeros = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(base_ + from, to - from, PROT_READ, kZeros, -1, 0) == MAP_FAILED) return;
  if (covered_from_ == covered_to_) covered_to_ = to;
  covered_from_ = from;
}

Status RegionMapping::Uncover(uint64_t size) {
  if (covered_from_ >= std::min(size, covered_to_)) return Status::OK();
  const uint64_t to = std::min(size, covered_to_);
  Status s = MapPages(covered_from_, to - covered_from_);
  if (s.ok()) covered_from_ = to;
  return s;
}

void RegionMapping::AskFor(Pages pages) const {
  DCHECK(base_ != nullptr && place_.huge_pages);
  madvise(base_, addresses_, pages == Pages::kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

// A part of the file, in the way that the first was.
Status RegionMapping::MapPages(uint64_t offset, uint64_t size) {
  const int flags = file_.kind() == RegionKind::kFsdax ? kSyncedMapping : MAP_SHARED | MAP_NORESERVE;
  return size == 0 || MapWith(flags, offset, size) ? Status::OK() : file_.Error("mmap");
}

// Files on hugetlbfs are as long as what is mapped of them for writing, so they are mapped as they grow, and their
// pages are taken by storing, not by mapping.
Status RegionMapping::Map(uint64_t size) {
  CHECK_LE(size, addresses_);
  return MapPages(0, file_.kind() == RegionKind::kHugetlbfs ? size : addresses_.load());
}

Status RegionMapping::MapStored(uint64_t offset, uint64_t size) {
  CHECK_LE(offset + size, addresses_);  // Extend came before
  return file_.kind() == RegionKind::kHugetlbfs ? MapPages(offset, size) : Status::OK();
}

// As many addresses again as the size needs are taken if they can be had. The addresses that others have may be free
// again later, but the pool's figures promise nothing on that: the limit comes down to what is there.
Status RegionMapping::Extend(uint64_t size) {
  const uint64_t most = max_size(), had = addresses_;
  if (size <= had) return Status::OK();
  if (size > most) {
    return Status::NoSpace(file_.path(),
                           "cannot grow to " + std::to_string(size) + " bytes: it may have " + std::to_string(most));
  }
  const uint64_t wanted = AddressesFor(size, 0);
  if (place_.range->Extend(place_.offset + size, place_.offset + wanted)) {
    const uint64_t all = std::min(most, place_.range->size() - place_.offset);
    CHECK(all >= size && all > had);
    Status s = file_.kind() == RegionKind::kHugetlbfs ? Status::OK() : MapPages(had, all - had);
    if (!s.ok()) return Status::NoSpace(file_.path(), s.ToString());
    addresses_ = all;
    return s;
  }
  out_of_addresses_.store(true, std::memory_order_relaxed);  // relaxed: for messages
  LimitTo(had);
  return Status::NoSpace(file_.path(), "cannot grow to " + std::to_string(size) + " bytes: " + DescribeShortage());
}

// The one remedy is a new range, which only a new open can take: pointers into this one are everywhere.
std::string RegionMapping::DescribeShortage() const {
  if (!out_of_addresses_.load(std::memory_order_relaxed)) return "";  // relaxed: for messages
  return "the addresses behind its " + std::to_string(max_size()) +
         " bytes are taken: open the database again, and it gets more";
}

}  // namespace miodb
