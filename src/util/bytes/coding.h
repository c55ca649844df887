// Integers and strings as bytes, the way every stored format of this library writes them.
//
//   fixed32, fixed64       little endian, 4 or 8 bytes, at any alignment
//   varint32, varint64     7 bits a byte, low ones first; the top bit says that more follow; at most 5 or 10 bytes
//   length-prefixed slice  varint32 length, then that many bytes
//
// Decoders that take a limit or a Slice may be fed any bytes: they read nothing beyond the limit and refuse what ends
// too early or does not fit the type. A varint may be longer than it has to be. The others trust their caller.

#ifndef MIODB_SRC_UTIL_BYTES_CODING_H_
#define MIODB_SRC_UTIL_BYTES_CODING_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "miodb/slice.h"
#include "src/util/check/check.h"

namespace miodb {

static_assert(std::endian::native == std::endian::little, "fixed integers are copied as they are");

// The most bytes a varint takes.
inline constexpr int kMaxVarint32Bytes = 5;
inline constexpr int kMaxVarint64Bytes = 10;
static_assert(kMaxVarint32Bytes * 7 >= 32 && kMaxVarint64Bytes * 7 >= 64);

// ---- Fixed width
// -----------------------------------------------------------------------------------------------------

// REQUIRES: room for 4 or 8 bytes at dst.
inline void EncodeFixed32(char* dst, uint32_t value) { std::memcpy(dst, &value, sizeof(value)); }
inline void EncodeFixed64(char* dst, uint64_t value) { std::memcpy(dst, &value, sizeof(value)); }

// REQUIRES: 4 or 8 readable bytes at src.
inline uint32_t DecodeFixed32(const char* src) {
  uint32_t value;
  std::memcpy(&value, src, sizeof(value));
  return value;
}

inline uint64_t DecodeFixed64(const char* src) {
  uint64_t value;
  std::memcpy(&value, src, sizeof(value));
  return value;
}

// Append to *dst.
inline void PutFixed32(std::string* dst, uint32_t value) {
  dst->append(reinterpret_cast<const char*>(&value), sizeof(value));
}
inline void PutFixed64(std::string* dst, uint64_t value) {
  dst->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Take the integer off the front of *input. False, and nothing changed, if *input is too short.
bool GetFixed32(Slice* input, uint32_t* value);
bool GetFixed64(Slice* input, uint64_t* value);

// ---- Varints
// ---------------------------------------------------------------------------------------------------------

// Bytes that the varint of value takes: 1 to 10. A division by 7, rounded up, which 9 / 64 is for all 64 widths.
inline int VarintLength(uint64_t value) {
  return static_cast<int>((static_cast<unsigned>(std::bit_width(value | 1)) * 9 + 64) / 64);
}

// Write the varint and return the place behind it. REQUIRES: room for VarintLength(value) bytes at dst.
inline char* EncodeVarint64(char* dst, uint64_t value) {
  while (value >= 0x80) {
    *dst++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *dst++ = static_cast<char>(value);
  return dst;
}
inline char* EncodeVarint32(char* dst, uint32_t value) { return EncodeVarint64(dst, value); }

// Append to *dst.
void PutVarint32(std::string* dst, uint32_t value);
void PutVarint64(std::string* dst, uint64_t value);

// The part of GetVarint32Ptr and GetVarint64Ptr for a varint of several bytes.
const char* GetVarint32PtrSlow(const char* p, const char* limit, uint32_t* value);
const char* GetVarint64PtrSlow(const char* p, const char* limit, uint64_t* value);

// Read the varint in [p, limit) and return the place behind it; nullptr if it runs into limit or is too large for the
// type, and *value is then unspecified. REQUIRES: p <= limit.
inline const char* GetVarint32Ptr(const char* p, const char* limit, uint32_t* value) {
  DCHECK(p <= limit);
  if (p < limit && (*p & 0x80) == 0) {
    *value = static_cast<unsigned char>(*p);
    return p + 1;
  }
  return GetVarint32PtrSlow(p, limit, value);
}

inline const char* GetVarint64Ptr(const char* p, const char* limit, uint64_t* value) {
  DCHECK(p <= limit);
  if (p < limit && (*p & 0x80) == 0) {
    *value = static_cast<unsigned char>(*p);
    return p + 1;
  }
  return GetVarint64PtrSlow(p, limit, value);
}

// Take the varint off the front of *input. False, and *input unchanged, if there is none.
bool GetVarint32(Slice* input, uint32_t* value);
bool GetVarint64(Slice* input, uint64_t* value);

// ---- Slices
// ----------------------------------------------------------------------------------------------------------

// Appends to *dst. REQUIRES: value.size() < 2^32.
void PutLengthPrefixedSlice(std::string* dst, const Slice& value);

// Takes the slice off the front of *input; *result refers to the same bytes. False, and *input unchanged, if it is cut
// short.
bool GetLengthPrefixedSlice(Slice* input, Slice* result);

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_BYTES_CODING_H_
