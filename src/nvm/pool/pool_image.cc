// Mapping what may be damaged: sizes come from the file system, places from entries that check, and whatever does not
// fit is left out and named (missing), so that the rest can be looked at.

#include "src/nvm/pool/pool_image.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "src/format/index_node.h"
#include "src/util/check/check.h"
#include "src/util/files/posix_file.h"

namespace miodb {

namespace {

// Two ranges with a smaller hole between them are one. Values that are zero may lie in smaller holes, after a copy that
// made holes of zeros; a large one saves a search of what the files only say they have.
constexpr uint64_t kLeastHole = uint64_t{64} << 20;

// The bytes beyond would have the references of the next region.
Status TooLarge(const std::string& path, uint64_t size, uint64_t most) {
  DCHECK_GT(size, most);
  return Status::Corruption(
      path, "has " + std::to_string(size) + " bytes, but only " + std::to_string(most) + " references are its own");
}

}  // namespace

// The file of one region, open and locked. The lock is that of an open database, so neither sees the other's stores.
Status PoolImage::Part::Open(const std::string& path) {
  CHECK_EQ(fd, -1);
  Descriptor opened(-1);
  Status s = OpenTyped(path, O_RDONLY, FileType::kRegular, &opened);
  if (!s.ok()) return s;
  fd = opened.release();
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return Status::IOError(path, errno == EWOULDBLOCK ? "the pool is in use by an open database" : strerror(errno));
  }
  struct stat st;
  if (fstat(fd, &st) != 0) return Status::IOError(path, strerror(errno));
  file_size = static_cast<uint64_t>(st.st_size);
  size = file_size / kExtentUnit * kExtentUnit;
  return Status::OK();
}

// Parts move into the list, and only one of the two may close the file.
PoolImage::Part::Part(Part&& other) noexcept
    : base(other.base),
      size(other.size),
      file_size(other.file_size),
      fd(std::exchange(other.fd, -1)),
      device(std::move(other.device)) {}

// Closing the file lets go of its lock. The mapping goes with the range, which outlives the parts.
PoolImage::Part::~Part() {
  if (fd >= 0) close(fd);
}

// Opens the file or device and maps it where its references say. The part may have no more than most bytes, because
// other parts come behind it. Files are mapped for reading alone, so no tool can change them by mistake; a device is
// opened as a region, which knows how to find its size and the pages that it can be mapped in.
Status PoolImage::Add(const std::string& path, PmRef base, uint64_t most) {
  CHECK(range_ != nullptr && base % kRegionAlignment == 0);
  CHECK(parts_.empty() ? base == 0 : base >= parts_.back().base + parts_.back().size);
  Part part;
  part.base = base;
  if (KindOfPath(path) == PathKind::kDevice) {
    RegionPlace place;
    place.range = range_;
    place.offset = base;
    Status s = Region::Open(path, 0, kPersistAuto, &part.device, place);
    if (!s.ok()) return s;
    part.size = part.file_size = part.device->size();
    if (part.size > most) return TooLarge(path, part.size, most);
  } else {
    Status s = part.Open(path);
    if (!s.ok()) return s;
    if (part.size > most) return TooLarge(path, part.size, most);
    if (!range_->Extend(base + part.size, base + part.size)) {
      return Status::IOError(path, "no address space is left for " + std::to_string(part.size) + " bytes");
    }
    if (part.size > 0 &&
        mmap(range_->base() + base, part.size, PROT_READ, MAP_SHARED | MAP_FIXED, part.fd, 0) == MAP_FAILED) {
      return Status::IOError(path, std::string("mmap: ") + strerror(errno));
    }
  }
  CHECK(base + part.size <= range_->size() && part.size % kExtentUnit == 0);
  parts_.push_back(std::move(part));
  return Status::OK();
}

