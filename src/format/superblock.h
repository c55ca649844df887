// The first page of a pool: the superblock and the two root slots.
//
// The superblock is written once, when the pool is made, in two copies. A root slot names the current manifest area;
// the two slots are written in turn and the valid one with the higher epoch rules. So a torn root write leaves the
// previous root in force. A slot is stored twice, each copy in its own 256-byte unit, the second only when the first is
// durable. So a slot without a good copy is damage and no torn write, and damage to one copy costs nothing.
//
// The secret is what keeps the values of a client from being taken for anything else. Space that held values comes to
// hold log chunks, tables and manifest areas, and behind their end the values still lie there. A client that knew all
// inputs of a checksum could have written values there that pass for a later part of such a structure. Nothing that a
// client can read through the API holds the secret or a checksum, and it has nothing in common with the uuid, which
// messages and other files show. The header page never holds values, so its checksums are not seeded with the secret.

#ifndef MIODB_SRC_FORMAT_SUPERBLOCK_H_
#define MIODB_SRC_FORMAT_SUPERBLOCK_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "src/util/bytes/hash.h"
#include "src/util/check/mutation.h"

namespace miodb {

inline constexpr uint64_t kPoolMagic = 0x314c4f4f504f494dULL;  // "MIOPOOL1"
inline constexpr uint32_t kPoolFormatVersion = 3;
inline constexpr uint64_t kPoolHeaderSize = 4096;
// Extents start and end at multiples of this. The simulator build has a smaller one, so that a pool of a few hundred
// lines holds a whole database; nothing else depends on the figure.
#ifdef MIODB_SIMULATOR
inline constexpr uint64_t kExtentUnit = 512;
#else
inline constexpr uint64_t kExtentUnit = 4096;
#endif

struct Superblock {
  uint64_t magic;
  uint32_t version;
  uint32_t padding;
  uint8_t uuid[16];
  uint64_t created_micros;  // since 1970, for people
  uint64_t secret;          // random; seeds the checksums of all that lies in extents, where clients choose the bytes
  uint64_t reserved[7];     // zero
  uint64_t checksum;        // Hash64 of everything before
};
static_assert(sizeof(Superblock) == 112 && offsetof(Superblock, magic) == 0 && offsetof(Superblock, version) == 8 &&
              offsetof(Superblock, padding) == 12 && offsetof(Superblock, uuid) == 16 &&
              offsetof(Superblock, created_micros) == 32 && offsetof(Superblock, secret) == 40 &&
              offsetof(Superblock, reserved) == 48 && offsetof(Superblock, checksum) == 104);

struct RootSlot {
  uint64_t epoch;            // 1 for the first root; slot epoch % 2 holds it
  uint64_t manifest_offset;  // PmRef of the manifest area
  uint64_t manifest_size;
  uint64_t generation;  // seeds the checksums of the area's records
  uint64_t checksum;    // Hash64 of everything before, seeded with the first 8 bytes of the uuid
};
static_assert(sizeof(RootSlot) == 40 && offsetof(RootSlot, epoch) == 0 && offsetof(RootSlot, manifest_offset) == 8 &&
              offsetof(RootSlot, manifest_size) == 16 && offsetof(RootSlot, generation) == 24 &&
              offsetof(RootSlot, checksum) == 32);

// The highest epoch of a root. Each root counts the epoch up by one, so a pool never comes near it, and a slot with a
// higher epoch is damaged.
inline constexpr uint64_t kMostEpoch = UINT64_MAX / 2;
static_assert(kMostEpoch < UINT64_MAX);

inline constexpr uint64_t kSuperblockOffset = 0;
inline constexpr int kSuperblockCopies = 2;
inline constexpr uint64_t SuperblockOffset(int copy) { return copy == 0 ? kSuperblockOffset : 3072; }
inline constexpr int kRootCopies = 2;
inline constexpr uint64_t RootSlotOffset(uint64_t epoch, int copy) {
  return 1024 + 1024 * (epoch % 2) + 512 * static_cast<uint64_t>(copy);
}

static_assert(kPoolHeaderSize % kExtentUnit == 0 && SuperblockOffset(1) + sizeof(Superblock) <= kPoolHeaderSize);
static_assert(RootSlotOffset(0, 0) >= kSuperblockOffset + sizeof(Superblock));
static_assert(RootSlotOffset(1, 1) + sizeof(RootSlot) <= SuperblockOffset(1));
static_assert(RootSlotOffset(0, 1) - RootSlotOffset(0, 0) >= 256);  // copies are in units of their own

inline uint64_t SuperblockChecksum(const Superblock& s) { return Hash64(&s, offsetof(Superblock, checksum)); }

// Whether these bytes are an undamaged superblock, whatever its version. A uuid of zeros was never drawn: elsewhere it
// stands for no pool, so nothing may bear it.
inline bool SuperblockChecks(const Superblock& s) {
  const Superblock blank = {};
  return s.magic == kPoolMagic && s.checksum == SuperblockChecksum(s) &&
         memcmp(s.uuid, blank.uuid, sizeof(s.uuid)) != 0;
}

// The id in the marks of the pool's roots and manifest areas: the first 8 bytes of its uuid.
inline uint64_t PoolId(const Superblock& s) {
  uint64_t id;
  memcpy(&id, s.uuid, sizeof(id));
  return id;
}

inline uint64_t RootChecksum(const RootSlot& slot, uint64_t pool_id) {
  return Hash64(&slot, offsetof(RootSlot, checksum), pool_id);
}

// Whether nothing was ever written to the slot.
inline bool RootIsBlank(const RootSlot& slot) {
  const RootSlot blank = {};
  return memcmp(&slot, &blank, sizeof(blank)) == 0;
}

// Whether these bytes are an undamaged root of this pool that belongs into a slot of this parity.
inline bool RootChecks(const RootSlot& slot, uint64_t parity, uint64_t pool_id) {
  return slot.epoch != 0 && slot.epoch <= kMostEpoch && slot.epoch % 2 == parity &&
         (slot.checksum == RootChecksum(slot, pool_id) || MIODB_MUTATED(kRootUnchecked));
}

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_SUPERBLOCK_H_
