#include "src/nvm/pool_regions.h"

#include <algorithm>
#include <cstring>

#include "src/nvm/pool_image.h"
#include "src/nvm/pool_names.h"
#include "src/util/check.h"
#include "src/util/clock.h"

namespace miodb {

uint64_t PoolRegions::AddressesWanted(const char* header_page) {
  std::vector<RegionEntry> entries;
  const PoolHeader header = ReadPoolHeader(header_page, kPoolHeaderSize);
  if (!header.has_superblock || !ReadRegionTable(header_page, header.pool_id, "", &entries).ok()) return 0;
  return entries.empty() ? 0 : entries.back().base + std::min(entries.back().range, kAddressesAtOpen);
}

// ---- Opening

Status PoolRegions::Open() {
  CHECK_EQ(set_.count(), 1);
  std::vector<RegionEntry> entries;
  Status s = head_.ReadEntries(&entries);
  if (!s.ok()) return s;
  if (!entries.empty() && set_.first().size() > entries.front().base) {
    return Status::Corruption(path_, "has " + std::to_string(set_.first().size()) + " bytes, but " +
                                         RegionName(entries.front()) + " begins at " +
                                         std::to_string(entries.front().base));
  }
  if (!entries.empty()) set_.LimitFirst(entries.front().base);
  std::vector<PoolRegionOptions> found;
  s = Match(entries, &found);
  for (size_t i = 0; s.ok() && i < entries.size(); i++) s = OpenOne(entries[i], found[i]);
  return s;
}

// Says where each region is. A path of the options at which there is nothing stands for a region that is found
// elsewhere or, if all are found, for one that is to be made.
Status PoolRegions::Match(const std::vector<RegionEntry>& entries, std::vector<PoolRegionOptions>* found) {
  found->assign(entries.size(), PoolRegionOptions());
  missing_.clear();
  if (options_.memory != nullptr) {
    if (entries.empty()) missing_ = options_.regions;
    return Status::OK();
  }
  std::vector<PoolRegionOptions> elsewhere;
  for (const PoolRegionOptions& o : options_.regions) {
    Status s = MatchOne(entries, o, found, &elsewhere);
    if (!s.ok()) return s;
  }
  size_t next = 0;
  for (size_t i = 0; i < entries.size(); i++) {
    PoolRegionOptions& place = (*found)[i];
    if (!place.path.empty()) continue;
    if (next < elsewhere.size()) place = elsewhere[next++];
    Status s = FindRegion(options_.search, head_.uuid(), entries[i], &place.path);
    if (!s.ok()) return s;
  }
  CHECK_LE(next, elsewhere.size());
  missing_.assign(elsewhere.begin() + static_cast<std::ptrdiff_t>(next), elsewhere.end());
  return Status::OK();
}

// Of one path of the options: which entry lies there, or that it stands for another.
Status PoolRegions::MatchOne(const std::vector<RegionEntry>& entries, const PoolRegionOptions& options,
                             std::vector<PoolRegionOptions>* found, std::vector<PoolRegionOptions>* elsewhere) const {
  RegionContent content;
  RegionHeader header;
  Status s = LookAtRegion(options.path, &content, &header);
  if (!s.ok()) return s;
  const bool of_this_pool = content == RegionContent::kRegion && SameUuid(header.pool_uuid, head_.uuid());
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [&](const RegionEntry& e) { return of_this_pool && SameUuid(e.uuid, header.uuid); });
  if (entry == entries.end()) {
    if (!of_this_pool && content != RegionContent::kNothing && content != RegionContent::kBlank) {
      return CheckFree(options.path);
    }
    elsewhere->push_back(options);
    return s;
  }
  PoolRegionOptions& place = (*found)[static_cast<size_t>(entry - entries.begin())];
  if (!place.path.empty()) {
    return Status::InvalidArgument(options.path, "is the same region as " + place.path + ", " + RegionName(*entry));
  }
  place = options;
  return s;
}

Status PoolRegions::OpenOne(const RegionEntry& entry, const PoolRegionOptions& options) {
  CHECK_EQ(entry.ordinal, static_cast<uint64_t>(set_.count()));
  std::unique_ptr<Region> region;
  Status s = Map(entry, options, &region);
  if (s.ok()) s = Check(*region, entry);
  if (s.ok()) s = CheckMode(*region);
  if (!s.ok()) return s;
  // Its header needs no flush: it was durable before there was an entry.
  region->LimitTo(entry.range);
  TakeIn(std::move(region), entry, options.limit);
  return s;
}