// The first page is read before anything is mapped: it says how many addresses the regions need. Only the pool's own
// file has to be there; a region that is not, or cannot be mapped, is noted.
Status PoolImage::Open(const std::string& path, std::unique_ptr<PoolImage>* image, const RegionPlaces& given) {
  std::string page;
  Status s = ReadFirstPage(path, &page);
  if (!s.ok()) return s;
  const PoolHeader header = ReadPoolHeader(page.data(), page.size());
  std::unique_ptr<PoolImage> i(new PoolImage(path));
  i->secret_ = header.secret;
  std::vector<RegionEntry> entries;
  if (header.has_superblock) {
    s = ReadRegionTable(page.data(), header.pool_id, path, &entries);
    if (!s.ok()) i->missing_.push_back(s.ToString());
  }
  // A file that reaches into the references of its first region has grown by damage, or the entry is of another pool:
  // then the file alone is looked at, whole.
  uint64_t addresses = 0;
  s = RegionFile::SizeOf(path, &addresses);
  if (!s.ok()) return s;
  if (!entries.empty() && addresses > entries.front().base) {
    i->missing_.push_back(TooLarge(path, addresses, entries.front().base).ToString() + "; no region is looked for");
    entries.clear();
  }
  if (!entries.empty()) addresses = entries.back().base + std::min(entries.back().range, kAddressesAtOpen);
  addresses = RoundToRegion(addresses);
  s = AddressRange::Reserve(addresses, addresses, kAddressesAtOpen, &i->range_);
  if (s.ok()) s = i->Add(path, 0, entries.empty() ? IndexWord::kMaxRef : entries.front().base);
  if (!s.ok()) return s;
  i->base_ = i->range_->base();
  // Beside the pool is where the regions of a copied pool most likely are.
  RegionPlaces places = given;
  places.AddFolder(DirectoryOf(path));
  // A region that is missing leaves a gap in the references, as addresses without memory; Readable says no to them.
  for (const RegionEntry& entry : entries) {
    std::string found;
    s = FindRegion(places, header.uuid, entry, &found);
    if (s.ok()) s = i->Add(found, entry.base, entry.range);
    if (s.ok()) i->region_paths_.push_back(found);
    if (!s.ok()) i->missing_.push_back(s.ToString());
  }
  *image = std::move(i);
  return Status::OK();
}

// Nothing is mapped or opened, so there is no range and nothing to close.
std::unique_ptr<PoolImage> PoolImage::Wrap(const std::string& name, const char* base, uint64_t size) {
  CHECK_EQ(reinterpret_cast<uintptr_t>(base) % alignof(LeafNode), 0u);
  std::unique_ptr<PoolImage> image(new PoolImage(name));
  Part part;
  part.file_size = size;
  part.size = size / kExtentUnit * kExtentUnit;
  image->parts_.push_back(std::move(part));
  image->base_ = base;
  image->secret_ = ReadPoolHeader(base, size).secret;
  return image;
}

// The end of a part belongs to it, so that what reaches up to there has an end to be compared with.
const PoolImage::Part* PoolImage::PartOf(PmRef ref) const {
  DCHECK(!parts_.empty());
  for (const Part& part : parts_) {
    if (ref >= part.base && ref <= part.base + part.size) return &part;
  }
  return nullptr;
}

// The file system is asked where its data lie (SEEK_DATA, SEEK_HOLE), and what it does not know counts as data. Ranges
// are rounded outwards to units, and the header page is left out: nothing that a search looks for begins there.
std::vector<PoolImage::Range> PoolImage::DataRanges() const {
  std::vector<Range> ranges;
  for (const Part& part : parts_) {
    uint64_t offset = 0;
    while (offset < part.size) {
      uint64_t begin = offset, end = part.size;
      if (part.fd >= 0) {
        const off_t data = lseek(part.fd, static_cast<off_t>(offset), SEEK_DATA);
        if (data < 0 && errno == ENXIO) break;  // there is no more
        const off_t hole = data < 0 ? -1 : lseek(part.fd, data, SEEK_HOLE);
        if (hole >= 0) {  // else the file system does not know
          begin = static_cast<uint64_t>(data) / kExtentUnit * kExtentUnit;
          end = std::min(part.size, (static_cast<uint64_t>(hole) + kExtentUnit - 1) / kExtentUnit * kExtentUnit);
        }
      }
      CHECK_GT(end, offset);  // or the walk would not end
      offset = end;
      begin = std::max(begin, kPoolHeaderSize);
      if (begin >= end) continue;
      CHECK_LE(end, part.size);
      CHECK(ranges.empty() || ranges.back().end <= part.base + begin);
      Range* const last = ranges.empty() || ranges.back().begin < part.base ? nullptr : &ranges.back();
      if (last != nullptr && part.base + begin - last->end < kLeastHole) {
        last->end = part.base + end;
      } else {
        ranges.push_back({part.base + begin, part.base + end});
      }
    }
  }
  return ranges;
}

