#include "src/util/bytes/coding.h"

#include <bit>

#include "src/util/check/check.h"

namespace miodb {

namespace {

// Reads a varint of at most Bits bits. The last byte that can contribute must fit into what is left of them, so a
// value never wraps and at most ceil(Bits / 7) bytes are looked at.
template <int Bits, typename T>
const char* ReadVarint(const char* p, const char* limit, T* value) {
  static_assert(Bits == sizeof(T) * 8);
  T result = 0;
  for (int shift = 0; shift < Bits && p < limit; shift += 7) {
    const auto byte = static_cast<unsigned char>(*p++);
    const T low = byte & 0x7f;
    if (Bits - shift < 7 && (low >> (Bits - shift)) != 0) return nullptr;
    result |= low << shift;
    if ((byte & 0x80) == 0) {
      *value = result;
      return p;
    }
  }
  return nullptr;
}

}  // namespace

// The Get functions read bytes of a medium, so every one of them checks its length first and changes *input only if it
// succeeds: a caller that gets false may say where the damage is.
bool GetFixed32(Slice* input, uint32_t* value) {
  if (input->size() < sizeof(*value)) return false;
  *value = DecodeFixed32(input->data());
  input->remove_prefix(sizeof(*value));
  return true;
}

bool GetFixed64(Slice* input, uint64_t* value) {
  if (input->size() < sizeof(*value)) return false;
  *value = DecodeFixed64(input->data());
  input->remove_prefix(sizeof(*value));
  return true;
}

// A value of 32 bits has the same bytes in either width, so there is one encoder.
void PutVarint32(std::string* dst, uint32_t value) { PutVarint64(dst, value); }

// At most ten bytes, made beside the string so that it grows once.
void PutVarint64(std::string* dst, uint64_t value) {
  char buffer[kMaxVarint64Bytes];
  const char* end = EncodeVarint64(buffer, value);
  DCHECK_EQ(end - buffer, VarintLength(value));
  dst->append(buffer, static_cast<size_t>(end - buffer));
}

// The case of one byte is inlined in the header; what comes here has at least two, or is damaged.
const char* GetVarint32PtrSlow(const char* p, const char* limit, uint32_t* value) {
  return ReadVarint<32>(p, limit, value);
}

// Up to eight bytes are taken at once: first the seven bits of each are moved together by pairs, then by fours, then by
// eights. Lists of extents are made of such numbers, and an open reads them all.
const char* GetVarint64PtrSlow(const char* p, const char* limit, uint64_t* value) {
  if (limit - p >= 8) {
    uint64_t word = DecodeFixed64(p);
    const uint64_t ends = ~word & 0x8080808080808080;  // the bytes that may be the last
    if (ends != 0) {
      const int bits = std::countr_zero(ends) + 1;
      word &= 0x7f7f7f7f7f7f7f7f & (~uint64_t{0} >> (64 - bits));
      word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
      word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2;
      *value = (word & 0x000000000fffffff) | (word & 0x0fffffff00000000) >> 4;
      return p + bits / 8;
    }
  }
  return ReadVarint<64>(p, limit, value);
}

// As the fixed ones: *input moves only if the number is whole and fits its type.
bool GetVarint32(Slice* input, uint32_t* value) {
  const char* limit = input->data() + input->size();
  const char* end = GetVarint32Ptr(input->data(), limit, value);
  if (end == nullptr) return false;
  *input = Slice(end, static_cast<size_t>(limit - end));
  return true;
}

bool GetVarint64(Slice* input, uint64_t* value) {
  const char* limit = input->data() + input->size();
  const char* end = GetVarint64Ptr(input->data(), limit, value);
  if (end == nullptr) return false;
  *input = Slice(end, static_cast<size_t>(limit - end));
  return true;
}

// Lengths are 32 bits in every format that uses this. Callers refuse longer strings before; the CHECK is there because
// a length that wraps would make bytes that read as something else.
void PutLengthPrefixedSlice(std::string* dst, const Slice& value) {
  CHECK_LE(value.size(), UINT32_MAX);
  PutVarint32(dst, static_cast<uint32_t>(value.size()));
  dst->append(value.data(), value.size());
}

// The result is a view of the input's bytes. The length is compared with what is there before it is used, so a damaged
// one leads nowhere and asks for no memory.
bool GetLengthPrefixedSlice(Slice* input, Slice* result) {
  Slice rest = *input;
  uint32_t length;
  if (!GetVarint32(&rest, &length) || rest.size() < length) return false;
  *result = Slice(rest.data(), length);
  rest.remove_prefix(length);
  *input = rest;
  return true;
}

}  // namespace miodb
