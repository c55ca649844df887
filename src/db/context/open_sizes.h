// Sizes that an open chooses from the options, for what is allocated again and again: memtable blocks and log chunks.
//
// Threads: pure functions. Units: bytes.

#ifndef MIODB_SRC_DB_CONTEXT_OPEN_SIZES_H_
#define MIODB_SRC_DB_CONTEXT_OPEN_SIZES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "miodb/options.h"
#include "src/format/superblock.h"
#include "src/memtable/blink_tree.h"
#include "src/nvm/pool/extent.h"
#include "src/util/check/check.h"

namespace miodb {

// Blocks of memtable memory: a fraction of the memtable, within reason.
inline size_t BlockBytes(const Options& options) {
  constexpr size_t kLeast = 16 * 1024, kMost = 2 * 1024 * 1024;
  static_assert(kLeast >= BLinkTree::kMaxAllocation);
  return std::clamp(options.write_buffer_size / 8, kLeast, kMost) / kLeast * kLeast;
}

// Free blocks worth keeping: those of one memtable of small records.
inline constexpr size_t kSpareBlocks = 32;

// A chunk is no larger than this share of the pool: several are always kept free.
inline constexpr uint64_t kPoolChunks = 256;

// Nor is one that no option asks for larger than this: an open reads the last one from end to end.
inline constexpr uint64_t kMostChunk = 4 << 20;

// Chunks of one size make up a memtable, two at least, so that what is left of the last one, which goes back, is
// little.
inline uint64_t ChunkBytes(const Options& options, uint64_t pool_capacity) {
  CHECK_GT(pool_capacity, 0u);
  if (options.log_chunk_size > 0) return options.log_chunk_size;
  const uint64_t count = std::max<uint64_t>(2, (options.write_buffer_size + kMostChunk - 1) / kMostChunk);
  const uint64_t even = RoundToUnit((options.write_buffer_size + count - 1) / count);
  return std::max(std::min(even, pool_capacity / kPoolChunks / kExtentUnit * kExtentUnit), kExtentUnit);
}

}  // namespace miodb

#endif  // MIODB_SRC_DB_CONTEXT_OPEN_SIZES_H_
