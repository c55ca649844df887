// The bytes of trace records (miodb/trace.h). Integers are little endian.
//
//   record   := fixed64 micros, uint8 type, fixed32 payload bytes, payload
//   begin    := "feedcafedeadbeef\tTrace Version: 0.2\tRocksDB Version: M.m\tFormat: Timestamp OpType Payload\n"
//   end      := nothing
//   others   := fixed64 bitmap, then the members whose bits are set, in the order of the bits (PayloadBit)
//
// In version 0.1 the payload of a write is the batch alone, that of gets and seeks a fixed32 column family and a
// length-prefixed key.
//
// Our own records:
//
//   scan             := fixed64 micros of the seek, fixed32 column family, varint64 steps forward, varint64 steps
//                       backward, length-prefixed key of the seek
//   seek to an end   := as a seek, with an empty key
//   checksum         := fixed64: ChainChecksum over all records before this one, from 0, and its own head
//   accesses         := fixed64 address of the pool, fixed64 nanoseconds from the begin record to the first access,
//   then
//                       for each access: fixed64 offset in the pool | thread << 48,
//                       fixed32 bytes | kind << 24 | purpose << 27, fixed32 nanoseconds since the access before

#ifndef MIODB_SRC_TRACE_TRACE_FORMAT_H_
#define MIODB_SRC_TRACE_TRACE_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "miodb/slice.h"
#include "miodb/status.h"
#include "miodb/trace.h"
#include "src/util/bytes/family_key.h"
#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"

namespace miodb {

inline constexpr size_t kTraceHeadBytes = 13;
static_assert(kTraceHeadBytes == sizeof(TraceRecord::micros) + 1 + sizeof(uint32_t));

// No payload is larger: a batch is below 2 GiB.
inline constexpr uint64_t kMaxTracePayload = (uint64_t{2} << 30) + 4096;

// The least distance in bytes of two checksum records.
inline constexpr uint64_t kTraceChecksumBytes = 64 << 10;

struct TraceHead {
  uint64_t micros;
  int type;
  uint32_t payload_bytes;
};

// REQUIRES: kTraceHeadBytes readable bytes at p.
TraceHead DecodeTraceHead(const char* p);

// The next link of the checksum, with these bytes more.
inline uint64_t ChainChecksum(uint64_t before, const Slice& bytes) {
  return Hash64(bytes.data(), bytes.size(), before);
}

// Makes the record in *out, which is overwritten; its memory is used again and again. The updates of a write come from
// a batch, or are one.
class TraceEncoder {
 public:
  explicit TraceEncoder(std::string* out) : out_(out) { CHECK(out_ != nullptr); }

  void Begin(uint64_t micros, int major, int minor);
  void End(uint64_t micros);
  // Takes a batch in the library's form (write_batch_internal.h); updates of column families are written in RocksDB's
  // form.
  void Batch(uint64_t micros, const Slice& batch);
  // type: of a batch's updates, without kBatchFamily. value: empty where the type has none.
  void Update(uint64_t micros, uint8_t type, const UserKey& key, const Slice& value);
  void Get(uint64_t micros, const UserKey& key);
  // REQUIRES: MultiGetPayload of the keys is at most kMaxTracePayload.
  void MultiGet(uint64_t micros, const std::vector<UserKey>& keys);
  // At most so many bytes the payload has.
  static uint64_t MultiGetPayload(const std::vector<Slice>& keys);
  // Writes a seek of any kind. Bounds may be null.
  void Seek(uint64_t micros, TraceType type, const UserKey& key, const Slice* lower, const Slice* upper);
  void Scan(uint64_t micros, uint64_t seek_micros, const UserKey& key, uint64_t nexts, uint64_t prevs);
  // checksum: over all records before.
  void Checksum(uint64_t micros, uint64_t checksum);
  // accesses: a payload made by AccessesPayload.
  void Accesses(uint64_t micros, const Slice& accesses);

 private:
  void Start(uint64_t micros, TraceType type);
  void PutBatch(const Slice& header, const Slice& updates);
  void StartWrite(uint64_t micros);
  void Finish();

  std::string* const out_;
};

// The payload of a record of accesses, made access by access.
class AccessesPayload {
 public:
  // A payload is not begun, or holds at least an access.
  bool empty() const { return bytes_.empty(); }
  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

  // Whether the next access at this time has a place here. An empty payload takes any.
  bool Takes(uint64_t nanos) const;

  // REQUIRES: Takes(access.nanos), times never go back, and base is the same for all.
  void Add(uint64_t base, const TraceAccess& access);

 private:
  std::string bytes_;
  uint64_t nanos_ = 0;  // of the last access
};

// Decodes the begin record. False if the payload is none.
bool DecodeTraceBegin(const Slice& payload, int* format_version, std::string* writer);

// Stores what the payload of a record holds; record->type is given. Returns what is wrong with it, or nullptr. A
// payload of an unknown type is taken as it is.
const char* DecodeTracePayload(int format_version, Slice payload, TraceRecord* record);

}  // namespace miodb

#endif  // MIODB_SRC_TRACE_TRACE_FORMAT_H_
