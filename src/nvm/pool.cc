#include "src/nvm/pool.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "src/nvm/pool_image.h"
#include "src/nvm/pool_names.h"
#include "src/util/check.h"
#include "src/util/mutation.h"
#include "src/util/posix_file.h"
#include "src/util/system_random.h"

#if defined(__SANITIZE_ADDRESS__) && !defined(MIODB_SIMULATOR)
#include <sanitizer/asan_interface.h>
#define MIODB_POISON(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define MIODB_UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define MIODB_POISON(p, n) ((void)0)
#define MIODB_UNPOISON(p, n) ((void)0)
#endif

namespace miodb {

namespace {

uint64_t RoundUp(uint64_t n) { return (n + kExtentUnit - 1) / kExtentUnit * kExtentUnit; }

// Addresses that had better be free behind a pool, for what it may become and for regions that are added while it is
// open. Under the thread sanitizer a program has few.
#if defined(__SANITIZE_THREAD__)
constexpr uint64_t kRoomBehind = uint64_t{128} << 30;
#else
constexpr uint64_t kRoomBehind = uint64_t{4} << 40;
#endif

// Where the pool's own file is mapped. addresses: needed in all, for its regions.
Region::Place FirstPlace(const Pool::Options& options, uint64_t addresses) {
  Region::Place place;
  place.nodes = options.nodes;
  place.least = addresses;
  place.room = kRoomBehind;
  place.huge_pages = options.huge_pages;
  place.access = options.access;
  return place;
}

}  // namespace

Extent::~Extent() {
  if (abandoned_) return;
  if (dropped_) pool_->EraseMagic(offset_);
  pool_->Release(offset_, size_ + trimmed_);
}

void Extent::Trim(uint64_t size) {
  const uint64_t keep = std::max(RoundUp(size), kExtentUnit);
  CHECK_LE(keep, size_);
  trimmed_ += size_ - keep;
  size_ = keep;
}

void Extent::ReleaseTrimmed() {
  if (trimmed_ == 0) return;
  pool_->Release(offset_ + size_, trimmed_);
  trimmed_ = 0;
}

void Extent::Shrink(uint64_t size) {
  Trim(size);
  ReleaseTrimmed();
}

Pool::Pool(const std::string& path, const Options& options, std::unique_ptr<Region> region)
    : path_(path),
      options_(options),
      base_(region->base()),
      space_(path, &regions_, options.growth),
      persist_(region->mode(), path, options.memory != nullptr ? options.memory->hook : nullptr) {
  persist_.SetModel(options.model);
  const uint64_t range = RoundToRegion(region->max_size());
  const uint8_t no_uuid[kUuidBytes] = {};
  regions_.Add(std::move(region), 0, range, no_uuid);
  space_.AddRegion(options.limit);
  if (options.model != nullptr) options.model->AddRegion(base_, range);
}

void Pool::UnpoisonAll() {
  for (int i = 0; i < regions_.count(); i++) {
    MIODB_UNPOISON(At(regions_.at(i).base), regions_.at(i).region->size());
  }
}

Pool::~Pool() {
  UnpoisonAll();
  if (options_.memory == nullptr && regions_.first().path() != path_) Remove();  // never published
}

void Pool::Remove() {
  if (removed_) return;
  for (int i = regions_.count() - 1; i >= 0; i--) Discard(*regions_.at(i).region);
  removed_ = true;
}

Status Pool::ExistsOnDevice(const std::string& path, bool* exists) {
  std::unique_ptr<Region> region;
  Status s = Region::Open(path, 0, kPersistAuto, &region);
  if (!s.ok()) return s;
  const PoolHeader header = ReadPoolHeader(region->base(), region->size());
  bool blank_roots = true;
  for (const auto& of_parity : header.roots) {
    for (const PoolHeader::Root& root : of_parity) blank_roots = blank_roots && root.blank;
  }
  const bool zero = std::all_of(region->base(), region->base() + kPoolHeaderSize, [](char c) { return c == 0; });
  *exists = !(zero || (header.has_superblock && blank_roots));
  return s;
}

Status Pool::Create(const std::string& path, const Options& options, std::unique_ptr<Pool>* pool) {
  if (options.memory != nullptr || Region::IsDevice(path)) {
    std::unique_ptr<Region> region;
    Status opened = OpenFirst(path, options, &region);
    return opened.ok() ? CreateOn(std::move(region), path, options, pool) : opened;
  }
  std::string temporary = path;
  Status s = Region::IsAnonymous(path) ? Status::OK() : FreeTemporaryName(path, options.uuid.data(), &temporary);
  if (!s.ok()) return s;
  const uint64_t limit = options.limit / kExtentUnit * kExtentUnit;
  const uint64_t size = limit == 0 ? kInitialRegionSize : std::min(limit, kInitialRegionSize);
  try {
    std::unique_ptr<Region> region;
    s = Region::Create(temporary, size, options.limit, options.persist_mode, &region, FirstPlace(options, 0));
    if (s.ok()) s = CreateOn(std::move(region), path, options, pool);
  } catch (const std::exception&) {
    if (!Region::IsAnonymous(path)) unlink(temporary.c_str());
    throw;
  }
  return s;
}

// A name for a new file of the pool with this uuid. What an earlier attempt left under it is removed, if it says that
// it is of this pool.
Status Pool::FreeTemporaryName(const std::string& path, const uint8_t* uuid, std::string* name) {
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
    if (ours) return Region::Remove(*name);
  }
  return Status::IOError(
      *name, "and the names before it are taken, so no new file can be made" + (s.ok() ? "" : ": " + s.ToString()));
}