Status PoolRegions::Map(const RegionEntry& entry, const PoolRegionOptions& options,
                        std::unique_ptr<Region>* region) const {
  if (options_.memory != nullptr) {
    *region =
        Region::OnPartOfCallersMemory(options_.memory, entry.base, options_.memory->capacity - options_.memory->split);
    return Status::OK();
  }
  if (options.limit > entry.range) {
    return Status::InvalidArgument(options.path, "its limit is " + std::to_string(options.limit) +
                                                     "; since it was made, " + RegionName(entry) +
                                                     " may have at most " + std::to_string(entry.range) + " bytes");
  }
  uint64_t largest;
  Status s = RegionFile::LargestSizeOf(options.path, &largest);
  if (!s.ok()) return s;
  const RegionPlace place{
      .nodes = options.nodes, .range = set_.first().range(), .offset = entry.base, .huge_pages = options_.huge_pages};
  const uint64_t most = options.limit > 0 ? options.limit : std::min(largest, entry.range);
  return Region::Open(options.path, most, options_.persist_mode, region, place);
}

Status PoolRegions::Check(const Region& region, const RegionEntry& entry) const {
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
      !SameUuid(header.uuid, entry.uuid) || !SameUuid(header.pool_uuid, head_.uuid())) {
    return Status::Corruption(region.path(), "its header disagrees with the pool about " + RegionName(entry));
  }
  if (region.size() > entry.range) {
    return Status::Corruption(region.path(), "has " + std::to_string(region.size()) + " bytes, " + RegionName(entry) +
                                                 " has at most " + std::to_string(entry.range));
  }
  return Status::OK();
}

Status PoolRegions::CheckMode(const Region& region) const {
  if (region.mode() == persist_.mode()) return Status::OK();
  return Status::InvalidArgument(region.path(), std::string("its persist mode is ") + PersistModeName(region.mode()) +
                                                    ", that of " + path_ + " is " + PersistModeName(persist_.mode()) +
                                                    "; all regions of a pool have one (Options::persist_mode)");
}

void PoolRegions::TakeIn(std::unique_ptr<Region> region, const RegionEntry& entry, uint64_t limit) {
  char* const base = set_.first().base() + entry.base;
  CHECK(region->base() == base);
  set_.Add(std::move(region), entry.base, entry.range, entry.uuid);
  space_.AddRegion(limit);
  if (options_.model != nullptr) options_.model->AddRegion(base, entry.range);
}

// ---- Adding

Status PoolRegions::Add(const PoolRegionOptions& options) {
  RegionEntry entry;
  Status s = Plan(options, &entry);
  if (s.ok() && options_.memory == nullptr && !IsAnonymousPath(options.path)) s = CheckFree(options.path);
  if (!s.ok()) return s;
  std::unique_ptr<Region> region;
  s = Make(options, entry, &region);
  if (!s.ok()) return s;
  s = Finish(options, entry, region.get());
  if (!s.ok()) {
    Discard(*region);
    return s;
  }
  s = head_.WriteEntry(entry);
  if (!s.ok()) return s;  // the entry may be durable or not: the file stays, empty, and nothing else depends on it
  TakeIn(std::move(region), entry, options.limit);
  return s;
}

// Steps 2 and 3.
Status PoolRegions::Finish(const PoolRegionOptions& options, const RegionEntry& entry, Region* region) {
  Status s = CheckMode(*region);
  if (s.ok()) s = WriteHeader(*region, entry);
  const bool has_name = !region->file().keeps_storage() && region->kind() != RegionKind::kAnonymous;
  if (s.ok() && has_name) s = region->SyncFile();
  if (s.ok() && has_name) s = region->Rename(options.path);
  return s;
}

