// Pools of several regions: what names the further ones.
//
// A region is a file, a device or memory that holds a range of the pool's references. The first region is the pool's
// own file and begins with the header page (superblock.h). Each further one begins with a header of its own, and the
// header page of the first has an entry for it, in two copies far from each other. Headers and entries are written once
// and never changed. An entry's second copy is written only when the first is durable, as with roots: so an entry
// without a good copy is damage if both were written, and a torn write, which does not count, if one was.
//
// An entry is what makes a region part of the pool. A region that no entry names has nothing in it, unless the pool is
// an older copy.

#ifndef MIODB_SRC_FORMAT_REGION_TABLE_H_
#define MIODB_SRC_FORMAT_REGION_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "src/format/superblock.h"
#include "src/util/bytes/hash.h"
#include "src/util/check/mutation.h"

namespace miodb {

inline constexpr int kUuidBytes = 16;

// Regions of a pool, its own file counted.
inline constexpr int kMaxRegions = 13;

// First references of regions are multiples of this, so that a region may lie on whatever has large pages.
#ifdef MIODB_SIMULATOR
inline constexpr uint64_t kRegionAlignment = 4096;
#else
inline constexpr uint64_t kRegionAlignment = uint64_t{1} << 30;
#endif

inline constexpr uint64_t RoundToRegion(uint64_t bytes) {
  return (bytes + kRegionAlignment - 1) / kRegionAlignment * kRegionAlignment;
}

struct RegionEntry {
  uint64_t ordinal;  // 1 for the first further region; entry number ordinal - 1 holds it
  uint8_t uuid[kUuidBytes];
  uint64_t base;   // PmRef of the region's first byte
  uint64_t range;  // bytes of references that are its own: the most that it may ever grow to
  uint64_t reserved[2];
  uint64_t checksum;  // Hash64 of everything before, seeded with the pool's id
};
static_assert(sizeof(RegionEntry) == 64 && offsetof(RegionEntry, uuid) == 8 && offsetof(RegionEntry, base) == 24 &&
              offsetof(RegionEntry, range) == 32 && offsetof(RegionEntry, reserved) == 40 &&
              offsetof(RegionEntry, checksum) == 56);

inline constexpr int kEntryCopies = 2;
static_assert(kRegionAlignment % kExtentUnit == 0 && sizeof(Superblock::uuid) == kUuidBytes);
inline constexpr uint64_t RegionEntryOffset(int ordinal, int copy) {
  return (copy == 0 ? 256 : 3328) + sizeof(RegionEntry) * static_cast<uint64_t>(ordinal - 1);
}
static_assert(RegionEntryOffset(kMaxRegions, 0) == 1024 && RegionEntryOffset(kMaxRegions, 1) == kPoolHeaderSize &&
              SuperblockOffset(1) + sizeof(Superblock) <= RegionEntryOffset(1, 1));

inline uint64_t RegionEntryChecksum(const RegionEntry& entry, uint64_t pool_id) {
  return Hash64(&entry, offsetof(RegionEntry, checksum), pool_id);
}

// Whether these bytes are an undamaged entry of this pool that belongs there.
inline bool RegionEntryChecks(const RegionEntry& entry, int ordinal, uint64_t pool_id) {
  return entry.ordinal == static_cast<uint64_t>(ordinal) &&
         (entry.checksum == RegionEntryChecksum(entry, pool_id) || MIODB_MUTATED(kRegionEntryUnchecked));
}

inline constexpr uint64_t kRegionMagic = 0x314e4745524f494dULL;  // "MIOREGN1"

struct RegionHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t ordinal;
  uint8_t pool_uuid[kUuidBytes];
  uint8_t uuid[kUuidBytes];
  uint64_t base;
  uint64_t range;
  uint64_t created_micros;  // since 1970, for people
  uint64_t reserved[2];
  uint64_t checksum;  // Hash64 of everything before
};
static_assert(sizeof(RegionHeader) == 96 && offsetof(RegionHeader, ordinal) == 12 &&
              offsetof(RegionHeader, pool_uuid) == 16 && offsetof(RegionHeader, uuid) == 32 &&
              offsetof(RegionHeader, base) == 48 && offsetof(RegionHeader, range) == 56 &&
              offsetof(RegionHeader, created_micros) == 64 && offsetof(RegionHeader, reserved) == 72 &&
              offsetof(RegionHeader, checksum) == 88);

inline constexpr uint64_t kRegionFormatVersion = 1;

inline uint64_t RegionHeaderChecksum(const RegionHeader& h) { return Hash64(&h, offsetof(RegionHeader, checksum)); }

// Whether these bytes are an undamaged header, whatever its version.
inline bool RegionHeaderChecks(const RegionHeader& h) {
  return h.magic == kRegionMagic && h.checksum == RegionHeaderChecksum(h);
}

// Copies of the header lie where those of the superblock do.
static_assert(SuperblockOffset(1) + sizeof(RegionHeader) <= kPoolHeaderSize && kRegionMagic != kPoolMagic);
inline constexpr int kRegionHeaderCopies = kSuperblockCopies;
inline constexpr uint64_t RegionHeaderOffset(int copy) { return SuperblockOffset(copy); }

// Reads the header at the beginning of page, which has kPoolHeaderSize bytes. False if no copy checks.
inline bool ReadRegionHeader(const char* page, RegionHeader* header) {
  for (int copy = 0; copy < kRegionHeaderCopies; copy++) {
    memcpy(header, page + RegionHeaderOffset(copy), sizeof(*header));
    if (RegionHeaderChecks(*header)) return true;
  }
  return false;
}

inline bool SameUuid(const uint8_t* a, const uint8_t* b) { return memcmp(a, b, kUuidBytes) == 0; }

// "0f3c5a...", 32 digits.
inline std::string UuidText(const uint8_t* uuid) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (int i = 0; i < kUuidBytes; i++) {
    text += digits[uuid[i] >> 4];
    text += digits[uuid[i] & 15];
  }
  return text;
}

// How messages call it.
inline std::string RegionName(const RegionEntry& entry) {
  return "region " + std::to_string(entry.ordinal) + " (uuid " + UuidText(entry.uuid) + ")";
}

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_REGION_TABLE_H_
