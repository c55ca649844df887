// Searches by the bytes of first pages: names and places of files may have changed since the entry was written, uuids
// do not.

#include "src/nvm/region/region_finder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "src/format/pm_ref.h"
#include "src/numa/file_system.h"
#include "src/nvm/region/region.h"
#include "src/util/check/check.h"
#include "src/util/files/descriptors.h"
#include "src/util/files/posix_file.h"

namespace miodb {

namespace {

// Devices that are looked at without being named. Opening others could set something off.
constexpr char kDaxDevice[] = "dax";

// A file is searched for data in pieces of this size.
constexpr size_t kBytesAtOnce = 64 * 1024;

// A device that no pool or region was ever made on, or one that was cleared.
bool AllZero(const char* p, uint64_t n) {
  return std::all_of(p, p + n, [](char c) { return c == 0; });
}

// Whether a device has nothing on it: its first page is zero but for the copies of a header, of which the first was cut
// off before the second began.
bool IsBlank(const std::string& page) {
  CHECK_EQ(page.size(), kPoolHeaderSize);
  return AllZero(page.data() + sizeof(RegionHeader), kPoolHeaderSize - sizeof(RegionHeader)) &&
         (AllZero(page.data(), sizeof(RegionHeader)) || memcmp(page.data(), &kRegionMagic, sizeof(kRegionMagic)) == 0 ||
          AllZero(page.data(), sizeof(kRegionMagic)));
}

// Sorted, so that errors which name several files are the same at every open. A folder that cannot be read has none.
std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(MakeDescriptor([&] { return opendir(folder.c_str()); }), closedir);
  if (dir == nullptr) return files;
  while (const dirent* entry = readdir(dir.get())) {
    const std::string name = entry->d_name;
    const std::string path = folder + "/" + name;
    struct stat st;
    if (stat(path.c_str(), &st) != 0) continue;
    if (S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && name.rfind(kDaxDevice, 0) == 0)) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A file that cannot be read, or a device in use, is not the region: the search goes on.
bool IsRegionOf(const std::string& path, const uint8_t* pool_uuid, const RegionEntry& entry) {
  RegionContent content;
  RegionHeader header;
  return LookAtRegion(path, &content, &header).ok() && content == RegionContent::kRegion &&
         SameUuid(header.pool_uuid, pool_uuid) && SameUuid(header.uuid, entry.uuid);
}

// Places are few, and the order in which they were named is the order in which they are looked at.
void AddOnce(std::vector<std::string>* list, const std::string& text) {
  if (std::find(list->begin(), list->end(), text) == list->end()) list->push_back(text);
}

// For a text that names every place in which was looked.
std::string Joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : ", ") + item;
  return text.empty() ? "none" : text;
}

}  // namespace

void RegionPlaces::AddFolder(const std::string& folder) { AddOnce(&folders, folder); }

// A path that was right once is likely to be right, or near.
void RegionPlaces::AddNeighbourhood(const std::string& path) {
  AddOnce(&paths, path);
  AddFolder(DirectoryOf(path));
}

// A file is read and not mapped: a mapped page that is cut off meanwhile would be a SIGBUS.
Status ReadFirstPage(const std::string& path, std::string* page) {
  page->assign(kPoolHeaderSize, '\0');
  if (KindOfPath(path) == PathKind::kDevice) {
    std::unique_ptr<Region> device;
    Status s = Region::Open(path, 0, kPersistAuto, &device);
    if (!s.ok()) return s;
    CHECK_GE(device->size(), kPoolHeaderSize);
    memcpy(page->data(), device->base(), kPoolHeaderSize);
    return s;
  }
  Descriptor fd(-1);
  Status s = OpenTyped(path, O_RDONLY, FileType::kRegular, &fd);
  // A short file is no error here: what it lacks reads as zeros, and whoever asked sees no header.
  for (size_t done = 0; s.ok() && done < kPoolHeaderSize;) {
    const ssize_t n = pread(fd.get(), page->data() + done, kPoolHeaderSize - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) s = Status::IOError(path, strerror(errno));
    if (n <= 0) break;
    done += static_cast<size_t>(n);
    CHECK_LE(done, kPoolHeaderSize);
  }
  return s;
}

// Only a device can be blank: a file gets its name when its header is durable, so what lies at the name without one is
// somebody else's.
Status LookAtRegion(const std::string& path, RegionContent* content, RegionHeader* header) {
  std::string page;
  Status s = ReadFirstPage(path, &page);
  *content = RegionContent::kNothing;
  if (s.IsNotFound()) return Status::OK();
  if (!s.ok()) return s;
  CHECK_EQ(page.size(), kPoolHeaderSize);
  if (ReadRegionHeader(page.data(), header)) {
    DCHECK(RegionHeaderChecks(*header));
    *content = RegionContent::kRegion;
  } else {
    *content = KindOfPath(path) == PathKind::kDevice && IsBlank(page) ? RegionContent::kBlank : RegionContent::kOther;
  }
  return s;
}

