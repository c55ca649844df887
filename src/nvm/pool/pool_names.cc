// Nothing is removed that does not say itself, in a header that checks, that it is the pool's: a path may have come to
// mean something else since it was written down.

#include "src/nvm/pool/pool_names.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "src/nvm/persist/persist.h"
#include "src/nvm/pool/pool.h"
#include "src/nvm/pool/pool_image.h"
#include "src/util/check/check.h"
#include "src/util/files/posix_file.h"

namespace miodb {

namespace {

// Clears the first page of a device, so that it counts as empty. The rest keeps its bytes, which the secret of the next
// pool keeps from being taken for its own. The superblocks go last: a page that a crash leaves half cleared, of a pool
// that had no root, has either both of them or nothing else (HoldsNothing).
void ClearDevice(const Region& region) {
  CHECK(region.kind() == RegionKind::kDevdax);
  CHECK_GE(region.size(), kPoolHeaderSize);
  Persist persist(region.mode());
  const std::string zeros(kPoolHeaderSize, '\0');
  constexpr uint64_t kBegin = SuperblockOffset(0) + sizeof(Superblock), kEnd = SuperblockOffset(1);
  constexpr uint64_t kRest = kEnd + sizeof(Superblock);
  persist.Copy(Purpose::kManifest, region.base() + kBegin, zeros.data(), kEnd - kBegin);
  persist.Copy(Purpose::kManifest, region.base() + kRest, zeros.data(), kPoolHeaderSize - kRest);
  persist.Fence(Purpose::kManifest).IgnoreError();  // fails for files alone
  persist.Copy(Purpose::kManifest, region.base(), zeros.data(), zeros.size());
  persist.Fence(Purpose::kManifest).IgnoreError();
}

// Removes the region at path. REQUIRES: the caller has seen that the region belongs to the pool.
Status DestroyRegion(const std::string& path) {
  CHECK(!IsAnonymousPath(path));
  if (KindOfPath(path) != PathKind::kDevice) return RegionFile::Remove(path);
  std::unique_ptr<Region> region;
  Status s = Region::Open(path, 0, kPersistAuto, &region);
  if (s.ok()) ClearDevice(*region);
  return s;
}

// Removes what a crash left of adding a region: at the places that the options name lies a region of this pool which no
// entry names, under its own name or under a temporary one. Every temporary name is looked at: those in front may have
// been freed since.
void DestroyUnfinished(const std::string& pool, const uint8_t* uuid, const RegionPlaces& places) {
  for (const std::string& candidate : places.paths) {
    RegionContent content;
    RegionHeader region;
    if (candidate == pool) continue;
    for (int n = 0; n <= kTemporaryNames; n++) {
      const std::string file = n == 0 ? candidate : TemporaryName(candidate, n);
      if (LookAtRegion(file, &content, &region).ok() && content == RegionContent::kRegion &&
          SameUuid(region.pool_uuid, uuid)) {
        DestroyRegion(file).IgnoreError();
      }
    }
  }
}

// Removes the regions that the header page of a pool names. If several removals fail, the first failure is returned.
Status DestroyRegions(const std::string& path, const std::string& page, const RegionPlaces& places) {
  CHECK_EQ(page.size(), kPoolHeaderSize);
  const PoolHeader header = ReadPoolHeader(page.data(), page.size());
  if (!header.has_superblock) return Status::OK();
  std::vector<RegionEntry> entries;
  Status result = ReadRegionTable(page.data(), header.pool_id, path, &entries);
  // A region that cannot be found or removed does not keep the other regions from being removed.
  for (const RegionEntry& entry : entries) {
    std::string found;
    Status s = FindRegion(places, header.uuid, entry, &found);
    if (s.ok()) s = DestroyRegion(found);
    if (result.ok()) result = s;
  }
  DestroyUnfinished(path, header.uuid, places);
  return result;
}

}  // namespace

// A limit below one unit counts as none.
uint64_t InitialRegionSize(uint64_t limit) {
  limit = limit / kExtentUnit * kExtentUnit;
  const uint64_t size = limit == 0 ? kInitialRegionSize : std::min(limit, kInitialRegionSize);
  CHECK(size > 0 && size % kExtentUnit == 0);
  return size;
}

// A file of our own that a crash left behind is removed and its name used. A file of anybody else stays, whatever it
// is: its name is skipped.
Status FreeTemporaryName(const std::string& path, const uint8_t* uuid, std::string* name) {
  CHECK(!IsAnonymousPath(path));
  Status s = RefuseLink(path);
  if (!s.ok()) return s;  // one that leads nowhere
  for (int n = 1; n <= kTemporaryNames; n++) {
    *name = TemporaryName(path, n);
    std::string page;
    s = IsLink(*name) ? LinkRefused(*name) : ReadFirstPage(*name, &page);
    if (s.IsNotFound()) return Status::OK();
    if (!s.ok()) continue;  // a folder, say
    RegionHeader region;
    const PoolHeader pool = ReadPoolHeader(page.data(), page.size());
    const bool ours = (pool.has_superblock && SameUuid(pool.uuid, uuid)) ||
                      (ReadRegionHeader(page.data(), &region) && SameUuid(region.pool_uuid, uuid));
    if (ours) return RegionFile::Remove(*name);
  }
  return Status::IOError(
      *name, "and the names before it are taken, so no new file can be made" + (s.ok() ? "" : ": " + s.ToString()));
}

// For regions that are not part of a pool yet, or are to be so no more. Errors are of no use to anybody: the next
// attempt meets what is left, and removes it or says why not.
void Discard(const Region& region) {
  switch (region.kind()) {
    case RegionKind::kCallersMemory:
    case RegionKind::kAnonymous:
      return;  // has no name
    case RegionKind::kDevdax:
      return ClearDevice(region);
    default:
      unlink(region.path().c_str());
  }
}

// A device has no name that a pool could get when it is whole. The first root marks a pool there: without it nobody was
// told of a pool. A page with somebody else's data counts as a pool, and opening it says no.
Status Pool::ExistsOnDevice(const std::string& path, bool* exists) {
  std::unique_ptr<Region> region;
  Status s = Region::Open(path, 0, kPersistAuto, &region);
  if (!s.ok()) return s;
  CHECK_GE(region->size(), kPoolHeaderSize);
  *exists = !HoldsNothing(region->base());
  return s;
}

// The pool's own file goes last: as long as it is there, its entries say which regions are to be removed, so a call
// that was cut short can be made again.
Status Pool::Destroy(const std::string& path, const RegionPlaces& places) {
  const PathKind kind = KindOfPath(path);
  if (kind == PathKind::kAnonymous) return Status::OK();  // it was gone with its process
  std::string page;
  Status s = ReadFirstPage(path, &page);
  if (!s.ok() && !s.IsNotFound()) return s;
  // A device stays, so what tells that it held a pool is cleared last.
  if (kind == PathKind::kDevice) {
    if (!ReadPoolHeader(page.data(), page.size()).has_superblock) return s;
    const Status regions = DestroyRegions(path, page, places);
    s = DestroyRegion(path);
    return s.ok() ? regions : s;
  }
  // A pool in use is left alone as a whole: its regions are not looked for.
  const bool exists = s.ok();
  Status regions;
  if (exists) {
    s = RegionFile::CheckUnused(path);
    if (!s.ok()) return s;
    regions = DestroyRegions(path, page, places);
  }
  s = RegionFile::Remove(path);
  return s.ok() ? regions : s;
}

}  // namespace miodb
