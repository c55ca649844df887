// The manifest area: an extent with records, and at its end a footer.
//
// Record:   u32 payload size | u32 zero | u64 edit number | u64 checksum | payload, padded with zeros to 8 bytes
// Footer:   the area's last 128 bytes. They say whose area this is and where, so that a repair finds it without a root.
//           The second line holds the confirmed count: how many records are known to be durable.
//
// The confirmed count is what tells damage from a torn append. The count is one 8-byte word, stored after the fence of
// each record and fenced with the next one, so it may fall behind but never runs ahead: if it counts a record that does
// not check, that record was there once.

#ifndef MIODB_SRC_FORMAT_MANIFEST_AREA_H_
#define MIODB_SRC_FORMAT_MANIFEST_AREA_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "miodb/slice.h"
#include "src/util/bytes/coding.h"
#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

inline constexpr uint64_t kManifestRecordHeader = 24;
static_assert(kManifestRecordHeader % 8 == 0);  // records begin at words, as stores do that are whole or not there

inline constexpr uint64_t kAreaMagic = 0x316165724154504dULL;  // "MPTArea1"

struct AreaFooter {
  uint64_t magic;
  uint64_t pool_id;     // PoolId of the superblock
  uint64_t offset;      // of the area
  uint64_t size;        // of the area, this footer included
  uint64_t epoch;       // of the root that was to make it current
  uint64_t generation;  // seeds the checksums of its records
  uint64_t secret;      // of the superblock: what is left of it if both copies are lost
  uint64_t checksum;    // Hash64 of everything before, seeded with the secret
};
static_assert(sizeof(AreaFooter) == 64 && offsetof(AreaFooter, pool_id) == 8 && offsetof(AreaFooter, offset) == 16 &&
              offsetof(AreaFooter, size) == 24 && offsetof(AreaFooter, epoch) == 32 &&
              offsetof(AreaFooter, generation) == 40 && offsetof(AreaFooter, secret) == 48 &&
              offsetof(AreaFooter, checksum) == 56);

inline constexpr uint64_t kAreaFooterBytes = 128;  // with the line of the confirmed count
inline constexpr uint64_t kConfirmedInFooter = 64;
static_assert(sizeof(AreaFooter) <= kConfirmedInFooter && kConfirmedInFooter + sizeof(uint64_t) <= kAreaFooterBytes);

inline uint64_t AreaFooterChecksum(const AreaFooter& footer) {
  return Hash64(&footer, offsetof(AreaFooter, checksum), footer.secret);
}

// Reads the footer of the area that ends at end. False if there is none. The area is the pool's if the footer has the
// pool's secret.
inline bool ReadAreaFooter(const char* end, AreaFooter* footer) {
  memcpy(footer, end - kAreaFooterBytes, sizeof(*footer));
  return footer->magic == kAreaMagic && footer->checksum == AreaFooterChecksum(*footer);
}

// The seed of the checksums of an area's records.
inline uint64_t AreaSeed(uint64_t secret, uint64_t generation) { return secret ^ generation; }

// The confirmed count as it is stored: the count above, 32 bits of a checksum below.
inline uint64_t ConfirmedWord(uint64_t seed, uint64_t records) {
  DCHECK_LE(records, UINT32_MAX);
  return records << 32 | (Mix64(seed, records) & UINT32_MAX);
}

// How many records of this seed were confirmed; 0 if the word is blank, stale or damaged.
inline uint64_t ConfirmedRecords(const char* end, uint64_t seed) {
  const uint64_t word = DecodeFixed64(end - kAreaFooterBytes + kConfirmedInFooter);
  const uint64_t records = word >> 32;
  return word == ConfirmedWord(seed, records) ? records : 0;
}

struct ManifestRecord {
  uint64_t edit_number;
  Slice payload;
};

inline uint64_t ManifestRecordBytes(uint64_t payload_size) {
  return (kManifestRecordHeader + payload_size + 7) / 8 * 8;
}

inline uint64_t ManifestRecordChecksum(uint64_t seed, uint64_t edit_number, const Slice& payload) {
  if (MIODB_MUTATED(kManifestGenerationUnseeded)) seed = 0;
  return Hash64(payload.data(), payload.size(), Mix64(seed, edit_number));
}

// Reads what could be a record at position, of an area whose records end by size. False if there is none. The call does
// not verify the checksum.
inline bool ParseManifestRecord(const char* area, uint64_t size, uint64_t position, ManifestRecord* record) {
  if (size < kManifestRecordHeader || position > size - kManifestRecordHeader) return false;
  const char* const p = area + position;
  const uint64_t payload_size = DecodeFixed32(p);
  if (payload_size == 0) return false;  // of no record: spares a checksum at every place that is blank
  if (DecodeFixed32(p + 4) != 0 || ManifestRecordBytes(payload_size) > size - position) return false;
  record->edit_number = DecodeFixed64(p + 8);
  record->payload = Slice(p + kManifestRecordHeader, payload_size);
  DCHECK_LE(position + ManifestRecordBytes(payload_size), size);
  return true;
}

inline bool ManifestRecordChecks(const ManifestRecord& record, uint64_t seed) {
  return DecodeFixed64(record.payload.data() - 8) == ManifestRecordChecksum(seed, record.edit_number, record.payload) ||
         MIODB_MUTATED(kManifestUnchecked);
}

// The record of this seed at position; false if there is none.
inline bool ReadManifestRecord(const char* area, uint64_t size, uint64_t position, uint64_t seed,
                               ManifestRecord* record) {
  return ParseManifestRecord(area, size, position, record) && ManifestRecordChecks(*record, seed);
}

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_MANIFEST_AREA_H_
