#include "src/util/bytes/crc32c.h"

#include <array>

#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// steps[k][b]: what byte b contributes when k more bytes follow it. Eight of them take a word in one step.
// The tables are made by the compiler from the polynomial of Castagnoli, bit-reversed, as iSCSI (RFC 3720) and
// LevelDB's formats use it: no table of numbers stands in the source that somebody would have to believe.
constexpr auto kCrcTable = [] {
  constexpr uint32_t kReversedPolynomial = 0x82f63b78;
  std::array<std::array<uint32_t, 256>, 8> steps{};
  for (uint32_t b = 0; b < 256; b++) {
    uint32_t rest = b;
    for (int i = 0; i < 8; i++) rest = (rest & 1) != 0 ? (rest >> 1) ^ kReversedPolynomial : rest >> 1;
    steps[0][b] = rest;
  }
  for (size_t k = 1; k < 8; k++) {
    for (size_t b = 0; b < 256; b++) steps[k][b] = (steps[k - 1][b] >> 8) ^ steps[0][steps[k - 1][b] & 0xff];
  }
  return steps;
}();

static_assert(kCrcTable[0][0] == 0 && kCrcTable[0][1] == 0xf26b8303);  // of the reversed Castagnoli polynomial

uint32_t AddByte(uint32_t state, char c) {
  return (state >> 8) ^ kCrcTable[0][(state ^ static_cast<uint8_t>(c)) & 0xff];
}

#if defined(__x86_64__)
// The processor has an instruction for exactly this polynomial. Compiled for it alone, so that the library still runs
// where there is none.
[[gnu::target("sse4.2")]] uint32_t WithInstruction(const char* data, size_t size, uint32_t before) {
  uint64_t state = ~before;
  const char* const words_end = data + size / 8 * 8;
  const char* const end = data + size;
  while (data < words_end) {
    state = __builtin_ia32_crc32di(state, DecodeFixed64(data));
    data += 8;
  }
  uint32_t rest = static_cast<uint32_t>(state);
  while (data < end) rest = __builtin_ia32_crc32qi(rest, static_cast<uint8_t>(*data++));
  return ~rest;
}
#endif

}  // namespace

// Eight bytes a step by eight tables ("slicing by 8": Kounavis and Berry, A systematic approach to building high
// performance software-based CRC generators, 2005). before: the checksum of what lies in front, so that pieces may be
// checked one after the other; 0 at the beginning.
uint32_t Crc32cPortable(const char* data, size_t size, uint32_t before) {
  DCHECK(data != nullptr || size == 0);
  uint32_t state = ~before;
  for (; size >= 8; data += 8, size -= 8) {
    const uint64_t word = DecodeFixed64(data) ^ state;
    state = 0;
    for (size_t i = 0; i < 8; i++) state ^= kCrcTable[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (size_t i = 0; i < size; i++) state = AddByte(state, data[i]);
  return ~state;
}

uint32_t Crc32c(const char* data, size_t size, uint32_t before) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return WithInstruction(data, size, before);
#endif
  return Crc32cPortable(data, size, before);
}

}  // namespace miodb
