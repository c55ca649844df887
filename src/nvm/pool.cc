#include "src/nvm/pool.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <random>

#include "src/nvm/pool_image.h"
#include "src/util/check.h"
#include "src/util/mutation.h"

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

// A new pool starts with this much or its limit, whichever is less.
constexpr uint64_t kInitialPoolSize = uint64_t{1} << 20;

uint64_t RoundUp(uint64_t n) { return (n + kExtentUnit - 1) / kExtentUnit * kExtentUnit; }

std::string TemporaryName(const std::string& path) { return path + ".tmp"; }

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
      region_(std::move(region)),
      persist_(region_->mode(), path, options.memory != nullptr ? options.memory->hook : nullptr) {
  persist_.SetModel(options.model);
  // relaxed: only a hint, refreshed whenever the file grows or cannot.
  file_system_available_.store(region_->FileSystemAvailable(), std::memory_order_relaxed);
  MutexLock lock(&mutex_);
  total_ = region_->size();
  allocator_.Free(kPoolHeaderSize, total_ - kPoolHeaderSize);
}

Pool::~Pool() {
  MIODB_UNPOISON(region_->base(), region_->size());
  if (options_.memory == nullptr && region_->path() != path_) Remove();  // never published
}

void Pool::Remove() {
  if (!removed_ && region_->kind() == RegionKind::kDevdax) {
    ClearHeader();
  } else if (!removed_) {
    unlink(region_->path().c_str());
  }
  removed_ = true;
}

void Pool::ClearHeader() {
  const std::string zeros(kPoolHeaderSize, '\0');
  persist_.Copy(Purpose::kManifest, region_->base(), zeros.data(), zeros.size());
  persist_.Fence(Purpose::kManifest).IgnoreError();  // fails for files alone
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
  if (options.memory != nullptr) return CreateOn(Region::InMemory(options.memory), path, options, pool);
  if (Region::IsDevice(path)) {
    std::unique_ptr<Region> region;
    Status opened = Region::Open(path, options.limit, options.persist_mode, &region, options.nodes);
    return opened.ok() ? CreateOn(std::move(region), path, options, pool) : opened;
  }
  const std::string temporary = TemporaryName(path);
  Status s = Region::Remove(temporary);
  if (!s.ok()) return s;
  const uint64_t size = options.limit == 0 ? kInitialPoolSize : std::min(options.limit, kInitialPoolSize);
  try {
    std::unique_ptr<Region> region;
    s = Region::Create(temporary, size, options.limit, options.persist_mode, &region, options.nodes);
    if (s.ok()) s = CreateOn(std::move(region), path, options, pool);
  } catch (const std::bad_alloc&) {
    unlink(temporary.c_str());
    throw;
  }
  return s;
}

Status Pool::CreateOn(std::unique_ptr<Region> region, const std::string& path, const Options& options,
                      std::unique_ptr<Pool>* pool) {
  std::unique_ptr<Pool> p(new Pool(path, options, std::move(region)));
  p->WriteSuperblock();
  *pool = std::move(p);
  return Status::OK();
}

Status Pool::Destroy(const std::string& path) {
  if (Region::IsDevice(path)) {
    std::unique_ptr<Region> region;
    Status opened = Region::Open(path, 0, kPersistAuto, &region);
    if (!opened.ok()) return opened;
    if (!ReadPoolHeader(region->base(), region->size()).has_superblock) return opened;
    Pool(path, Options(), std::move(region)).Remove();
    return opened;
  }
  Status s = Region::Remove(TemporaryName(path));
  return s.ok() ? Region::Remove(path) : s;
}

Status Pool::Publish() {
  if (options_.memory != nullptr || region_->kind() == RegionKind::kDevdax) return Status::OK();
  Status s = MIODB_MUTATED(kPoolUnsynced) ? Status::OK() : region_->SyncFile();
  if (s.ok()) s = region_->Rename(path_);
  return s;
}

Status Pool::Open(const std::string& path, const Options& options, std::unique_ptr<Pool>* pool) {
  std::unique_ptr<Region> region;
  Status s;
  if (options.memory != nullptr) {
    region = Region::InMemory(options.memory);
  } else {
    s = Region::Open(path, options.limit, options.persist_mode, &region, options.nodes);
    if (!s.ok()) return s;
  }
  std::unique_ptr<Pool> p(new Pool(path, options, std::move(region)));
  s = p->CheckSuperblock();
  if (s.ok()) s = p->ReadRoot(&p->root_);
  if (s.ok()) {
    // A process that died between a store and its fence may have left what was read in a cache only. It is durable with
    // the fence at the end of the manifest's recovery, before anything is built on it.
    p->persist_.Flush(Purpose::kManifest, p->region_->base(), kPoolHeaderSize);
    if (!MIODB_MUTATED(kRootUnrepaired)) p->RepairRoots();
    *pool = std::move(p);
  }
  return s;
}

