// Records and log frames: how a write looks in persistent memory.
//
// Record, the unit that a table's index refers to:
//
//   u32 check | u64 tag | varint32 key size | varint32 value size | key | value
//
//   tag    sequence << 8 | ValueType
//   check  low 32 bits of RecordHash, so that a single record can be verified where it lies
//
// Frame, the unit that recovery accepts or refuses as a whole; one write group:
//
//   u64 checksum | varint32 body size | records
//
//   checksum  FrameSeed(secret, chunk id, body size) folded with the RecordHash of every record in order, and at
//             last with ahead, unless that is 0: how many of the writes right before this frame were perhaps not
//             durable when it was stored. This number is below kLogWindow, and 0 but for frames of one record that
//             writers wrote beside one another. The id of a log chunk is never used again, so a frame that an earlier
//             life of the same memory left behind never checks. The secret is the pool's (superblock.h), so a value
//             that looks like a frame never does either.
//
// Integers are little-endian and unaligned. A put of 100 bytes costs 24 bytes beyond key and value.

#ifndef MIODB_SRC_FORMAT_RECORD_H_
#define MIODB_SRC_FORMAT_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "miodb/slice.h"
#include "src/format/value_type.h"
#include "src/util/bytes/coding.h"
#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

inline constexpr size_t kMaxKeySize = size_t{16} << 20;
inline constexpr size_t kMaxValueSize = size_t{1} << 30;
inline constexpr uint64_t kMaxFrameBody = (uint64_t{1} << 31) - 1;
inline constexpr uint64_t kMaxSequence = (uint64_t{1} << 56) - 1;

// The largest sequence that is believed of a medium. Writes count sequences up one by one, so half of them is left for
// the writes after an open.
inline constexpr uint64_t kMostReadSequence = kMaxSequence / 2;
static_assert(kMostReadSequence < kMaxSequence);

// A frame is stored only when all but fewer writes than this before it are durable. So a crash leaves holes among the
// last so many writes of a log and nowhere else.
#ifdef MIODB_SIMULATOR
inline constexpr uint64_t kLogWindow = 2;
#else
inline constexpr uint64_t kLogWindow = 64;
#endif

inline constexpr size_t kRecordFixedSize = 4 + 8;  // check and tag
inline constexpr size_t kMaxRecordHeader = kRecordFixedSize + 5 + 5;
inline constexpr size_t kMaxFrameHeader = 8 + 5;
static_assert(kMaxRecordHeader + kMaxKeySize + kMaxValueSize <= kMaxFrameBody);

inline uint64_t PackTag(uint64_t sequence, ValueType type) {
  DCHECK_LE(sequence, kMaxSequence);
  return sequence << 8 | static_cast<uint8_t>(type);
}
inline uint64_t TagSequence(uint64_t tag) { return tag >> 8; }
inline ValueType TagType(uint64_t tag) { return static_cast<ValueType>(tag & 0xff); }

// Bytes of the record of a key and a value of these sizes.
inline size_t RecordSize(size_t key_size, size_t value_size) {
  return kRecordFixedSize + VarintLength(key_size) + VarintLength(value_size) + key_size + value_size;
}

// Where the key starts in the record of a key of this size; record_size as from RecordSize.
inline size_t RecordHeaderSize(size_t key_size, size_t record_size) {
  const size_t fixed = kRecordFixedSize + VarintLength(key_size);
  DCHECK_GT(record_size, fixed + key_size);
  for (size_t length = 1;; length++) {
    const size_t value_size = record_size - fixed - length - key_size;
    if (static_cast<size_t>(VarintLength(value_size)) <= length) return fixed + length;
  }
}

inline size_t FrameHeaderSize(uint64_t body_size) {
  DCHECK_LE(body_size, kMaxFrameBody);
  return 8 + VarintLength(body_size);
}

// The 64-bit hash of a record: of everything between check and value, seeded with the pool's secret, then of the value
// seeded with the former.
inline uint64_t RecordHash(const char* after_check, size_t size, const Slice& value, uint64_t secret) {
  if (MIODB_MUTATED(kFrameValueUncovered)) return Hash64(after_check, size, secret);
  return Hash64(value.data(), value.size(), Hash64(after_check, size, secret));
}

inline uint64_t FrameSeed(uint64_t secret, uint64_t chunk_id, uint64_t body_size) {
  return Mix64(secret ^ (MIODB_MUTATED(kFrameIdUnseeded) ? 0 : chunk_id), body_size);
}
inline uint64_t FrameAhead(uint64_t sum, uint64_t ahead) { return ahead == 0 ? sum : Mix64(sum, ahead); }
inline uint64_t FrameFold(uint64_t sum, uint64_t record_hash) { return Mix64(sum, record_hash); }

// Writes everything of a record but its value at dst, which has room for kMaxRecordHeader + key.size() bytes, and
// stores its hash in *hash. Returns the end; the value belongs there.
inline char* EncodeRecordHead(char* dst, uint64_t tag, const Slice& key, const Slice& value, uint64_t secret,
                              uint64_t* hash) {
  DCHECK(key.size() <= kMaxKeySize && value.size() <= kMaxValueSize);
  char* const body = dst + 4;
  EncodeFixed64(body, tag);
  char* p = EncodeVarint32(body + 8, static_cast<uint32_t>(key.size()));
  p = EncodeVarint32(p, static_cast<uint32_t>(value.size()));
  memcpy(p, key.data(), key.size());
  p += key.size();
  *hash = RecordHash(body, static_cast<size_t>(p - body), value, secret);
  EncodeFixed32(dst, static_cast<uint32_t>(*hash));
  DCHECK_EQ(static_cast<size_t>(p - dst) + value.size(), RecordSize(key.size(), value.size()));
  return p;
}

// A parsed record. The slices point into the memory it was parsed from.
struct RecordView {
  uint64_t tag = 0;
  Slice key;
  Slice value;
  const char* begin = nullptr;

  uint64_t sequence() const { return TagSequence(tag); }
  ValueType type() const { return TagType(tag); }
  size_t size() const { return static_cast<size_t>(value.data() + value.size() - begin); }
  uint64_t Hash(uint64_t secret) const {
    return RecordHash(begin + 4, static_cast<size_t>(value.data() - begin) - 4, value, secret);
  }
  bool Verify(uint64_t secret) const {
    return DecodeFixed32(begin) == static_cast<uint32_t>(Hash(secret)) || MIODB_MUTATED(kRecordUnchecked);
  }
};

// Parses the record at p, which must end by limit. False if the bytes cannot be a record; checksums are not looked at.
inline bool ParseRecord(const char* p, const char* limit, RecordView* record) {
  if (static_cast<size_t>(limit - p) < kRecordFixedSize + 2) return false;
  record->begin = p;
  record->tag = DecodeFixed64(p + 4);
  uint32_t key_size, value_size;
  const char* q = GetVarint32Ptr(p + kRecordFixedSize, limit, &key_size);
  if (q == nullptr) return false;
  q = GetVarint32Ptr(q, limit, &value_size);
  if (q == nullptr || key_size > kMaxKeySize || value_size > kMaxValueSize ||
      static_cast<uint64_t>(limit - q) < uint64_t{key_size} + value_size) {
    return false;
  }
  record->key = Slice(q, key_size);
  record->value = Slice(q + key_size, value_size);
  DCHECK_LE(record->size(), static_cast<size_t>(limit - p));
  return true;
}

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_RECORD_H_