Status Pool::CreateOn(std::unique_ptr<Region> region, const std::string& path, const Options& options,
                      std::unique_ptr<Pool>* pool) {
  std::unique_ptr<Pool> p(new Pool(path, options, std::move(region)));
  p->WriteSuperblock();
  p->missing_regions_ = options.regions;
  *pool = std::move(p);
  return Status::OK();
}

Status Pool::Publish() {
  Region& file = regions_.first();
  if (options_.memory != nullptr || file.kind() == RegionKind::kDevdax || is_volatile()) return Status::OK();
  Status s = MIODB_MUTATED(kPoolUnsynced) ? Status::OK() : file.SyncFile();
  if (s.ok()) s = file.Rename(path_);
  return s;
}

// Maps the pool's own file, with addresses for the regions that it has.
Status Pool::OpenFirst(const std::string& path, const Options& options, std::unique_ptr<Region>* region) {
  if (options.memory != nullptr) {
    const uint64_t split = options.memory->split;
    *region = Region::InMemory(options.memory, split > 0 ? split : options.memory->capacity);
    return Status::OK();
  }
  Status s = Region::Open(path, options.limit, options.persist_mode, region, FirstPlace(options, 0));
  if (!s.ok()) return s;
  const uint64_t wanted = AddressesWanted((*region)->base());
  if ((*region)->range()->Extend(wanted, wanted)) return s;
  region->reset();
  return Region::Open(path, options.limit, options.persist_mode, region, FirstPlace(options, wanted));
}

Status Pool::Open(const std::string& path, const Options& options, std::unique_ptr<Pool>* pool) {
  std::unique_ptr<Region> region;
  Status s = OpenFirst(path, options, &region);
  if (!s.ok()) return s;
  std::unique_ptr<Pool> p(new Pool(path, options, std::move(region)));
  s = p->CheckSuperblock();
  if (s.ok()) s = p->ReadRoot(&p->root_);
  if (s.ok()) s = p->OpenRegions();
  if (s.ok()) {
    // A process that died between a store and its fence may have left what was read in a cache only. It is durable with
    // the fence at the end of the manifest's recovery, before anything is built on it.
    p->persist_.Flush(Purpose::kManifest, p->base_, kPoolHeaderSize);
    if (!MIODB_MUTATED(kRootUnrepaired)) p->RepairRoots();
    s = p->RepairRegionTable();
  }
  if (s.ok()) *pool = std::move(p);
  return s;
}