uint64_t Pool::Random64() const {
  if (options_.memory != nullptr) return options_.memory->random();
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

// Durable with the first fence of the manifest, which comes before Publish.
void Pool::WriteSuperblock() {
  Superblock& s = superblock_;
  s.magic = kPoolMagic;
  s.version = kPoolFormatVersion;
  const uint64_t random[] = {Random64(), Random64()};
  static_assert(sizeof(random) == sizeof(s.uuid));
  memcpy(s.uuid, random, sizeof(s.uuid));
  if (options_.memory == nullptr) {
    s.created_micros = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
  }
  s.checksum = SuperblockChecksum(s);
  for (int copy = 0; copy < kSuperblockCopies; copy++) {
    persist_.Copy(Purpose::kManifest, region_->base() + SuperblockOffset(copy), &s, sizeof(s));
  }
}

Status Pool::CheckSuperblock() {
  bool found = false;
  for (int copy = 0; copy < kSuperblockCopies && !found; copy++) {
    memcpy(&superblock_, region_->base() + SuperblockOffset(copy), sizeof(superblock_));
    found = SuperblockChecks(superblock_);
  }
  // Another version may keep its checksum elsewhere, so the number is believed where nothing checks.
  if (!found) memcpy(&superblock_, region_->base() + kSuperblockOffset, sizeof(superblock_));
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
      memcpy(&slot, region_->base() + RootSlotOffset(parity, copy), sizeof(slot));
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
      memcpy(&slots[copy], region_->base() + RootSlotOffset(parity, copy), sizeof(RootSlot));
      if (RootChecks(slots[copy], parity, id())) whole = slots[copy];
    }
    for (int copy = 0; copy < kRootCopies; copy++) {
      if (RootChecks(slots[copy], parity, id()) || memcmp(&slots[copy], &whole, sizeof(whole)) == 0) continue;
      persist_.Copy(Purpose::kManifest, region_->base() + RootSlotOffset(parity, copy), &whole, sizeof(whole));
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
    persist_.Copy(Purpose::kManifest, region_->base() + RootSlotOffset(slot.epoch, copy), &slot, sizeof(slot));
    if (copy == 0 && MIODB_MUTATED(kRootCopiesTogether)) continue;
    Status s = persist_.Fence(Purpose::kManifest);
    if (!s.ok()) return s;
  }
  root_ = slot;
  return Status::OK();
}

uint64_t Pool::used_bytes() const {
  MutexLock lock(&mutex_);
  return total_ - allocator_.free_bytes();
}

uint64_t Pool::capacity() const {
  if (options_.limit > 0) return options_.limit;
  return region_->size() + file_system_available_.load(std::memory_order_relaxed);  // relaxed: a hint
}

// Asks the file system again what it could give. False if that is not more than was known.
bool Pool::RefreshCapacity() {
  if (options_.limit > 0) return false;
  const uint64_t now = region_->FileSystemAvailable();
  return file_system_available_.exchange(now, std::memory_order_relaxed) < now;  // relaxed: a hint
}

uint64_t Pool::free_bytes() const {
  const uint64_t all = capacity();
  const uint64_t used = used_bytes();
  return used < all ? all - used : 0;
}

std::string Pool::DescribeFull() const {
  const std::string nodes = region_->DescribeNodes();
  return "the pool is full: " + std::to_string(used_bytes()) + " of " + std::to_string(capacity()) + " bytes in use" +
         (nodes.empty() ? "" : "; " + nodes);
}

Status Pool::Full(uint64_t size) const {
  return Status::NoSpace(path_, DescribeFull() + ", " + std::to_string(size) + " wanted");
}

// Takes up to size bytes, at least min_size, from the file as it is. *fits: whether the limits leave room for min_size.
bool Pool::TryAllocate(uint64_t size, uint64_t min_size, Leave leave, uint64_t* taken, uint64_t* offset, bool* fits) {
  const uint64_t all = capacity();
  MutexLock lock(&mutex_);
  const uint64_t used = total_ - allocator_.free_bytes() + leave.bytes;
  const uint64_t room = used < all ? (all - used) / kExtentUnit * kExtentUnit : 0;
  *fits = room >= min_size;
  if (!*fits) return false;
  *taken = std::min(size, room);
  if (!allocator_.Allocate(*taken, offset)) return false;
  if (allocator_.largest_free() < leave.run && all - std::min(all, total_) < leave.run) {
    allocator_.Free(*offset, *taken);
    *fits = false;
    return false;
  }
  MIODB_UNPOISON(At(*offset), *taken);
  return true;
}

