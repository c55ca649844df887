#include "src/nvm/region.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "src/format/superblock.h"
#include "src/nvm/region_nodes.h"
#include "src/util/check.h"
#include "src/util/file_size_limit.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

namespace miodb {

namespace {

// Pages that are looked at to see where memory lies: when a region is opened, and of every piece that it grows by.
constexpr uint64_t kSampleAtOpen = 64;
constexpr uint64_t kSampleOfGrowth = 16;

}  // namespace

Region::Region(MemoryMedium* medium, uint64_t offset, uint64_t max_size, Growth growth)
    : file_(medium), mapping_(file_, offset, max_size), mode_(medium->mode), growth_(growth) {}

Status Region::Create(const std::string& path, uint64_t size, uint64_t max_size, PersistMode wanted,
                      std::unique_ptr<Region>* region, const Place& place) {
  CHECK_GT(size, 0u);
  std::unique_ptr<Region> r(new Region(path, place));
  Status s = r->file_.Create(place.access);
  if (!s.ok()) return s;
  // Mapped before it has any memory, because a binding is one of addresses.
  s = r->Map(std::max(max_size, max_size > 0 ? size : 0), wanted);
  if (s.ok()) s = r->Grow(size);
  if (s.ok()) {
    *region = std::move(r);
  } else if (r->kind() != RegionKind::kAnonymous) {
    unlink(path.c_str());
  }
  return s;
}

Status Region::Open(const std::string& path, uint64_t max_size, PersistMode wanted, std::unique_ptr<Region>* region,
                    const Place& place) {
  std::unique_ptr<Region> r(new Region(path, place));
  uint64_t size = 0;
  Status s = r->file_.Open(&size);
  if (!s.ok()) return s;
  r->SetSize(size);
  s = r->Map(max_size, wanted);
  if (s.ok()) s = r->CheckNodes(0, size);
  if (s.ok()) *region = std::move(r);
  return s;
}

std::unique_ptr<Region> Region::OnCallersMemory(MemoryMedium* medium, uint64_t capacity) {
  std::unique_ptr<Region> r(new Region(medium, 0, capacity, Growth::kGrows));
  r->SetSize(medium->size);
  return r;
}

std::unique_ptr<Region> Region::OnPartOfCallersMemory(MemoryMedium* medium, uint64_t offset, uint64_t size) {
  std::unique_ptr<Region> r(new Region(medium, offset, size, Growth::kFixed));
  r->SetSize(size);
  return r;
}

void Region::SetSize(uint64_t size) {
  DCHECK_EQ(size % file_.granularity(), 0u);
  // release: pairs with size(); whoever sees the new size may use the bytes below it.
  size_.store(size, std::memory_order_release);
}

Status Region::Map(uint64_t max_size, PersistMode wanted) {
  CHECK(!InCallersMemory());
  if (file_.keeps_storage()) growth_ = Growth::kFixed;
  Status s;
  if (!can_grow()) {
    max_size = size();
  } else if (max_size == 0) {
    s = file_.LargestSize(&max_size);
  }
  if (s.ok()) s = mapping_.Reserve(size(), max_size);
  if (!s.ok()) return s;
  if (!can_grow()) LimitTo(size());

  if (mapping_.MapSynced()) {
    mode_ = kPersistPmem;
    file_.SetDax();
  } else if (wanted == kPersistPmem) {
    return Status::NotSupported(path(), "this file system cannot map persistent memory with MAP_SYNC");
  } else {
    s = mapping_.Map(size());
    if (!s.ok()) return s;
    mode_ = kind() == RegionKind::kOtherFile ? kPersistFile : kPersistEmulated;
  }
  if (wanted == kPersistEmulated || wanted == kPersistFile) mode_ = wanted;
  return CheckBindable(nodes(), file_);
}

Status Region::CheckNodes(uint64_t offset, uint64_t size) const {
  if (!nodes().bound()) return Status::OK();
  PageSample sample;
  if (size == this->size()) {
    SampleStored(kSampleAtOpen, Touch::kForWriting, &sample);
  } else {  // has just been stored, and is not counted yet
    SamplePages(base() + offset, size, offset == 0 ? kSampleAtOpen : kSampleOfGrowth, Touch::kForWriting, &sample);
  }
  return CheckSample(nodes(), path(), sample);
}

PageSample Region::Sample(uint64_t count) const {
  PageSample sample;
  const Touch touch = kind() == RegionKind::kOtherFile ? Touch::kForReading : Touch::kForWriting;
  if (!InCallersMemory()) SampleStored(count, touch, &sample);
  return sample;
}

// To look at a page gives it memory, which holes are not to have.
void Region::SampleStored(uint64_t count, Touch touch, PageSample* sample) const {
  if (stored_bytes() == size()) return SamplePages(base(), size(), count, touch, sample);
  SamplePages(base(), size(), count, touch, sample, [this](uint64_t at) { return file_.HasStorageAt(at); });
}

Status Region::Grow(uint64_t new_size) {
  const uint64_t old_size = size();
  new_size = file_.RoundUp(new_size);
  if (new_size <= old_size) return Status::OK();
  Status s;
  if (InCallersMemory()) {
    if (!can_grow() || new_size > max_size()) return Status::NoSpace(path(), "no more memory");
    file_.memory()->size = new_size;
  } else {
    if (!can_grow()) return Status::NoSpace(path(), "a DAX device does not grow");
    s = GrowFile(old_size, new_size);
  }
  if (s.ok()) SetSize(new_size);
  return s;
}

Status Region::GrowFile(uint64_t old_size, uint64_t new_size) {
  CHECK_LT(old_size, new_size);
  Status s = mapping_.Extend(new_size);
  if (!s.ok()) return s;
  s = Store(old_size, new_size - old_size, "cannot grow to " + std::to_string(new_size) + " bytes");
  if (s.ok()) s = mapping_.MapStored(old_size, new_size - old_size);
  if (s.ok()) s = CheckNodes(old_size, new_size - old_size);
  if (s.ok()) return s;
  Status cut = file_.Cut(old_size);
  return cut.ok() ? s : cut;
}

// Takes the storage of a part of the file from the file system, and from the nodes that it has to be on.
Status Region::Store(uint64_t offset, uint64_t size, const std::string& what) {
  int node;
  Status s = BindStorage(nodes(), file_, base() + offset, size, &node);
  if (!s.ok()) return s;
  const ThreadMemoryPolicy policy(node, ThreadMemoryPolicy::Strength::kBind);  // hugetlbfs goes by the thread's
  return file_.Store(offset, size, what);
}

Status Region::Fill(uint64_t offset, uint64_t size) {
  CHECK_LE(offset + size, this->size());
  if (file_.keeps_storage()) return Status::OK();
  Status s = Store(offset, size, "cannot fill a hole of " + std::to_string(size) + " bytes");
  return s.ok() ? CheckNodes(offset, size) : s;
}

Status Region::Punch(uint64_t offset, uint64_t size) {
  CHECK_GE(offset, kPoolHeaderSize);
  CHECK_LE(offset + size, this->size());
  return file_.Punch(offset, size);
}

Status Region::Cut(uint64_t new_size) {
  CHECK_GE(new_size, kPoolHeaderSize);
  new_size = file_.RoundUp(new_size);
  if (InCallersMemory() || !can_grow() || new_size >= size()) return Status::OK();
  Status s = file_.Cut(new_size);
  if (s.ok()) SetSize(new_size);
  return s;
}

uint64_t Region::FileSystemAvailable() const {
  if (InCallersMemory()) return max_size() - size();
  return std::min(file_.Available(size()), AvailableOn(nodes(), file_));
}

std::string Region::DescribeShortage() const {
  std::string text = DescribeNodes(nodes(), file_);
  const auto add = [&text](const std::string& reason) { text += (text.empty() ? "" : ", ") + reason; };
  const std::string addresses = mapping_.DescribeShortage();
  if (!addresses.empty()) add(addresses);
  const uint64_t limit = FileSizeLimit();
  if (limit < max_size()) add("files of this process may have " + std::to_string(limit) + " bytes (ulimit -f)");
  return text;
}

void Region::Populate(uint64_t offset, uint64_t size) {
  DCHECK_LE(offset + size, this->size());
  if (InCallersMemory()) return;
  if (madvise(base() + offset, size, MADV_POPULATE_WRITE) == 0) return;
  // Kernels before 5.14: touch each page. The bytes are nobody's yet, so writing back what is there changes nothing.
  for (uint64_t i = 0; i < size; i += kExtentUnit) {
    volatile char* const byte = base() + offset + i;
    *byte = *byte;
  }
}

void Region::PopulateForReading(uint64_t offset, uint64_t size) {
  DCHECK_LE(offset + size, this->size());
  if (InCallersMemory()) return;
  madvise(base() + offset, size, MADV_POPULATE_READ);  // kernels that cannot do it map page by page, as they are read
}

}  // namespace miodb
