// Regions are found by the uuids in their headers and checked against the entries of the pool's header page: paths are
// only where to look first.

#include "src/nvm/pool/pool_regions.h"

#include <algorithm>
#include <cstring>

#include "src/nvm/pool/pool_image.h"
#include "src/nvm/pool/pool_names.h"
#include "src/util/check/check.h"
#include "src/util/clock/clock.h"

namespace miodb {

// The answer is for an undamaged header page; Open finds and reports everything that is wrong with the page.
uint64_t PoolRegions::AddressesWanted(const char* header_page) {
  std::vector<RegionEntry> entries;
  const PoolHeader header = ReadPoolHeader(header_page, kPoolHeaderSize);
  if (!header.has_superblock || !ReadRegionTable(header_page, header.pool_id, "", &entries).ok()) return 0;
  if (entries.empty()) return 0;
  const uint64_t addresses = entries.back().base + std::min(entries.back().range, kAddressesAtOpen);
  CHECK_LE(addresses, IndexWord::kMaxRef);  // as ReadRegionTable promises
  return addresses;
}

// ---- Opening

// Entries are in order of their references and do not overlap (ReadRegionTable), so regions are opened in that order,
// each behind the one before. The first region may not reach into the references of the second.
Status PoolRegions::Open() {
  CHECK_EQ(set_.count(), 1);
  std::vector<RegionEntry> entries;
  Status s = head_.ReadEntries(&entries);
  if (!s.ok()) return s;
  if (!entries.empty()) s = LimitFirst(entries.front());
  if (!s.ok()) return s;
  std::vector<PoolRegionOptions> found;
  s = Match(entries, &found);
  for (size_t i = 0; s.ok() && i < entries.size(); i++) s = OpenOne(entries[i], found[i]);
  CHECK(!s.ok() || static_cast<size_t>(set_.count()) == 1 + entries.size());
  return s;
}

Status PoolRegions::LimitFirst(const RegionEntry& second) {
  CHECK_EQ(set_.count(), 1);
  DCHECK_GT(second.range, 0u);
  if (set_.first().size() > second.base) {
    return Status::Corruption(path_, "has " + std::to_string(set_.first().size()) + " bytes, but " +
                                         RegionName(second) + " begins at " + std::to_string(second.base));
  }
  set_.LimitFirst(second.base);
  space_.LimitFirst();
  return Status::OK();
}

// Limits and nodes are the owner's. A look at an entry that is being stored may find neither copy; a second look finds
// the first copy. Before the first file got a neighbour its owner may have cut it off.
Status PoolRegions::Follow(const std::function<RegionPlaces()>& search) {
  CHECK(options_.use == RegionUse::kReader);
  std::vector<RegionEntry> entries;
  Status s = head_.ReadEntries(&entries);
  if (!s.ok()) s = head_.ReadEntries(&entries);
  if (!s.ok() || entries.size() < static_cast<size_t>(set_.count())) return s;
  if (set_.count() == 1) s = set_.first().Follow();
  if (s.ok() && set_.count() == 1) s = LimitFirst(entries.front());
  const RegionPlaces places = search();
  while (s.ok() && static_cast<size_t>(set_.count()) <= entries.size()) {
    const RegionEntry& entry = entries[static_cast<size_t>(set_.count()) - 1];
    DCHECK_EQ(entry.ordinal, static_cast<uint64_t>(set_.count()));
    PoolRegionOptions found;
    s = FindRegion(places, head_.uuid(), entry, &found.path);
    if (s.ok()) s = OpenOne(entry, found);
  }
  return s;
}

// Says where each region is. A path of the options at which there is nothing stands for a region that is found
// elsewhere or, if all are found, for one that is to be made.
Status PoolRegions::Match(const std::vector<RegionEntry>& entries, std::vector<PoolRegionOptions>* found) {
  found->assign(entries.size(), PoolRegionOptions());
  missing_.clear();
  // Memory of the caller has no paths to be matched: its one further region lies where it has to.
  if (options_.memory != nullptr) {
    if (entries.empty()) missing_ = options_.regions;
    return Status::OK();
  }
  std::vector<PoolRegionOptions> elsewhere;
  for (const PoolRegionOptions& o : options_.regions) {
    Status s = MatchOne(entries, o, found, &elsewhere);
    if (!s.ok()) return s;
  }
  // Places without a file go to the regions that no place has yet, in order: for their limits and nodes. The file
  // itself is looked for.
  size_t next = 0;
  for (size_t i = 0; i < entries.size(); i++) {
    PoolRegionOptions& place = (*found)[i];
    if (!place.path.empty()) continue;
    if (next < elsewhere.size()) place = elsewhere[next++];
    Status s = FindRegion(options_.search, head_.uuid(), entries[i], &place.path);
    if (!s.ok()) return s;
    CHECK(!place.path.empty());
  }
  CHECK(next <= elsewhere.size() && elsewhere.size() <= options_.regions.size());
  missing_.assign(elsewhere.begin() + static_cast<std::ptrdiff_t>(next), elsewhere.end());
  return Status::OK();
}

// Finds the entry of the region at a path of the options, or notes that the path stands for another region.
Status PoolRegions::MatchOne(const std::vector<RegionEntry>& entries, const PoolRegionOptions& options,
                             std::vector<PoolRegionOptions>* found, std::vector<PoolRegionOptions>* elsewhere) const {
  RegionContent content;
  RegionHeader header;
  Status s = LookAtRegion(options.path, &content, &header);
  if (!s.ok()) return s;
  // A region of this pool that no entry names was being added when a crash came; it counts as a place for a new one.
  const bool of_this_pool = content == RegionContent::kRegion && SameUuid(header.pool_uuid, head_.uuid());
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [&](const RegionEntry& e) { return of_this_pool && SameUuid(e.uuid, header.uuid); });
  if (entry == entries.end()) {
    s = CheckFree(options.path);
    if (s.ok()) elsewhere->push_back(options);
    return s;
  }
  CHECK_EQ(found->size(), entries.size());
  PoolRegionOptions& place = (*found)[static_cast<size_t>(entry - entries.begin())];
  if (!place.path.empty()) {
    return Status::InvalidArgument(options.path, "is the same region as " + place.path + ", " + RegionName(*entry));
  }
  place = options;
  return s;
}

