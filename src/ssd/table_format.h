// The frame of a table file in LevelDB's format, which stock LevelDB and RocksDB read:
//
//   data blocks | filter block | meta index block | index block | footer
//
// Behind each block stand 5 bytes: u8 compression, u32 masked CRC-32C of block and compression byte.
// The footer, 48 bytes: handle of the meta index, handle of the index (varint64 offset and size each), zeros up to byte
// 40, then the magic number. docs/format.md has the rest.
//
// Errors: whatever bytes a file holds, a Status names the file and the offset.

#ifndef MIODB_SRC_SSD_TABLE_FORMAT_H_
#define MIODB_SRC_SSD_TABLE_FORMAT_H_

#include <cstdint>
#include <string>

#include "miodb/comparator.h"
#include "miodb/env.h"
#include "miodb/filter_policy.h"
#include "miodb/options.h"
#include "miodb/status.h"
#include "src/format/checksums.h"

namespace miodb {

// How tables are made and read. Borrowed pointers outlive whatever is made with this.
struct SstFormat {
  const Comparator* comparator = nullptr;       // of the keys as they are stored
  const FilterPolicy* filter_policy = nullptr;  // nullptr: no filters
  size_t block_size = 4096;                     // bytes of a data block before compression, about
  int restart_interval = 16;                    // entries between keys that are stored whole
  CompressionType compression = kNoCompression;
  int zstd_level = 1;
};

inline SstFormat SstFormatOf(const Options& options) {
  SstFormat format;
  format.comparator = options.comparator;
  format.filter_policy = options.filter_policy;
  format.block_size = options.block_size;
  format.restart_interval = options.block_restart_interval > 0 ? options.block_restart_interval : 1;
  format.compression = options.compression;
  format.zstd_level = options.zstd_compression_level;
  return format;
}

inline constexpr uint64_t kSstMagic = 0xdb4775248b80fb57;
inline constexpr size_t kFooterBytes = 48;
inline constexpr size_t kBlockTrailerBytes = 5;
static_assert(kFooterBytes == 4 * 10 + sizeof(kSstMagic));  // four varints of 64 bits fit in front of the magic number

// Where a block lies in its file, its trailer not counted.
struct BlockHandle {
  uint64_t offset = 0;
  uint64_t size = 0;

  void EncodeTo(std::string* dst) const;
  bool DecodeFrom(Slice* input);
};

struct Footer {
  BlockHandle meta_index;
  BlockHandle index;

  void EncodeTo(std::string* dst) const;
  // False if the bytes are no footer. REQUIRES: kFooterBytes of them.
  bool DecodeFrom(const Slice& bytes);
};

// A file and what its errors call it.
struct SstSource {
  const RandomAccessFile* file;
  std::string name;
  uint64_t size;

  Status Corrupt(uint64_t offset, const std::string& what) const;
};

// Appends the compressed bytes to *dst. False if that saves less than an eighth: the block is stored as it is then.
bool CompressBlock(CompressionType type, int zstd_level, const Slice& block, std::string* dst);

// The trailer of a block that is stored as these bytes.
std::string BlockTrailer(CompressionType type, const Slice& stored);

// Whether a block lies within its file: Corruption if not.
Status CheckPlace(const SstSource& source, const BlockHandle& handle);

// Reads a block into *contents, uncompressed. kVerify: check its checksum. *stored: if wanted, a copy of what lies in
// the file, trailer included. bytes: if not nullptr, what lies there, which somebody has read already.
Status ReadBlock(const SstSource& source, const BlockHandle& handle, Checksums checksums, std::string* contents,
                 std::string* stored = nullptr, const char* bytes = nullptr);

}  // namespace miodb

#endif  // MIODB_SRC_SSD_TABLE_FORMAT_H_