// Grows the file so that a free run of size bytes, or at least min_size, appears at its end.
Status Pool::GrowFor(uint64_t size, uint64_t min_size) {
  MutexLock grow(&grow_mutex_);
  const uint64_t old_size = region_->size();
  uint64_t tail;
  {
    MutexLock lock(&mutex_);
    if (allocator_.largest_free() >= size) return Status::OK();  // another thread grew it, or space came back
    tail = old_size - allocator_.UsedEnd(old_size);
  }
  const uint64_t limit = options_.limit > 0 ? options_.limit / kExtentUnit * kExtentUnit : UINT64_MAX;
  const uint64_t end = std::min(limit, region_->max_size());
  const uint64_t least = old_size + min_size - std::min(tail, min_size);
  if (least > end || end <= old_size) return Full(min_size);
  const uint64_t wanted = std::max(old_size + size - std::min(tail, size), old_size + options_.growth);
  uint64_t new_size = std::min(wanted, end);
  Status s = region_->Grow(new_size);
  if (!s.ok() && least > old_size && least < new_size) {
    new_size = least;
    s = region_->Grow(new_size);
  }
  file_system_available_.store(region_->FileSystemAvailable(), std::memory_order_relaxed);  // relaxed: a hint
  if (!s.ok()) return s;
  MutexLock lock(&mutex_);
  total_ = new_size;
  allocator_.Free(old_size, new_size - old_size);
  return s;
}

Status Pool::AllocateAtMost(uint64_t size, uint64_t min_size, Leave leave, ExtentKind kind, ExtentRef* extent) {
  size = RoundUp(size);
  min_size = std::min(RoundUp(min_size), size);
  uint64_t offset, taken;
  bool fits;
  while (!TryAllocate(size, min_size, leave, &taken, &offset, &fits)) {
    if (!fits) {
      if (!RefreshCapacity()) return Full(min_size);
      continue;
    }
    Status s = GrowFor(taken, min_size);
    if (s.ok()) continue;
    // The file cannot grow: what free run is there will do, if it is long enough.
    MutexLock lock(&mutex_);
    taken = std::min(taken, allocator_.largest_free());
    if (taken < min_size || leave.run > 0) return s;
    CHECK(allocator_.Allocate(taken, &offset));
    MIODB_UNPOISON(At(offset), taken);
    break;
  }
  MakeExtent(offset, taken, kind, extent);
  return Status::OK();
}

void Pool::MakeExtent(PmRef offset, uint64_t size, ExtentKind kind, ExtentRef* extent) {
  try {
    *extent = std::make_shared<Extent>(this, offset, size, kind);
  } catch (const std::bad_alloc&) {
    Release(offset, size);
    throw;
  }
}

Status Pool::Claim(PmRef offset, uint64_t size, ExtentKind kind, ExtentRef* extent) {
  const std::string where = "extent at offset " + std::to_string(offset) + " of " + std::to_string(size) + " bytes";
  if (size == 0 || offset % kExtentUnit != 0 || size % kExtentUnit != 0 || !Readable(offset, size)) {
    return Status::Corruption(path_, where + " lies outside of the pool's " + std::to_string(file_bytes()) + " bytes");
  }
  {
    MutexLock lock(&mutex_);
    if (!allocator_.Take(offset, size)) return Status::Corruption(path_, where + " is referenced twice");
  }
  MakeExtent(offset, size, kind, extent);
  return Status::OK();
}

void Pool::EraseMagic(PmRef offset) {
  const uint64_t zero = 0;
  persist_.Copy(Purpose::kManifest, At(offset), &zero, sizeof(zero));
}

void Pool::Release(PmRef offset, uint64_t size) {
  // acquire: pairs with StopReuse, which comes before whatever makes that call's caller let go of space.
  if (reuse_stopped_.load(std::memory_order_acquire)) return;
  MutexLock lock(&mutex_);
  MIODB_POISON(At(offset), size);
  try {
    allocator_.Free(offset, size);
  } catch (const std::bad_alloc&) {
    // Destructors end here. What has no memory to be remembered as free is free again after the next open.
  }
}

}  // namespace miodb