// The region is mapped before its header is read, because a device can be read in no other way. Until TakeIn nothing
// refers to the region, and a region that is refused is unmapped again.
Status PoolRegions::OpenOne(const RegionEntry& entry, const PoolRegionOptions& options) {
  CHECK_EQ(entry.ordinal, static_cast<uint64_t>(set_.count()));
  std::unique_ptr<Region> region;
  Status s = Map(entry, options, &region);
  if (s.ok()) s = Check(*region, entry);
  if (s.ok()) s = CheckMode(*region);
  if (!s.ok()) return s;
  // The region's header needs no flush: it was durable before there was an entry.
  region->LimitTo(entry.range);
  TakeIn(std::move(region), entry, options.limit);
  return s;
}

// A file never grows beyond the references that it was given when it was made, so a larger limit is refused rather than
// cut down without a word.
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
  // Without a limit it may become as large as its file system, now, but never larger than its references. To a reader
  // its file system is nothing, which may be larger when the owner has the file grow.
  uint64_t largest = entry.range;
  Status s = options_.use == RegionUse::kReader ? Status::OK() : RegionFile::LargestSizeOf(options.path, &largest);
  if (!s.ok()) return s;
  const RegionPlace place{.nodes = options.nodes,
                          .range = set_.first().range(),
                          .offset = entry.base,
                          .huge_pages = options_.huge_pages,
                          .use = options_.use};
  const uint64_t most = options.limit > 0 ? options.limit : std::min(largest, entry.range);
  return Region::Open(options.path, most, options_.persist_mode, region, place);
}

// Header and entry were written with the same figures. Where they disagree one of them is from another moment, of a
// copy say, and references could lead into the wrong file.
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

// The door has a single way to make stores durable; it does not ask for each store in which region it lies.
Status PoolRegions::CheckMode(const Region& region) const {
  if (region.mode() == persist_.mode()) return Status::OK();
  return Status::InvalidArgument(region.path(), std::string("its persist mode is ") + PersistModeName(region.mode()) +
                                                    ", that of " + path_ + " is " + PersistModeName(persist_.mode()) +
                                                    "; all regions of a pool have one (Options::persist_mode)");
}