uint64_t Pool::Random64() const {
  if (options_.memory != nullptr) return options_.memory->random();
  return SystemRandom64();
}

// Durable with the first fence of the manifest, which comes before Publish.
void Pool::WriteSuperblock() {
  Superblock& s = superblock_;
  s.magic = kPoolMagic;
  s.version = kPoolFormatVersion;
  if (options_.uuid == decltype(options_.uuid){}) {
    DrawUuid(s.uuid);
  } else {
    memcpy(s.uuid, options_.uuid.data(), sizeof(s.uuid));
  }
  s.secret = options_.secret != 0 ? options_.secret : Random64();
  if (options_.memory == nullptr) {
    s.created_micros = WallMicros();
  }
  s.checksum = SuperblockChecksum(s);
  for (int copy = 0; copy < kSuperblockCopies; copy++) {
    persist_.Copy(Purpose::kManifest, base_ + SuperblockOffset(copy), &s, sizeof(s));
  }
}

Status Pool::CheckSuperblock() {
  bool found = false;
  for (int copy = 0; copy < kSuperblockCopies && !found; copy++) {
    memcpy(&superblock_, base_ + SuperblockOffset(copy), sizeof(superblock_));
    found = SuperblockChecks(superblock_);
  }
  // Another version may keep its checksum elsewhere, so the number is believed where nothing checks.
  if (!found) memcpy(&superblock_, base_ + kSuperblockOffset, sizeof(superblock_));
  if (superblock_.magic != kPoolMagic) return Status::Corruption(path_, "not a MioDB pool (bad magic at offset 0)");
  if (superblock_.version != kPoolFormatVersion) {
    return Status::NotSupported(path_, "pool format version " + std::to_string(superblock_.version) +
                                           "; this library reads version " + std::to_string(kPoolFormatVersion));
  }
  if (!found && !MIODB_MUTATED(kSuperblockUnchecked)) {
    return Status::Corruption(path_, "superblock checksum mismatch at offset 0, and no good copy");
  }
  return Status::OK();
}

Status Pool::ReadRoot(RootSlot* root) const {
  *root = RootSlot{};
  bool damaged[2] = {false, false};
  for (uint64_t parity = 0; parity < 2; parity++) {
    bool written = false, good = false;
    for (int copy = 0; copy < kRootCopies; copy++) {
      RootSlot slot;
      memcpy(&slot, base_ + RootSlotOffset(parity, copy), sizeof(slot));
      const RootSlot blank = {};
      if (memcmp(&slot, &blank, sizeof(slot)) != 0) written = true;
      if (!RootChecks(slot, parity, id())) continue;
      good = true;
      if (slot.epoch > root->epoch) *root = slot;
    }
    damaged[parity] = written && !good;
  }
  // Epoch 2 is the first to be written into its slot (epoch 1 came before Publish), so that write may have been torn.
  if (root->epoch == 1) damaged[0] = false;
  for (uint64_t parity = 0; parity < 2; parity++) {
    if (damaged[parity]) {
      return Status::Corruption(
          path_, "both copies of the root at offset " + std::to_string(RootSlotOffset(parity, 0)) + " are damaged");
    }
  }
  return root->epoch > 0 ? Status::OK() : Status::Corruption(path_, "no valid root at offsets 1024 and 2048");
}

// Makes torn copies whole again: as the other copy of their slot, or blank if that never was written. Otherwise the
// next root, which has the same epoch, could be torn so that it completes the words that an earlier one left here, and
// bring that one to life.
void Pool::RepairRoots() {
  for (uint64_t parity = 0; parity < 2; parity++) {
    RootSlot slots[kRootCopies];
    RootSlot whole = {};
    for (int copy = 0; copy < kRootCopies; copy++) {
      memcpy(&slots[copy], base_ + RootSlotOffset(parity, copy), sizeof(RootSlot));
      if (RootChecks(slots[copy], parity, id())) whole = slots[copy];
    }
    for (int copy = 0; copy < kRootCopies; copy++) {
      if (RootChecks(slots[copy], parity, id()) || memcmp(&slots[copy], &whole, sizeof(whole)) == 0) continue;
      persist_.Copy(Purpose::kManifest, base_ + RootSlotOffset(parity, copy), &whole, sizeof(whole));
    }
  }
}

