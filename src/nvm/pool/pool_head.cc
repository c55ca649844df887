// Stores to the header page, one copy durable before the next, and what an open makes of what a crash left there.

#include "src/nvm/pool/pool_head.h"

#include <cstring>

#include "src/nvm/pool/pool_image.h"
#include "src/nvm/region/region_finder.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

static_assert(sizeof(RootSlot) % 8 == 0 && sizeof(RegionEntry) % 8 == 0);     // what a crash tears are words
static_assert(RootSlotOffset(0, 0) == 1024 && RootSlotOffset(1, 0) == 2048);  // as the message of ReadRoot says

// Neither copy has a fence of its own: until the pool has its name, a crash leaves nothing that anybody opens, and the
// fences of its first manifest come before that.
void PoolHead::Write(const std::array<uint8_t, kUuidBytes>& uuid, uint64_t secret, uint64_t created_micros) {
  CHECK_EQ(superblock_.magic, 0u);
  Superblock& s = superblock_;
  s.magic = kPoolMagic;
  s.version = kPoolFormatVersion;
  static_assert(sizeof(s.uuid) == kUuidBytes);
  memcpy(s.uuid, uuid.data(), sizeof(s.uuid));
  s.secret = secret;
  s.created_micros = created_micros;
  s.checksum = SuperblockChecksum(s);
  CHECK(SuperblockChecks(s));
  for (int copy = 0; copy < kSuperblockCopies; copy++) {
    persist_.Copy(Purpose::kManifest, page_ + SuperblockOffset(copy), &s, sizeof(s));
  }
}

// The superblock first: roots are checked with its uuid.
Status PoolHead::Read() {
  CHECK_EQ(superblock_.magic, 0u);
  Status s = ReadSuperblock();
  return s.ok() ? ReadRoot(&root_) : s;
}

// The first copy that checks is believed; they were written once and are the same.
Status PoolHead::ReadSuperblock() {
  bool found = false;
  for (int copy = 0; copy < kSuperblockCopies && !found; copy++) {
    memcpy(&superblock_, page_ + SuperblockOffset(copy), sizeof(superblock_));
    found = SuperblockChecks(superblock_);
  }
  // Another version may keep its checksum elsewhere, so the number is believed where nothing checks.
  if (!found) memcpy(&superblock_, page_ + kSuperblockOffset, sizeof(superblock_));
  if (superblock_.magic != kPoolMagic) return Status::Corruption(path_, "not a MioDB pool (bad magic at offset 0)");
  if (superblock_.version != kPoolFormatVersion) {
    return Status::NotSupported(path_, "pool format version " + std::to_string(superblock_.version) +
                                           "; this library reads version " + std::to_string(kPoolFormatVersion) +
                                           ": export it with the miodb that wrote it, and import that");
  }
  if (!found && !MIODB_MUTATED(kSuperblockUnchecked)) {
    return Status::Corruption(path_, "superblock checksum mismatch at offset 0, and no good copy");
  }
  return Status::OK();
}

// The page is the pool's own file, mapped, and has its whole length there.
Status PoolHead::ReadEntries(std::vector<RegionEntry>* entries) const {
  return ReadRegionTable(page_, id(), path_, entries);
}

// The good root of the higher epoch rules. From epoch 2 on both slots were written, and one without a good copy, blank
// or not, is damage and not a crash, for its second copy is written only when the first is durable: so the root that it
// held may be newer than the one that is left, and opening with the older one would lose what was durable. Epoch 2 is
// the first to be written into its slot (epoch 1 came before Publish), so that write may have been torn; then the
// second copy was never begun.
Status PoolHead::ReadRoot(RootSlot* root) const {
  PoolHeader::Roots roots;
  *root = ReadRoots(page_, id(), &roots);
  for (const auto& slot : roots) {
    if (root->epoch == 0 || slot[0].good || slot[1].good || (root->epoch == 1 && slot[1].blank)) continue;
    return Status::Corruption(path_,
                              "both copies of the root at offset " + std::to_string(slot[0].offset) + " are damaged");
  }
  return root->epoch > 0 ? Status::OK() : Status::Corruption(path_, "no valid root at offsets 1024 and 2048");
}

// No fence here: that of the manifest's recovery covers it, before anything is built on what was read.
Status PoolHead::Repair() {
  CHECK_EQ(superblock_.magic, kPoolMagic);
  CHECK_GT(root_.epoch, 0u);
  persist_.Flush(Purpose::kManifest, page_, kPoolHeaderSize);
  const Status s = MIODB_MUTATED(kRootUnrepaired) ? Status::OK() : RepairRoots();
  return !s.ok() || MIODB_MUTATED(kRegionTableUnrepaired) ? s : RepairEntries();
}

