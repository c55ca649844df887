#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "src/nvm/pool.h"
#include "src/nvm/pool_image.h"
#include "src/nvm/pool_names.h"
#include "src/util/check.h"
#include "src/util/clock.h"
#include "src/util/mutation.h"

// Adding a region, step by step:
//
//   1 A file is made under a temporary name, or a device is taken as it is; it is mapped behind the last region.
//   2 Its header is written, one copy durable before the next.
//   3 The file gets its name, durably.
//   4 The entry in the pool's header page is written, one copy durable before the next. With the first of them the
//     region is part of the pool.
//   5 Its space is free for use.
//
// What a crash leaves before step 4 is done: a region of this pool that no entry names. The next call that finds it at
// its path makes it anew.

namespace miodb {

namespace {

// Clears the first page of a device, so that it counts as empty.
void ClearDevice(const Region& region) {
  Persist persist(region.mode());
  const std::string zeros(kPoolHeaderSize, '\0');
  persist.Copy(Purpose::kManifest, region.base(), zeros.data(), zeros.size());
  persist.Fence(Purpose::kManifest).IgnoreError();  // fails for files alone
}

}  // namespace

void Pool::DrawUuid(uint8_t* uuid) const {
  const uint64_t random[] = {Random64(), Random64()};
  static_assert(sizeof(random) == kUuidBytes);
  memcpy(uuid, random, sizeof(random));
}

// The addresses that all regions of the pool with this header page need to be opened. 0: it has none, or is damaged,
// which shows later. What the last one may need beyond that is found out when its size is known.
uint64_t Pool::AddressesWanted(const char* header_page) {
  std::vector<RegionEntry> entries;
  const PoolHeader header = ReadPoolHeader(header_page, kPoolHeaderSize);
  if (!header.has_superblock || !ReadRegionTable(header_page, header.pool_id, "", &entries).ok()) return 0;
  return entries.empty() ? 0 : entries.back().base + std::min(entries.back().range, kAddressesAtOpen);
}

// ---- Opening

Status Pool::OpenRegions() {
  std::vector<RegionEntry> entries;
  Status s = ReadRegionTable(base_, id(), path_, &entries);
  if (!s.ok()) return s;
  if (!entries.empty() && regions_.first().size() > entries.front().base) {
    return Status::Corruption(path_, "has " + std::to_string(regions_.first().size()) + " bytes, but " +
                                         RegionName(entries.front()) + " begins at " +
                                         std::to_string(entries.front().base));
  }
  if (!entries.empty()) regions_.LimitFirst(entries.front().base);
  std::vector<RegionOptions> found;
  s = MatchRegions(entries, &found);
  for (size_t i = 0; s.ok() && i < entries.size(); i++) s = OpenRegion(entries[i], found[i]);
  return s;
}

// Says where each region is. A path of the options at which there is nothing stands for a region that is found
// elsewhere or, if all are found, for one that is to be made.
Status Pool::MatchRegions(const std::vector<RegionEntry>& entries, std::vector<RegionOptions>* found) {
  found->assign(entries.size(), RegionOptions());
  missing_regions_.clear();
  if (options_.memory != nullptr) {
    if (entries.empty()) missing_regions_ = options_.regions;
    return Status::OK();
  }
  std::vector<RegionOptions> elsewhere;
  for (const RegionOptions& o : options_.regions) {
    RegionContent content;
    RegionHeader header;
    Status s = LookAtRegion(o.path, &content, &header);
    if (!s.ok()) return s;
    const bool of_this_pool = content == RegionContent::kRegion && SameUuid(header.pool_uuid, uuid());
    const auto entry = std::find_if(entries.begin(), entries.end(), [&](const RegionEntry& e) {
      return of_this_pool && SameUuid(e.uuid, header.uuid);
    });
    if (entry == entries.end()) {
      if (of_this_pool || content == RegionContent::kNothing || content == RegionContent::kBlank) {
        elsewhere.push_back(o);
        continue;
      }
      return CheckFree(o.path);
    }
    RegionOptions& place = (*found)[static_cast<size_t>(entry - entries.begin())];
    if (!place.path.empty()) {
      return Status::InvalidArgument(o.path, "is the same region as " + place.path + ", " + RegionName(*entry));
    }
    place = o;
  }
  size_t next = 0;
  for (size_t i = 0; i < entries.size(); i++) {
    RegionOptions& place = (*found)[i];
    if (!place.path.empty()) continue;
    if (next < elsewhere.size()) place = elsewhere[next++];
    Status s = FindRegion(options_.search, uuid(), entries[i], &place.path);
    if (!s.ok()) return s;
  }
  missing_regions_.assign(elsewhere.begin() + static_cast<std::ptrdiff_t>(next), elsewhere.end());
  return Status::OK();
}

Status Pool::OpenRegion(const RegionEntry& entry, const RegionOptions& options) {
  std::unique_ptr<Region> region;
  if (options_.memory != nullptr) {
    region = Region::PartOfMemory(options_.memory, entry.base, options_.memory->capacity - options_.memory->split);
  } else {
    if (options.limit > entry.range) {
      return Status::InvalidArgument(options.path, "its limit is " + std::to_string(options.limit) +
                                                       "; since it was made, " + RegionName(entry) +
                                                       " may have at most " + std::to_string(entry.range) + " bytes");
    }
    uint64_t largest;
    Status s = Region::LargestSize(options.path, &largest);
    if (!s.ok()) return s;
    const Region::Place place{.nodes = options.nodes,
                              .range = regions_.first().range(),
                              .offset = entry.base,
                              .huge_pages = options_.huge_pages};
    const uint64_t most = options.limit > 0 ? options.limit : std::min(largest, entry.range);
    s = Region::Open(options.path, most, options_.persist_mode, &region, place);
    if (!s.ok()) return s;
  }
  Status s = CheckRegion(*region, entry);
  if (s.ok()) s = CheckMode(*region);
  if (!s.ok()) return s;
  // Its header needs no flush: it was durable before there was an entry.
  region->LimitTo(entry.range);
  regions_.Add(std::move(region), entry.base, entry.range, entry.uuid);
  space_.AddRegion(options.limit);
  if (options_.model != nullptr) options_.model->AddRegion(At(entry.base), entry.range);
  return s;
}

Status Pool::CheckRegion(const Region& region, const RegionEntry& entry) const {
  RegionHeader header;
  if (!ReadRegionHeader(region.base(), &header)) {
    return Status::Corruption(region.path(), "the header of " + RegionName(entry) + " is damaged");
  }
  if (header.version != kRegionFormatVersion) {
    return Status::NotSupported(region.path(), "region format version " + std::to_string(header.version) +
                                                   "; this library reads version " +
                                                   std::to_string(kRegionFormatVersion));
  }
  if (header.base != entry.base || header.range != entry.range || header.ordinal != entry.ordinal ||
      !SameUuid(header.uuid, entry.uuid) || !SameUuid(header.pool_uuid, uuid())) {
    return Status::Corruption(region.path(), "its header disagrees with the pool about " + RegionName(entry));
  }
  if (region.size() > entry.range) {
    return Status::Corruption(region.path(), "has " + std::to_string(region.size()) + " bytes, " + RegionName(entry) +
                                                 " has at most " + std::to_string(entry.range));
  }
  return Status::OK();
}

Status Pool::CheckMode(const Region& region) const {
  if (region.mode() == persist_.mode()) return Status::OK();
  return Status::InvalidArgument(region.path(), std::string("its persist mode is ") + PersistModeName(region.mode()) +
                                                    ", that of " + path_ + " is " + PersistModeName(persist_.mode()) +
                                                    "; all regions of a pool have one (Options::persist_mode)");
}

// Makes torn copies of entries whole, or blank if no copy is good: otherwise the next entry, torn in turn, could
// complete the words that are left of one that never was.
//
// What it copies from is made durable first: of an entry, only one copy may ever be torn.
Status Pool::RepairRegionTable() {
  bool fenced = false;
  if (MIODB_MUTATED(kRegionTableUnrepaired)) return Status::OK();
  for (int ordinal = 1; ordinal < kMaxRegions; ordinal++) {
    RegionEntry entries[kEntryCopies];
    RegionEntry whole = {};
    for (int copy = kEntryCopies - 1; copy >= 0; copy--) {
      memcpy(&entries[copy], base_ + RegionEntryOffset(ordinal, copy), sizeof(RegionEntry));
      if (RegionEntryChecks(entries[copy], ordinal, id())) whole = entries[copy];
    }
    for (int copy = 0; copy < kEntryCopies; copy++) {
      if (memcmp(&entries[copy], &whole, sizeof(whole)) == 0) continue;
      Status s = fenced ? Status::OK() : persist_.Fence(Purpose::kManifest);
      if (!s.ok()) return s;
      fenced = true;
      persist_.Copy(Purpose::kManifest, base_ + RegionEntryOffset(ordinal, copy), &whole, sizeof(whole));
    }
  }
  return Status::OK();
}

// ---- Adding

Status Pool::AddRegion(const RegionOptions& options) {
  RegionEntry entry;
  Status s = PlanRegion(options, &entry);
  const bool nameless = options_.memory != nullptr || Region::IsAnonymous(options.path);
  if (s.ok() && !nameless) s = CheckFree(options.path);
  if (!s.ok()) return s;
  std::unique_ptr<Region> region;
  s = MakeRegion(options, entry, &region);
  if (!s.ok()) return s;
  s = CheckMode(*region);
  if (s.ok()) s = WriteRegionHeader(*region, entry);
  if (s.ok() && !nameless && region->kind() != RegionKind::kDevdax) {
    s = region->SyncFile();
    if (s.ok()) s = region->Rename(options.path);
  }
  if (!s.ok()) {
    Discard(*region);
    return s;
  }
  s = WriteEntry(entry);
  if (!s.ok()) return s;  // the entry may be durable or not: the file stays, empty, and nothing else depends on it
  regions_.Add(std::move(region), entry.base, entry.range, entry.uuid);
  space_.AddRegion(options.limit);
  if (options_.model != nullptr) options_.model->AddRegion(At(entry.base), entry.range);
  return s;
}

// Where the next region's references are to be.
Status Pool::PlanRegion(const RegionOptions& options, RegionEntry* entry) const {
  const int ordinal = regions_.count();
  if (ordinal == kMaxRegions) {
    return Status::InvalidArgument(
        options.path, "the pool has " + std::to_string(kMaxRegions) + " regions already, the most there may be");
  }
  const RegionSet::Member& last = regions_.at(ordinal - 1);
  *entry = RegionEntry{};
  entry->ordinal = static_cast<uint64_t>(ordinal);
  DrawUuid(entry->uuid);
  entry->base = last.base + last.range;
  uint64_t largest = 0;
  if (options_.memory != nullptr) {
    if (options_.memory->split == 0 || ordinal > 1) {
      return Status::InvalidArgument(options.path, "there is no memory for another region");
    }
    entry->range = options_.memory->capacity - options_.memory->split;
  } else {
    Status s = Region::LargestSize(options.path, &largest);
    if (!s.ok()) return s;
    const bool as_it_is = options.limit == 0 || Region::IsDevice(options.path);
    entry->range = RoundToRegion(as_it_is ? largest : options.limit);
  }
  if (entry->range == 0 || entry->range > IndexWord::kMaxRef - std::min(entry->base, IndexWord::kMaxRef)) {
    return Status::InvalidArgument(options.path, "a pool cannot have more than " + std::to_string(IndexWord::kMaxRef) +
                                                     " bytes, this region has " + std::to_string(entry->range) +
                                                     " and begins at " + std::to_string(entry->base));
  }
  const auto& range = regions_.first().range();
  const uint64_t addresses = entry->base + std::min(entry->range, kAddressesAtOpen);
  if (range != nullptr && !range->Extend(addresses, addresses)) {
    return Status::InvalidArgument(
        options.path, "needs the first " + std::to_string(addresses) + " bytes of address space from the pool's on, " +
                          "of which " + std::to_string(range->size()) +
                          " can be had; give it and the regions before it limits, or open the database again");
  }
  entry->checksum = RegionEntryChecksum(*entry, id());
  return Status::OK();
}

// Whether a region may be made at path: there is nothing, or what a crash left of making one for this pool.
Status Pool::CheckFree(const std::string& path) {
  RegionContent content;
  RegionHeader header;
  Status s = LookAtRegion(path, &content, &header);
  if (!s.ok() || content == RegionContent::kNothing || content == RegionContent::kBlank) return s;
  if (content == RegionContent::kOther) {
    return Status::InvalidArgument(path, "is not empty and no region of this pool; it is left as it is");
  }
  if (!SameUuid(header.pool_uuid, uuid())) {
    return Status::InvalidArgument(path, "is a region of another pool (uuid " + UuidText(header.pool_uuid) + ")");
  }
  for (int i = 1; i < regions_.count(); i++) {
    if (!SameUuid(header.uuid, regions_.at(i).uuid)) continue;
    return Status::InvalidArgument(path, "is region " + std::to_string(i) + " of this pool already");
  }
  return Region::IsDevice(path) ? s : Region::Remove(path);
}

Status Pool::MakeRegion(const RegionOptions& options, const RegionEntry& entry, std::unique_ptr<Region>* region) {
  if (options_.memory != nullptr) {
    *region = Region::PartOfMemory(options_.memory, entry.base, entry.range);
    return Status::OK();
  }
  const Region::Place place{.nodes = options.nodes,
                            .range = regions_.first().range(),
                            .offset = entry.base,
                            .huge_pages = options_.huge_pages,
                            .access = options_.access};
  if (Region::IsDevice(options.path)) return Region::Open(options.path, 0, options_.persist_mode, region, place);
  const bool anonymous = Region::IsAnonymous(options.path);
  std::string temporary = options.path;
  Status s = anonymous ? Status::OK() : FreeTemporaryName(options.path, uuid(), &temporary);
  if (!s.ok()) return s;
  const uint64_t limit = options.limit / kExtentUnit * kExtentUnit;
  const uint64_t size = limit == 0 ? kInitialRegionSize : std::min(limit, kInitialRegionSize);
  const uint64_t most = options.limit > 0 ? options.limit : entry.range;
  return Region::Create(temporary, size, most, options_.persist_mode, region, place);
}

// In full, with the rest of the page zero: the space may have been anything.
Status Pool::WriteRegionHeader(const Region& region, const RegionEntry& entry) {
  RegionHeader header = {};
  header.magic = kRegionMagic;
  header.version = kRegionFormatVersion;
  header.ordinal = static_cast<uint32_t>(entry.ordinal);
  memcpy(header.pool_uuid, uuid(), kUuidBytes);
  memcpy(header.uuid, entry.uuid, kUuidBytes);
  header.base = entry.base;
  header.range = entry.range;
  if (options_.memory == nullptr) header.created_micros = WallMicros();
  header.checksum = RegionHeaderChecksum(header);
  for (int copy = 0; copy < kRegionHeaderCopies; copy++) {
    persist_.Copy(Purpose::kManifest, region.base() + RegionHeaderOffset(copy), &header, sizeof(header));
    Status s = persist_.Fence(Purpose::kManifest);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

Status Pool::WriteEntry(const RegionEntry& entry) {
  for (int copy = 0; copy < kEntryCopies; copy++) {
    char* const to = base_ + RegionEntryOffset(static_cast<int>(entry.ordinal), copy);
    persist_.Copy(Purpose::kManifest, to, &entry, sizeof(entry));
    if (copy == 0 && MIODB_MUTATED(kRegionEntriesTogether)) continue;
    Status s = persist_.Fence(Purpose::kManifest);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

// Removes the file of a region, or makes its device empty. What is mapped stays usable.
void Pool::Discard(const Region& region) {
  if (region.kind() == RegionKind::kMemory || region.kind() == RegionKind::kAnonymous) return;
  if (region.kind() == RegionKind::kDevdax) return ClearDevice(region);
  unlink(region.path().c_str());
}

// ---- Destroying

namespace {

// Removes what lies at path if it is a region of the pool.
Status DestroyRegion(const std::string& path) {
  if (!Region::IsDevice(path)) return Region::Remove(path);
  std::unique_ptr<Region> region;
  Status s = Region::Open(path, 0, kPersistAuto, &region);
  if (s.ok()) ClearDevice(*region);
  return s;
}

// Removes the regions that the header page of a pool names. Of several failures the first is returned.
Status DestroyRegions(const std::string& path, const std::string& page, const RegionPlaces& places) {
  const PoolHeader header = ReadPoolHeader(page.data(), page.size());
  if (!header.has_superblock) return Status::OK();
  std::vector<RegionEntry> entries;
  Status result = ReadRegionTable(page.data(), header.pool_id, path, &entries);
  for (const RegionEntry& entry : entries) {
    std::string found;
    Status s = FindRegion(places, header.uuid, entry, &found);
    if (s.ok()) s = DestroyRegion(found);
    if (result.ok()) result = s;
  }
  // What a crash left of adding one.
  for (const std::string& candidate : places.paths) {
    RegionContent content;
    RegionHeader region;
    if (candidate == path) continue;
    for (const std::string& file : {candidate, TemporaryName(candidate, 1)}) {
      if (LookAtRegion(file, &content, &region).ok() && content == RegionContent::kRegion &&
          SameUuid(region.pool_uuid, header.uuid)) {
        DestroyRegion(file).IgnoreError();
      }
    }
  }
  return result;
}

}  // namespace

Status Pool::Destroy(const std::string& path, const RegionPlaces& places) {
  if (Region::IsAnonymous(path)) return Status::OK();  // it was gone with its process
  std::string page;
  Status s = ReadFirstPage(path, &page);
  if (!s.ok() && !s.IsNotFound()) return s;
  if (Region::IsDevice(path)) {
    if (!ReadPoolHeader(page.data(), page.size()).has_superblock) return s;
    const Status regions = DestroyRegions(path, page, places);
    s = DestroyRegion(path);
    return s.ok() ? regions : s;
  }
  const bool exists = s.ok();
  Status regions;
  if (exists) {
    s = Region::CheckUnused(path);
    if (!s.ok()) return s;
    regions = DestroyRegions(path, page, places);
  }
  s = Region::Remove(path);
  return s.ok() ? regions : s;
}

}  // namespace miodb