Status Pool::SwitchRoot(const Extent& manifest, uint64_t generation) {
  RootSlot slot;
  slot.epoch = root_.epoch + 1;
  slot.manifest_offset = manifest.offset();
  slot.manifest_size = manifest.size();
  slot.generation = generation;
  slot.checksum = RootChecksum(slot, id());
  for (int copy = 0; copy < kRootCopies; copy++) {
    persist_.Copy(Purpose::kManifest, base_ + RootSlotOffset(slot.epoch, copy), &slot, sizeof(slot));
    if (copy == 0 && MIODB_MUTATED(kRootCopiesTogether)) continue;
    Status s = persist_.Fence(Purpose::kManifest);
    if (!s.ok()) return s;
  }
  root_ = slot;
  return Status::OK();
}

Status Pool::AllocateAtMost(uint64_t size, uint64_t min_size, Leave leave, ExtentKind kind, ExtentRef* extent) {
  size = RoundUp(size);
  min_size = std::min(RoundUp(min_size), size);
  PmRef offset;
  uint64_t taken;
  Status s = space_.Allocate(size, min_size, leave, &offset, &taken);
  if (!s.ok()) return s;
  MIODB_UNPOISON(At(offset), taken);
  MakeExtent(offset, taken, kind, extent);
  return s;
}

void Pool::MakeExtent(PmRef offset, uint64_t size, ExtentKind kind, ExtentRef* extent) {
  try {
    *extent = std::make_shared<Extent>(this, offset, size, kind);
  } catch (const std::exception&) {
    Release(offset, size);
    throw;
  }
}

Status Pool::Claim(PmRef offset, uint64_t size, ExtentKind kind, ExtentRef* extent) {
  const std::string where = "extent at offset " + std::to_string(offset) + " of " + std::to_string(size) + " bytes";
  if (size == 0 || offset % kExtentUnit != 0 || size % kExtentUnit != 0 || !Readable(offset, size)) {
    return Status::Corruption(path_, where + " lies outside of the pool's " + std::to_string(file_bytes()) + " bytes");
  }
  Status s = space_.Take(offset, size, where);
  if (!s.ok()) return s;
  MakeExtent(offset, size, kind, extent);
  return Status::OK();
}

bool Pool::GiveBackIdle(uint64_t now_micros, uint64_t window_micros, uint64_t reserve) {
  // acquire: as in Release. What came into the free map before is nobody's, but there is no use in judging a pool that
  // nothing more is done with.
  return !reuse_stopped_.load(std::memory_order_acquire) && space_.GiveBackIdle(now_micros, window_micros, reserve);
}

void Pool::GiveBackAll(uint64_t reserve) {
  if (reuse_stopped_.load(std::memory_order_acquire) || is_volatile()) return;  // acquire: as above
  UnpoisonAll();
  space_.GiveBackAll(reserve);
}

void Pool::EraseMagic(PmRef offset) {
  const uint64_t zero = 0;
  persist_.Copy(Purpose::kManifest, At(offset), &zero, sizeof(zero));
}

void Pool::Release(PmRef offset, uint64_t size) {
  // acquire: pairs with StopReuse, which comes before whatever makes that call's caller let go of space.
  if (reuse_stopped_.load(std::memory_order_acquire)) return;
  MIODB_POISON(At(offset), size);
  try {
    space_.Free(offset, size);
  } catch (const std::exception&) {
    // Destructors end here. What has no memory to be remembered as free is free again after the next open.
  }
}

}  // namespace miodb