// The space is known only when the set has the region: whoever is given space there may ask at once where it lies.
void PoolRegions::TakeIn(std::unique_ptr<Region> region, const RegionEntry& entry, uint64_t limit) {
  char* const base = set_.first().base() + entry.base;
  CHECK(region->base() == base);
  CHECK_EQ(entry.ordinal, static_cast<uint64_t>(set_.count()));
  CHECK(region->mode() == persist_.mode());
  set_.Add(std::move(region), entry.base, entry.range, entry.uuid);
  space_.AddRegion(limit);
  if (options_.model != nullptr) options_.model->AddRegion(base, entry.range);
}

// ---- Adding

// Told in pool_regions.h, by steps. Steps that can fail without a trace come first: the plan, and the look at the path.
Status PoolRegions::Add(const PoolRegionOptions& options) {
  RegionEntry entry;
  Status s = Plan(options, &entry);
  if (s.ok() && options_.memory == nullptr && !IsAnonymousPath(options.path)) {
    s = CheckFree(options.path);
    if (s.ok() && KindOfPath(options.path) != PathKind::kDevice) s = RegionFile::Remove(options.path);
  }
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

// Steps 2 and 3. A device and nameless memory have no name to get; their header is the end of it.
Status PoolRegions::Finish(const PoolRegionOptions& options, const RegionEntry& entry, Region* region) {
  Status s = CheckMode(*region);
  if (s.ok()) s = WriteHeader(*region, entry);
  const bool has_name = !region->file().keeps_storage() && region->kind() != RegionKind::kAnonymous;
  if (s.ok() && has_name) s = region->SyncFile();
  if (s.ok() && has_name) s = region->Rename(options.path);
  return s;
}

// Where the next region's references are to be: behind those of the last, whose range is as long as its file may ever
// be. The addresses for the beginning are taken now, since a region that cannot be mapped must not get an entry.
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
  CHECK(RegionEntryChecks(*entry, ordinal, head_.id()));
  return s;
}

// How many references it gets: as many as its file may ever have bytes. The number is fixed for ever, because the next
// region's references begin behind them.
Status PoolRegions::PlanRange(const PoolRegionOptions& options, RegionEntry* entry) const {
  CHECK(entry->ordinal > 0 && entry->base > 0);  // Plan has chosen them
  if (options_.memory != nullptr) {
    if (options_.memory->split == 0 || entry->ordinal > 1) {
      return Status::InvalidArgument(options.path, "there is no memory for another region");
    }
    entry->range = options_.memory->capacity - options_.memory->split;
  } else {
    uint64_t largest;
    Status s = RegionFile::LargestSizeOf(options.path, &largest);
    if (!s.ok()) return s;
    // A device has one size whatever limit is asked for.
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

// Whether a region may be made at path: there is nothing, or what a crash left of making one for this pool. A region
// whose making was cut off has nothing but its header; one with data belongs to a newer state of the pool. A device
// keeps bytes from before, so it tells nothing.
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
  if (is_new_ || KindOfPath(path) == PathKind::kDevice) return s;
  bool holds_data = false;
  s = HoldsData(path, &holds_data);
  if (!holds_data) return s;
  return Status::InvalidArgument(
      path, "is a region of this pool and holds data, and " + path_ +
                " does not lead to it: is that an older copy of the pool? Put the newer one back, or move this away");
}

// Step 1. A file starts small and grows like the pool's own.
Status PoolRegions::Make(const PoolRegionOptions& options, const RegionEntry& entry,
                         std::unique_ptr<Region>* region) const {
  CHECK_GT(entry.range, 0u);
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

// Step 2. Each copy is durable before the next is stored: a device on which a crash cut this short is known for blank
// by a second copy that was never begun (region_finder.cc).
Status PoolRegions::WriteHeader(const Region& region, const RegionEntry& entry) {
  CHECK(region.size() >= kPoolHeaderSize && region.size() <= entry.range);
  CHECK(entry.ordinal > 0 && entry.ordinal < kMaxRegions);  // the header has 32 bits for it
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
  CHECK(RegionHeaderChecks(header));
  for (int copy = 0; copy < kRegionHeaderCopies; copy++) {
    persist_.Copy(Purpose::kManifest, region.base() + RegionHeaderOffset(copy), &header, sizeof(header));
    Status s = persist_.Fence(Purpose::kManifest);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace miodb