// Where the next region's references are to be.
Status PoolRegions::Plan(const PoolRegionOptions& options, RegionEntry* entry) const {
  const int ordinal = set_.count();
  if (ordinal == kMaxRegions) {
    return Status::InvalidArgument(
        options.path, "the pool has " + std::to_string(kMaxRegions) + " regions already, the most there may be");
  }
  const RegionSet::Member& last = set_.at(ordinal - 1);
  *entry = RegionEntry{};
  entry->ordinal = static_cast<uint64_t>(ordinal);
  const auto uuid = options_.DrawUuid();
  memcpy(entry->uuid, uuid.data(), sizeof(entry->uuid));
  entry->base = last.base + last.range;
  Status s = PlanRange(options, entry);
  if (!s.ok()) return s;
  const auto& range = set_.first().range();
  const uint64_t addresses = entry->base + std::min(entry->range, kAddressesAtOpen);
  if (range != nullptr && !range->Extend(addresses, addresses)) {
    return Status::InvalidArgument(
        options.path, "needs the first " + std::to_string(addresses) + " bytes of address space from the pool's on, " +
                          "of which " + std::to_string(range->size()) +
                          " can be had; give it and the regions before it limits, or open the database again");
  }
  entry->checksum = RegionEntryChecksum(*entry, head_.id());
  return s;
}

// How many references it gets: as many as its file may ever have bytes.
Status PoolRegions::PlanRange(const PoolRegionOptions& options, RegionEntry* entry) const {
  if (options_.memory != nullptr) {
    if (options_.memory->split == 0 || entry->ordinal > 1) {
      return Status::InvalidArgument(options.path, "there is no memory for another region");
    }
    entry->range = options_.memory->capacity - options_.memory->split;
  } else {
    uint64_t largest;
    Status s = RegionFile::LargestSizeOf(options.path, &largest);
    if (!s.ok()) return s;
    const bool as_it_is = options.limit == 0 || KindOfPath(options.path) == PathKind::kDevice;
    entry->range = RoundToRegion(as_it_is ? largest : options.limit);
  }
  if (entry->range == 0 || entry->range > IndexWord::kMaxRef - std::min(entry->base, IndexWord::kMaxRef)) {
    return Status::InvalidArgument(options.path, "a pool cannot have more than " + std::to_string(IndexWord::kMaxRef) +
                                                     " bytes, this region has " + std::to_string(entry->range) +
                                                     " and begins at " + std::to_string(entry->base));
  }
  return Status::OK();
}

// Whether a region may be made at path: there is nothing, or what a crash left of making one for this pool.
Status PoolRegions::CheckFree(const std::string& path) const {
  RegionContent content;
  RegionHeader header;
  Status s = LookAtRegion(path, &content, &header);
  if (!s.ok() || content == RegionContent::kNothing || content == RegionContent::kBlank) return s;
  if (content == RegionContent::kOther) {
    return Status::InvalidArgument(path, "is not empty and no region of this pool; it is left as it is");
  }
  if (!SameUuid(header.pool_uuid, head_.uuid())) {
    return Status::InvalidArgument(path, "is a region of another pool (uuid " + UuidText(header.pool_uuid) + ")");
  }
  for (int i = 1; i < set_.count(); i++) {
    if (!SameUuid(header.uuid, set_.at(i).uuid)) continue;
    return Status::InvalidArgument(path, "is region " + std::to_string(i) + " of this pool already");
  }
  return KindOfPath(path) == PathKind::kDevice ? s : RegionFile::Remove(path);
}

Status PoolRegions::Make(const PoolRegionOptions& options, const RegionEntry& entry,
                         std::unique_ptr<Region>* region) const {
  if (options_.memory != nullptr) {
    *region = Region::OnPartOfCallersMemory(options_.memory, entry.base, entry.range);
    return Status::OK();
  }
  const RegionPlace place{.nodes = options.nodes,
                          .range = set_.first().range(),
                          .offset = entry.base,
                          .huge_pages = options_.huge_pages,
                          .access = options_.access};
  const PathKind kind = KindOfPath(options.path);
  if (kind == PathKind::kDevice) return Region::Open(options.path, 0, options_.persist_mode, region, place);
  std::string temporary = options.path;
  Status s = kind == PathKind::kAnonymous ? Status::OK() : FreeTemporaryName(options.path, head_.uuid(), &temporary);
  if (!s.ok()) return s;
  const uint64_t most = options.limit > 0 ? options.limit : entry.range;
  return Region::Create(temporary, InitialRegionSize(options.limit), most, options_.persist_mode, region, place);
}

// In full, with the rest of the page zero: the space may have been anything.
Status PoolRegions::WriteHeader(const Region& region, const RegionEntry& entry) {
  CHECK_GE(region.size(), kPoolHeaderSize);
  RegionHeader header = {};
  header.magic = kRegionMagic;
  header.version = kRegionFormatVersion;
  header.ordinal = static_cast<uint32_t>(entry.ordinal);
  memcpy(header.pool_uuid, head_.uuid(), kUuidBytes);
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

}  // namespace miodb