// The header in the bytes that are mapped. A file shorter than a header page has nothing good (ReadPoolHeader).
PoolHeader PoolImage::Header() const {
  CHECK(!parts_.empty());
  return ReadPoolHeader(base_, parts_[0].size);
}

// Whole units: what a reference can reach.
uint64_t PoolImage::size() const {
  uint64_t bytes = 0;
  for (const Part& part : parts_) bytes += part.size;
  return bytes;
}

// With what lies behind the last unit of each file, which holds nothing.
uint64_t PoolImage::file_size() const {
  uint64_t bytes = 0;
  for (const Part& part : parts_) bytes += part.file_size;
  return bytes;
}

// Written so that no sum can overflow: ref and n come from damaged bytes.
bool PoolImage::Readable(PmRef ref, uint64_t n) const {
  const Part* const part = PartOf(ref);
  return part != nullptr && ref >= part->base + kPoolHeaderSize && n <= part->base + part->size - ref;
}

// A reference into no part has nothing behind it, so what parses there finds the end at once.
const char* PoolImage::End(PmRef ref) const {
  const Part* const part = PartOf(ref);
  return At(part == nullptr ? ref : part->base + part->size);
}

RootSlot ReadRoots(const char* page, std::optional<uint64_t> pool_id, PoolHeader::Roots* roots) {
  DCHECK(page != nullptr);
  RootSlot current = {};
  for (uint64_t parity = 0; parity < 2; parity++) {
    for (int copy = 0; copy < kRootCopies; copy++) {
      PoolHeader::Root& r = (*roots)[parity][copy];
      r.offset = RootSlotOffset(parity, copy);
      memcpy(&r.slot, page + r.offset, sizeof(r.slot));
      r.blank = RootIsBlank(r.slot);
      r.good = pool_id.has_value() && RootChecks(r.slot, parity, *pool_id);
      if (r.good && r.slot.epoch > current.epoch) current = r.slot;
    }
  }
  return current;
}

// Every copy is judged by itself and kept as it is, for tools that show all of them; the first good superblock and the
// good root of the highest epoch are what an open would go by.
PoolHeader ReadPoolHeader(const char* page, uint64_t size) {
  // A page of which nothing is good, until shown otherwise.
  PoolHeader header = {};
  if (size < kPoolHeaderSize) return header;
  for (int copy = 0; copy < kSuperblockCopies; copy++) {
    PoolHeader::Copy& c = header.copies[copy];
    memcpy(&c.superblock, page + SuperblockOffset(copy), sizeof(c.superblock));
    c.good = SuperblockChecks(c.superblock);
    if (c.good && c.superblock.version != kPoolFormatVersion) {
      header.another_version = true;
      header.version = c.superblock.version;
      c.good = false;
    }
    if (c.good && !header.has_superblock) {
      header.has_superblock = true;
      header.pool_id = PoolId(c.superblock);
      header.secret = c.superblock.secret;
      memcpy(header.uuid, c.superblock.uuid, sizeof(header.uuid));
    }
  }
  header.current = ReadRoots(page, header.has_superblock ? std::optional(header.pool_id) : std::nullopt, &header.roots);
  CHECK(header.current.epoch == 0 || header.has_superblock);  // without an id no root is known to be the pool's
  return header;
}

// A making stores both copies of the superblock, in any order of their words, into a page of zeros. Only when both are
// durable comes the first copy of the first root, and its second copy when that is durable.
bool HoldsNothing(const char* page) {
  DCHECK(page != nullptr);
  const PoolHeader header = ReadPoolHeader(page, kPoolHeaderSize);
  if (header.has_superblock) {
    const auto& [even, odd] = header.roots;
    return header.current.epoch == 0 && even[0].blank && even[1].blank && odd[1].blank;
  }
  std::string rest(page, kPoolHeaderSize);
  for (int copy = 0; copy < kSuperblockCopies; copy++) {
    const Superblock& torn = header.copies[copy].superblock;
    if (torn.magic != 0 && torn.magic != kPoolMagic) return false;
    if (torn.version != 0 && torn.version != kPoolFormatVersion) return false;
    rest.replace(SuperblockOffset(copy), sizeof(torn), sizeof(torn), '\0');
  }
  return rest.find_first_not_of('\0') == std::string::npos;
}

}  // namespace miodb
