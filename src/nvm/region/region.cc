// A region's size is published last: bytes below it have storage on the right nodes and are mapped (Grow). Where
// storage goes back it is punched and the size stays (Punch, Fill), so only Cut makes a region shorter, when nobody
// reads it.

#include "src/nvm/region/region.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "src/format/pm_ref.h"
#include "src/format/superblock.h"
#include "src/nvm/region/region_nodes.h"
#include "src/util/check/check.h"
#include "src/util/files/file_size_limit.h"

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

// The file is made by this call alone (it must not exist), so on failure it is removed again.
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
    CHECK_GE(r->size(), size);
    *region = std::move(r);
  } else if (r->kind() != RegionKind::kAnonymous) {
    unlink(path.c_str());
  }
  return s;
}

// The size comes before the mapping, which needs it to know how many addresses to take. In file mode only what was
// stored in that mode has been synced: bytes of another mode, or of a tool that copied the file, are so now.
Status Region::Open(const std::string& path, uint64_t max_size, PersistMode wanted, std::unique_ptr<Region>* region,
                    const Place& place) {
  std::unique_ptr<Region> r(new Region(path, place));
  uint64_t size = 0;
  Status s = r->file_.Open(&size, place.use);
  if (!s.ok()) return s;
  r->SetSize(size);
  s = r->Map(max_size, wanted);
  if (s.ok()) s = r->CheckNodes(0, size);
  if (s.ok() && place.use == RegionUse::kOwner && r->mode() == kPersistFile) s = r->SyncFile();
  if (s.ok()) *region = std::move(r);
  return s;
}

// There is nothing to open or to map, and the mode is what the medium says.
std::unique_ptr<Region> Region::OnCallersMemory(MemoryMedium* medium, uint64_t capacity) {
  CHECK_LE(medium->size, capacity);
  std::unique_ptr<Region> r(new Region(medium, 0, capacity, Growth::kGrows));
  r->SetSize(medium->size);
  return r;
}

std::unique_ptr<Region> Region::OnPartOfCallersMemory(MemoryMedium* medium, uint64_t offset, uint64_t size) {
  CHECK(offset % kExtentUnit == 0 && size >= kPoolHeaderSize);
  std::unique_ptr<Region> r(new Region(medium, offset, size, Growth::kFixed));
  r->SetSize(size);
  return r;
}

void Region::SetSize(uint64_t size) {
  DCHECK_EQ(size % file_.granularity(), 0u);
  // release: pairs with size(); whoever sees the new size may use the bytes below it.
  size_.store(size, std::memory_order_release);
}

// Finds the persist mode by trying: what can be mapped with MAP_SYNC is persistent memory, and anything else is as good
// as its kind says, memory or a file on a disk. A request for pmem gets nothing weaker; a request for emulated or file
// is met on any medium.
Status Region::Map(uint64_t max_size, PersistMode wanted) {
  CHECK(!InCallersMemory());
  if (file_.keeps_storage()) growth_ = Growth::kFixed;
  Status s;
  if (!can_grow()) {
    max_size = size();
  } else if (mapping_.place().use == RegionUse::kReader) {
    max_size = IndexWord::kMaxRef + 1;  // the file system may be larger when the owner has the file grow
  } else if (max_size == 0) {
    s = file_.LargestSize(&max_size);
  }
  if (s.ok()) s = mapping_.Reserve(size(), max_size);
  if (!s.ok()) return s;
  CHECK(mapping_.base() != nullptr && size() <= mapping_.max_size());
  if (!can_grow()) LimitTo(size());

  // A reader stores nothing, so how stores last is nothing to it.
  if (mapping_.place().use == RegionUse::kReader) {
    mode_ = kPersistEmulated;
    return mapping_.Map(size());
  }
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
  // A weaker mode may be asked for on persistent memory too; a file mapped with MAP_SYNC takes it.
  if (wanted == kPersistEmulated || wanted == kPersistFile) mode_ = wanted;
  return CheckBindable(nodes(), file_);
}

// Addresses beyond the file's end are mapped already, but on hugetlbfs. No state that a reader has pinned names bytes
// that the owner cuts off again.
Status Region::Follow() {
  CHECK(mapping_.place().use == RegionUse::kReader);
  uint64_t now = 0;
  if (!can_grow()) return Status::OK();
  Status s = file_.SizeNow(&now);
  if (s.ok() && now > size()) s = mapping_.Extend(now);
  if (s.ok() && now > size()) s = mapping_.MapStored(size(), now - size());
  if (s.ok() && now != size()) SetSize(now);
  DCHECK(!s.ok() || size() <= mapping_.max_size());
  return s;
}

// Looks at pages of what was just stored or opened: a binding is a wish, and where a page lies the kernel alone
// decides.
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

// Pages of a file on a disk are looked at for reading, so that a look does not make them dirty.
PageSample Region::Sample(uint64_t count) const {
  PageSample sample;
  const Touch touch = kind() == RegionKind::kOtherFile ? Touch::kForReading : Touch::kForWriting;
  if (!InCallersMemory()) SampleStored(count, touch, &sample);
  return sample;
}

