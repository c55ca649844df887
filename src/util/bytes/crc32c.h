// CRC-32C (Castagnoli), the checksum of LevelDB's table format, with the processor's instruction where it has one.

#ifndef MIODB_SRC_UTIL_BYTES_CRC32C_H_
#define MIODB_SRC_UTIL_BYTES_CRC32C_H_

#include <cstddef>
#include <cstdint>

namespace miodb {

// The checksum of what "before" is the checksum of, followed by data[0, size).
uint32_t Crc32c(const char* data, size_t size, uint32_t before = 0);

// The same without special instructions, for tests.
uint32_t Crc32cPortable(const char* data, size_t size, uint32_t before = 0);

// The format stores this instead of the checksum itself: the checksum of bytes that contain their own checksum is no
// checksum any more.
inline uint32_t MaskedCrc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_BYTES_CRC32C_H_