// Makes torn copies whole again: as the other copy of their slot, or blank if that never was written. Otherwise the
// next root, which has the same epoch, could be torn so that it completes the words that an earlier one left here, and
// bring that one to life. The good copy is made durable first: of a root that a process was killed behind, nothing may
// be yet, and then both copies could be torn.
Status PoolHead::RepairRoots() {
  bool fenced = false;
  PoolHeader::Roots roots;
  ReadRoots(page_, id(), &roots);
  for (const auto& slot : roots) {
    const RootSlot whole = slot[1].good ? slot[1].slot : slot[0].good ? slot[0].slot : RootSlot{};
    for (const PoolHeader::Root& copy : slot) {
      if (copy.good || memcmp(&copy.slot, &whole, sizeof(whole)) == 0) continue;
      if (!fenced) {
        const Status s = persist_.Fence(Purpose::kManifest);
        if (!s.ok()) return s;
        fenced = true;
      }
      persist_.Copy(Purpose::kManifest, page_ + copy.offset, &whole, sizeof(whole));
    }
  }
  return Status::OK();
}

// Makes torn copies of entries whole, or blank if no copy is good: otherwise the next entry, torn in turn, could
// complete the words that are left of one that never was.
Status PoolHead::RepairEntries() {
  bool fenced = false;
  Status s;
  for (int ordinal = 1; s.ok() && ordinal < kMaxRegions; ordinal++) s = RepairEntry(ordinal, &fenced);
  return s;
}

// The good copy is made durable first, unless it is fenced: only one copy of an entry may ever be torn.
Status PoolHead::RepairEntry(int ordinal, bool* fenced) {
  CHECK(ordinal > 0 && ordinal < kMaxRegions);
  RegionEntry entries[kEntryCopies];
  RegionEntry whole = {};
  for (int copy = kEntryCopies - 1; copy >= 0; copy--) {
    memcpy(&entries[copy], page_ + RegionEntryOffset(ordinal, copy), sizeof(RegionEntry));
    if (RegionEntryChecks(entries[copy], ordinal, id())) whole = entries[copy];
  }
  for (int copy = 0; copy < kEntryCopies; copy++) {
    if (memcmp(&entries[copy], &whole, sizeof(whole)) == 0) continue;
    Status s = *fenced ? Status::OK() : persist_.Fence(Purpose::kManifest);
    if (!s.ok()) return s;
    *fenced = true;
    persist_.Copy(Purpose::kManifest, page_ + RegionEntryOffset(ordinal, copy), &whole, sizeof(whole));
  }
  return Status::OK();
}

// The slot of the epoch before is never stored to, so until the first copy is durable that root is in force, and from
// then on this one. A fence between the copies keeps a crash from tearing both. If a fence fails, the page may hold
// either root: root_ stays, and whoever called lets nobody reuse what either of them names.
Status PoolHead::SwitchRoot(PmRef manifest, uint64_t manifest_bytes, uint64_t generation) {
  CHECK_GE(manifest, kPoolHeaderSize);
  CHECK_GT(manifest_bytes, 0u);
  CHECK(manifest % kExtentUnit == 0 && manifest_bytes % kExtentUnit == 0);
  CHECK_LE(root_.epoch, kMostEpoch);  // read or written, it was looked at
  if (root_.epoch == kMostEpoch) {
    return Status::Corruption(path_, "root has epoch " + std::to_string(root_.epoch) +
                                         ", which is the last: RepairDB makes a new pool of what is there");
  }
  RootSlot slot;
  slot.epoch = root_.epoch + 1;
  slot.manifest_offset = manifest;
  slot.manifest_size = manifest_bytes;
  slot.generation = generation;
  slot.checksum = RootChecksum(slot, id());
  CHECK(RootChecks(slot, slot.epoch % 2, id()));
  for (int copy = 0; copy < kRootCopies; copy++) {
    persist_.Copy(Purpose::kManifest, page_ + RootSlotOffset(slot.epoch, copy), &slot, sizeof(slot));
    if (copy == 0 && MIODB_MUTATED(kRootCopiesTogether)) continue;
    Status s = persist_.Fence(Purpose::kManifest);
    if (!s.ok()) return s;
  }
  root_ = slot;
  return Status::OK();
}

// The region is part of the pool from the moment at which the first copy is durable; an entry of which only the first
// copy was torn does not count.
Status PoolHead::WriteEntry(const RegionEntry& entry) {
  const int ordinal = static_cast<int>(entry.ordinal);
  CHECK(ordinal > 0 && ordinal < kMaxRegions);
  CHECK(entry.range > 0 && entry.base >= kPoolHeaderSize);  // else no open takes it
  CHECK_EQ(entry.checksum, RegionEntryChecksum(entry, id()));
  for (int copy = 0; copy < kEntryCopies; copy++) {
    persist_.Copy(Purpose::kManifest, page_ + RegionEntryOffset(ordinal, copy), &entry, sizeof(entry));
    if (copy == 0 && MIODB_MUTATED(kRegionEntriesTogether)) continue;
    Status s = persist_.Fence(Purpose::kManifest);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace miodb