// To look at a page gives it memory, which holes are not to have.
void Region::SampleStored(uint64_t count, Touch touch, PageSample* sample) const {
  CHECK(!InCallersMemory());  // it is on no node that anybody asked for
  if (stored_bytes() == size()) return SamplePages(base(), size(), count, touch, sample);
  SamplePages(base(), size(), count, touch, sample, [this](uint64_t at) { return file_.HasStorageAt(at); });
}

// After a crash the file may be longer: the pool's space beyond the last extent that an edit names is free.
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
  CHECK(!s.ok() || new_size <= max_size());
  if (s.ok()) SetSize(new_size);
  return s;
}

// Addresses, storage, mapping, nodes: each step needs the one before. The file is cut to its old length if a later step
// fails, and addresses that were taken stay for the next attempt.
Status Region::GrowFile(uint64_t old_size, uint64_t new_size) {
  CHECK_LT(old_size, new_size);
  Status s = mapping_.Extend(new_size);
  if (s.ok()) s = mapping_.Uncover(new_size);
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
  CHECK_LE(offset + size, max_size());
  int node;
  Status s = BindStorage(nodes(), file_, base() + offset, size, &node);
  if (!s.ok()) return s;
  const ThreadMemoryPolicy policy(node, ThreadMemoryPolicy::Strength::kBind);  // hugetlbfs goes by the thread's
  return file_.Store(offset, size, what);
}

// A device and memory of the caller have no holes.
Status Region::Fill(uint64_t offset, uint64_t size) {
  CHECK(size > 0 && offset >= kPoolHeaderSize);  // the header page never is a hole
  CHECK_LE(offset + size, this->size());
  if (file_.keeps_storage()) return Status::OK();
  Status s = Store(offset, size, "cannot fill a hole of " + std::to_string(size) + " bytes");
  return s.ok() ? CheckNodes(offset, size) : s;
}

// Pages that are punched stay mapped: a read there is zeros, and a store takes a page of the file system again.
Status Region::Punch(uint64_t offset, uint64_t size) {
  CHECK(size > 0 && offset >= kPoolHeaderSize);
  CHECK_LE(offset + size, this->size());
  return file_.Punch(offset, size);
}

// The file is cut before the size says so: who reads the size meanwhile may be told bytes that are gone, which is why
// nobody may look (PoolSpace::GiveBackAll).
Status Region::Cut(uint64_t new_size) {
  CHECK_GE(new_size, kPoolHeaderSize);
  new_size = file_.RoundUp(new_size);
  if (InCallersMemory() || !can_grow() || new_size >= size()) return Status::OK();
  Status s = file_.Cut(new_size);
  if (!s.ok()) return s;
  mapping_.Cover(new_size, size());
  SetSize(new_size);
  return s;
}

// A bound region grows by what its file system and its nodes both have.
uint64_t Region::FileSystemAvailable() const {
  CHECK_LE(size(), max_size());
  if (InCallersMemory()) return max_size() - size();
  return std::min(file_.Available(size()), AvailableOn(nodes(), file_));
}

// All shortages are told, because each alone would keep the region from growing.
std::string Region::DescribeShortage() const {
  std::string text = DescribeNodes(nodes(), file_);
  const auto add = [&text](const std::string& reason) { text += (text.empty() ? "" : ", ") + reason; };
  const std::string addresses = mapping_.DescribeShortage();
  if (!addresses.empty()) add(addresses);
  const uint64_t limit = FileSizeLimit();
  if (limit < max_size()) add("files of this process may have " + std::to_string(limit) + " bytes (ulimit -f)");
  return text;
}

// A single system call replaces a page fault for each page, for which a put would have to wait now and then.
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

void Region::UseHugePages() {
  if (mode() == kPersistFile && !InCallersMemory() && huge_pages()) mapping_.AskFor(RegionMapping::Pages::kHuge);
}

// A sync writes whole folios of the page cache, which on ext4 may be as large as huge pages. The old pages of the part
// have to go, or else their folios would stay; new folios come with the stores, page by page.
bool Region::UseSmallPages(uint64_t offset, uint64_t size) {
  DCHECK_LE(offset + size, this->size());
  DCHECK_GT(size, 0u);
  if (mode() != kPersistFile || InCallersMemory() || !huge_pages()) return false;
  if (!file_.Zero(offset, size)) return false;
  mapping_.AskFor(RegionMapping::Pages::kSmall);
  return true;
}

// Recovery reads log chunks from end to end, and would else take a fault for each few pages.
void Region::PopulateForReading(uint64_t offset, uint64_t size) {
  DCHECK_LE(offset + size, this->size());
  if (InCallersMemory()) return;
  madvise(base() + offset, size, MADV_POPULATE_READ);  // kernels that cannot do it map page by page, as they are read
}

}  // namespace miodb
