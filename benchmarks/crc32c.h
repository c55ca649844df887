// CRC-32C (Castagnoli), with the processor's instruction where it has one. For the crc32c benchmark only: the engines'
// own implementations are not public.

#ifndef MIODB_BENCHMARKS_CRC32C_H_
#define MIODB_BENCHMARKS_CRC32C_H_

#include <cstdint>
#include <string_view>

namespace miodb::bench {

uint32_t Crc32c(std::string_view bytes);

// The version without special instructions, for tests.
uint32_t Crc32cPortable(std::string_view bytes);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_CRC32C_H_
