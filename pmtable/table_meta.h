// The meta block of a PMTable: which payload extents it refers to.
//
//   varint64 extent count |
//   per extent: varint64 offset / 4096, varint64 size / 4096, u8 kind, varint64 payload bytes,
//               varint64 live bytes
//
// Sorted by offset; no two extents overlap. Payload bytes are those written for records (Extent::payload_bytes). Live
// bytes are the sizes (IndexWord::size) of the records that this table refers to in the extent.

#ifndef MIODB_PMTABLE_TABLE_META_H_
#define MIODB_PMTABLE_TABLE_META_H_

#include <cstdint>
#include <string>
#include <vector>

#include "miodb/slice.h"
#include "src/format/superblock.h"
#include "src/nvm/pool/pool.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"

namespace miodb {

struct PayloadMeta {
  PmRef offset;
  uint64_t size;
  ExtentKind kind;
  uint64_t payload_bytes;
  uint64_t live_bytes;

  PmRef end() const {
    DCHECK_LE(size, UINT64_MAX - offset);
    return offset + size;
  }

  // Whether this may stand behind what ends at `from`.
  bool Fits(PmRef from) const {
    return (kind == ExtentKind::kLog || kind == ExtentKind::kSettled) && offset >= from && size > 0 &&
           payload_bytes <= size && live_bytes <= MostLiveBytes(size);
  }

  // Sizes in words are rounded up, by far less than this. So no sum of live bytes overflows, whatever tables say.
  static uint64_t MostLiveBytes(uint64_t size) { return 2 * size; }
};

struct TableMeta {
  static_assert(sizeof(ExtentKind) == 1);  // a byte of the block stands for it

  std::vector<PayloadMeta> payload;

  void EncodeTo(std::string* dst) const {
    PutVarint64(dst, payload.size());
    for (const PayloadMeta& p : payload) {
      CHECK(p.offset % kExtentUnit == 0 && p.size % kExtentUnit == 0);
      PutVarint64(dst, p.offset / kExtentUnit);
      PutVarint64(dst, p.size / kExtentUnit);
      dst->push_back(static_cast<char>(p.kind));
      PutVarint64(dst, p.payload_bytes);
      PutVarint64(dst, p.live_bytes);
    }
  }

  // False if the bytes are not a meta block.
  bool DecodeFrom(Slice input) {
    uint64_t count;
    if (!GetVarint64(&input, &count) || count > input.size()) return false;
    payload.resize(count);
    const char* at = input.data();
    const char* const limit = at + input.size();
    const auto get = [&](uint64_t* value) { return (at = GetVarint64Ptr(at, limit, value)) != nullptr; };
    PmRef end = 0;
    for (PayloadMeta& p : payload) {
      if (!get(&p.offset) || !get(&p.size) || at == limit) return false;
      p.kind = static_cast<ExtentKind>(static_cast<uint8_t>(*at++));
      if (!get(&p.payload_bytes) || !get(&p.live_bytes)) return false;
      if (p.offset > IndexWord::kMaxRef / kExtentUnit || p.size > IndexWord::kMaxRef / kExtentUnit) return false;
      p.offset *= kExtentUnit;
      p.size *= kExtentUnit;
      if (!p.Fits(end)) return false;
      end = p.end();
    }
    return at == limit;
  }
};

}  // namespace miodb

#endif  // MIODB_PMTABLE_TABLE_META_H_