// Storage that was never written is zeros, and is skipped where the file system tells of it.
Status HoldsData(const std::string& path, bool* holds) {
  *holds = false;
  Descriptor fd(-1);
  struct stat st;
  Status s = OpenTyped(path, O_RDONLY, FileType::kRegular, &fd);
  if (s.ok() && fstat(fd.get(), &st) != 0) s = PosixError(path, errno);
  if (!s.ok()) return s;
  const uint64_t size = static_cast<uint64_t>(st.st_size);
  std::vector<FileHole> holes = HolesOf(fd.get(), size);
  holes.push_back({size, size});
  std::string bytes(kBytesAtOnce, '\0');
  uint64_t at = kPoolHeaderSize;
  for (const FileHole& hole : holes) {
    while (!*holds && at < hole.begin) {
      const uint64_t wanted = std::min<uint64_t>(bytes.size(), hole.begin - at);
      const ssize_t n = Retry([&] { return pread(fd.get(), bytes.data(), wanted, static_cast<off_t>(at)); });
      if (n < 0) return PosixError(path, errno);
      if (n == 0) return s;  // it was cut meanwhile
      *holds = !AllZero(bytes.data(), static_cast<uint64_t>(n));
      at += static_cast<uint64_t>(n);
    }
    at = std::max(at, hole.end);
  }
  DCHECK(*holds || at >= size);
  return s;
}

// An entry whose second copy was begun was durable in the first, so if neither is good it is damage; if only the first
// copy was begun it was torn by a crash and never counted. Entries are written in order, so one behind a missing one is
// damage too. The ranges of good entries are checked too: references that overlap would lead into the wrong file.
Status ReadRegionTable(const char* page, uint64_t pool_id, const std::string& path, std::vector<RegionEntry>* entries) {
  entries->clear();
  bool ended = false;
  for (int ordinal = 1; ordinal < kMaxRegions; ordinal++) {
    RegionEntry entry = {}, whole = {};
    const RegionEntry blank = {};
    bool written[kEntryCopies], good = false;
    for (int copy = 0; copy < kEntryCopies; copy++) {
      memcpy(&entry, page + RegionEntryOffset(ordinal, copy), sizeof(entry));
      written[copy] = memcmp(&entry, &blank, sizeof(entry)) != 0;
      if (good || !RegionEntryChecks(entry, ordinal, pool_id)) continue;
      good = true;
      whole = entry;
    }
    const bool damaged = !good && written[1];
    if (damaged || (good && ended)) {
      return Status::Corruption(path, "entry of region " + std::to_string(ordinal) + " at offset " +
                                          std::to_string(RegionEntryOffset(ordinal, 0)) +
                                          (damaged ? ": both copies are damaged" : ": the one before it is missing"));
    }
    // Entries behind the first blank one are still read: one there would mean that a blank one was lost.
    ended = ended || !good;
    if (!good) continue;
    const PmRef end = entries->empty() ? kPoolHeaderSize : entries->back().base + entries->back().range;
    if (whole.base < end || whole.base > IndexWord::kMaxRef || whole.base % kRegionAlignment != 0 || whole.range == 0 ||
        whole.range > IndexWord::kMaxRef - whole.base) {
      return Status::Corruption(path, RegionName(whole) + " overlaps the one before it, or is no range of references");
    }
    entries->push_back(whole);
    CHECK_EQ(entries->back().ordinal, entries->size());
  }
  CHECK_LT(entries->size(), static_cast<size_t>(kMaxRegions));
  return Status::OK();
}

// All folders are searched to the end, because two files that hold the same region are a mistake (a copy beside its
// original) which the user has to decide; a path that was named decides it.
Status FindRegion(const RegionPlaces& places, const uint8_t* pool_uuid, const RegionEntry& entry, std::string* path) {
  for (const std::string& candidate : places.paths) {
    if (!IsRegionOf(candidate, pool_uuid, entry)) continue;
    *path = candidate;
    return Status::OK();
  }
  CHECK(entry.ordinal >= 1 && entry.ordinal < kMaxRegions);
  const std::string name = RegionName(entry);
  path->clear();
  for (const std::string& folder : places.folders) {
    for (const std::string& candidate : FilesIn(folder)) {
      if (!IsRegionOf(candidate, pool_uuid, entry)) continue;
      if (!path->empty()) {
        return Status::InvalidArgument(name + " is in " + *path + " and in " + candidate,
                                       "name the right one in Options::nvm_regions");
      }
      *path = candidate;
    }
  }
  if (!path->empty()) return Status::OK();
  return Status::IOError(name + " is missing", "looked at the files " + Joined(places.paths) + " and in the folders " +
                                                   Joined(places.folders) + " (Options::nvm_region_search)");
}

}  // namespace miodb
