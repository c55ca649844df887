// Making, opening and publishing a pool, and the life of its extents.

#include "src/nvm/pool/pool.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "src/nvm/pool/pool_names.h"
#include "src/nvm/pool/pool_regions.h"
#include "src/nvm/space/placement_policies.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/clock/clock.h"
#include "src/util/files/system_random.h"

#ifdef MIODB_POISONS_FREE_SPACE
#include <sanitizer/asan_interface.h>
#define MIODB_POISON(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define MIODB_UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define MIODB_POISON(p, n) ((void)0)
#define MIODB_UNPOISON(p, n) ((void)0)
#endif

namespace miodb {

namespace {

// Addresses that had better be free behind a pool, for what it may become and for regions that are added while it is
// open. Under the thread sanitizer a program has few.
#if defined(__SANITIZE_THREAD__)
constexpr uint64_t kRoomBehind = uint64_t{128} << 30;
#else
constexpr uint64_t kRoomBehind = uint64_t{4} << 40;
#endif

// Where the pool's own file is mapped. addresses: needed in all, for its regions.
RegionPlace FirstPlace(const PoolOptions& options, uint64_t addresses) {
  RegionPlace place;
  place.nodes = options.nodes;
  place.least = addresses;
  place.room = kRoomBehind;
  place.huge_pages = options.huge_pages;
  place.access = options.access;
  place.use = options.use;
  return place;
}

// Maps the pool's own file, with addresses for the regions that it has. How many that are is known only when the header
// page can be read, so a pool for which the first range turns out too short is mapped a second time.
Status OpenFirst(const std::string& path, const PoolOptions& options, std::unique_ptr<Region>* region) {
  if (options.memory != nullptr) {
    const uint64_t split = options.memory->split;
    CHECK_LE(split, options.memory->capacity);
    *region = Region::OnCallersMemory(options.memory, split > 0 ? split : options.memory->capacity);
    return Status::OK();
  }
  Status s = Region::Open(path, options.limit, options.persist_mode, region, FirstPlace(options, 0));
  if (!s.ok()) return s;
  const uint64_t wanted = PoolRegions::AddressesWanted((*region)->base());
  if ((*region)->range()->Extend(wanted, wanted)) return s;
  region->reset();
  return Region::Open(path, options.limit, options.persist_mode, region, FirstPlace(options, wanted));
}

}  // namespace

// Memory of the caller has a source of its own, so that a simulation is repeated by its seed.
uint64_t PoolOptions::DrawRandom() const {
  CHECK(memory == nullptr || memory->random != nullptr);
  return memory != nullptr ? memory->random() : SystemRandom64();
}

// Bytes without a meaning: no version and no variant, as nothing but this library reads them.
std::array<uint8_t, kUuidBytes> PoolOptions::DrawUuid() const {
  const uint64_t random[] = {DrawRandom(), DrawRandom()};
  std::array<uint8_t, kUuidBytes> bytes;
  static_assert(sizeof(random) == sizeof(bytes));
  memcpy(bytes.data(), random, sizeof(random));
  return bytes;
}

// The parts refer to each other, so they come in the order in which they use one another: the set of regions is empty
// until the body, and nobody asks it before.
Pool::Pool(const std::string& path, const Options& options, std::unique_ptr<Region> region)
    : path_(path),
      options_(options),
      base_(region->base()),
      space_(path, &regions_, options.growth, options.use),
      held_(path, &space_),
      persist_(region->mode(), path, options.memory != nullptr ? options.memory->hook : nullptr),
      head_(path, base_, &persist_),
      further_(new PoolRegions(path_, options_, &regions_, &head_, &persist_, &space_)),
      placement_(options.placement != nullptr ? options.placement : DefaultPlacementPolicy()) {
  persist_.SetModel(options.model);
  CHECK_GE(region->size(), kPoolHeaderSize);
  const uint64_t range = RoundToRegion(region->max_size());
  const uint8_t no_uuid[kUuidBytes] = {};
  regions_.Add(std::move(region), 0, range, no_uuid);
  space_.AddRegion(options.limit);
  if (options.model != nullptr) options.model->AddRegion(base_, range);
}

Status Pool::AddRegion(const RegionOptions& options) { return further_->Add(options); }

const std::vector<PoolRegionOptions>& Pool::missing_regions() const { return further_->missing(); }

#ifdef MIODB_POISONS_FREE_SPACE
const char* StoredEnd(const char* p, size_t n, const char* limit) {
  const char* const end = std::find_if(p, p + n, [](const char& byte) { return __asan_address_is_poisoned(&byte); });
  return end < p + n ? end : limit;
}
#endif

// The next mapping of these addresses, and the code that punches or cuts free space, may touch them.
void Pool::UnpoisonAll() {
  for (int i = 0; i < regions_.count(); i++) {
    MIODB_UNPOISON(At(regions_.at(i).base), regions_.at(i).region->size());
  }
}

// The extents are gone before: each refers to its pool. Without Publish the file has its temporary name still, and
// nobody wants it.
Pool::~Pool() {
  UnpoisonAll();
  if (options_.memory == nullptr && regions_.first().path() != path_) Remove();  // never published
}

// The pool's own file first: a process that is killed in between leaves regions of no pool, which the next pool of this
// uuid makes anew (PoolRegions::CheckFree). A pool that misses regions would be refused.
void Pool::Remove() {
  if (removed_) return;
  CHECK_GT(regions_.count(), 0);
  for (int i = 0; i < regions_.count(); i++) Discard(*regions_.at(i).region);
  removed_ = true;
}

// A device has no second name, so the pool is written in its place. Until the first root is there the device counts as
// empty (ExistsOnDevice). Words that a making which was cut off has left there go first: a root that is torn in turn
// could complete them.
Status Pool::Create(const std::string& path, const Options& options, std::unique_ptr<Pool>* pool) {
  const PathKind kind = options.memory != nullptr ? PathKind::kAnonymous : KindOfPath(path);
  const bool has_file = kind == PathKind::kFile;
  std::string temporary = path;
  Status s = has_file ? FreeTemporaryName(path, options.uuid.data(), &temporary) : Status::OK();
  if (!s.ok()) return s;
  // If an allocation fails, no file stays under the temporary name.
  try {
    std::unique_ptr<Region> region;
    s = options.memory != nullptr || kind == PathKind::kDevice
            ? OpenFirst(path, options, &region)
            : Region::Create(temporary, InitialRegionSize(options.limit), options.limit, options.persist_mode, &region,
                             FirstPlace(options, 0));
    if (!s.ok()) return s;
    if (kind == PathKind::kDevice) Discard(*region);
    std::unique_ptr<Pool> p(new Pool(path, options, std::move(region)));
    p->MakeNew();
    *pool = std::move(p);
  } catch (const std::exception&) {
    if (has_file) unlink(temporary.c_str());
    throw;
  }
  return s;
}

// Takes the ids that the options give, and draws the others.
void Pool::MakeNew() {
  CHECK_EQ(head_.epoch(), 0u);
  const auto uuid = options_.uuid == decltype(options_.uuid){} ? options_.DrawUuid() : options_.uuid;
  const uint64_t secret = options_.secret != 0 ? options_.secret : Random64();
  head_.Write(uuid, secret, options_.memory == nullptr ? WallMicros() : options_.memory->created_micros);
  further_->SetNew();
}

// Length and storage of the file are durable before its name is: a pool that is found is whole.
Status Pool::Publish() {
  Region& first = regions_.first();
  CHECK(!removed_);
  if (first.file().keeps_storage() || is_volatile()) return Status::OK();
  Status s = MIODB_MUTATED(kPoolUnsynced) ? Status::OK() : first.SyncFile();
  if (s.ok()) s = first.Rename(path_);
  CHECK(!s.ok() || first.path() == path_);  // else the destructor would remove it
  return s;
}

// All regions are found and judged before the first store (Repair): an open that is refused changes no byte.
Status Pool::Open(const std::string& path, const Options& options, std::unique_ptr<Pool>* pool) {
  std::unique_ptr<Region> region;
  Status s = OpenFirst(path, options, &region);
  if (!s.ok()) return s;
  std::unique_ptr<Pool> p(new Pool(path, options, std::move(region)));
  s = p->head_.Read();
  if (s.ok()) s = p->further_->Open();
  if (s.ok() && options.use == RegionUse::kOwner) s = p->head_.Repair();
  if (!s.ok()) return s;
  CHECK_GT(p->epoch(), 0u);
  *pool = std::move(p);
  return s;
}

// No extent of a reader's pool is free when it goes: that is the owner's to say.
Status Pool::Follow(const std::function<RegionPlaces()>& search) {
  CHECK(options_.use == RegionUse::kReader);
  Status s;
  CHECK_GE(regions_.count(), 1);
  for (int i = 0; s.ok() && i < regions_.count(); i++) s = regions_.at(i).region->Follow();
  return s.ok() ? further_->Follow(search) : s;
}

namespace {

PlacementPurpose PurposeOf(ExtentKind kind) {
  switch (kind) {
    case ExtentKind::kManifest:
      return PlacementPurpose::kManifest;
    case ExtentKind::kIndex:
      return PlacementPurpose::kIndex;
    case ExtentKind::kLog:
      return PlacementPurpose::kLogChunk;
    case ExtentKind::kSettled:
      return PlacementPurpose::kPayload;
  }
  CHECK(false);
  return PlacementPurpose::kManifest;
}

}  // namespace

// By the default policy, and in a pool of one region, nothing is asked.
RegionOrder Pool::OrderFor(ExtentKind kind, int level, uint64_t size) const {
  DCHECK_GT(size, 0u);
  if (placement_ == DefaultPlacementPolicy() || regions_.count() == 1) return RegionOrder();
  return ProposedOrder(*placement_, {PurposeOf(kind), level, size}, space_.Figures());
}

// Sizes are in units from here on: what a caller asks for beyond its bytes is rounding, which belongs to the extent.
Status Pool::AllocateAtMost(uint64_t size, uint64_t min_size, uint64_t leave, ExtentKind kind, ExtentRef* extent,
                            int level) {
  CHECK_GT(min_size, 0u);
  size = RoundToUnit(size);
  min_size = std::min(RoundToUnit(min_size), size);
  PmRef offset;
  uint64_t taken;
  held_.FreePassed();
  const RegionOrder order = OrderFor(kind, level, size);
  Status s = space_.Allocate(size, min_size, leave, order, &offset, &taken);
  while (s.IsNoSpace() && held_.WaitForRoom()) s = space_.Allocate(size, min_size, leave, order, &offset, &taken);
  if (!s.ok()) return s;
  DCHECK(taken >= min_size && taken <= size && Readable(offset, taken));
  MIODB_UNPOISON(At(offset), taken);
  MakeExtent(offset, taken, kind, extent);
  return s;
}

// The range is taken already; without memory for its owner it goes back.
void Pool::MakeExtent(PmRef offset, uint64_t size, ExtentKind kind, ExtentRef* extent) {
  DCHECK(Readable(offset, size));
  BytesAt(offset, kind).fetch_add(size, std::memory_order_relaxed);  // relaxed: a statistic
  try {
    *extent = std::make_shared<Extent>(this, offset, size, kind);
  } catch (const std::exception&) {
    Release(offset, size, kind);
    throw;
  }
}

// The range comes from a medium, so everything that is wrong with it is Corruption: outside of the files, not in units,
// or named twice.
Status Pool::Claim(PmRef offset, uint64_t size, ExtentKind kind, ExtentRef* extent) {
  const std::string where = "extent at offset " + std::to_string(offset) + " of " + std::to_string(size) + " bytes";
  if (size == 0 || offset % kExtentUnit != 0 || size % kExtentUnit != 0 || !Readable(offset, size)) {
    return Status::Corruption(path_, where + " lies outside of the pool's " + std::to_string(file_bytes()) + " bytes");
  }
  Status s = options_.use == RegionUse::kOwner ? space_.Take(offset, size, where) : Status::OK();
  if (!s.ok()) return s;
  MakeExtent(offset, size, kind, extent);
  return Status::OK();
}

bool Pool::GiveBackIdle(uint64_t now_micros, uint64_t window_micros, uint64_t reserve, KeptFree kept) {
  held_.FreePassed();
  // acquire: as in Release. Space that came into the free map before is nobody's, but the pool is not used any more, so
  // nothing is given back.
  return !reuse_stopped_.load(std::memory_order_acquire) &&
         space_.GiveBackIdle(now_micros, window_micros, reserve, kept);
}

// Nameless memory goes with its process, so there is nobody who would want its storage.
void Pool::GiveBackAll(uint64_t reserve) {
  if (reuse_stopped_.load(std::memory_order_acquire) || is_volatile()) return;  // acquire: as above
  held_.FreePassed();
  UnpoisonAll();
  space_.GiveBackAll(reserve);
}

// By the destructors of extents, in any thread that drops the last reference, readers too.
void Pool::Release(PmRef offset, uint64_t size, ExtentKind kind) {
  BytesAt(offset, kind).fetch_sub(size, std::memory_order_relaxed);  // relaxed: a statistic
  if (options_.use == RegionUse::kReader) return;                    // the owner may have cut it off since
  DCHECK(Readable(offset, size));
  // acquire: pairs with StopReuse, which comes before whatever makes that call's caller let go of space.
  if (reuse_stopped_.load(std::memory_order_acquire)) return;
  MIODB_POISON(At(offset), size);
  try {
    held_.Release(offset, size);
  } catch (const std::exception&) {
    // Destructors end here. Without memory for an entry in the free map the space is lost until the next open.
  }
}

}  // namespace miodb
