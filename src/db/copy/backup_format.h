// The bytes of a backup folder: the mark, the record of a generation, and what a block of a data file begins with.
//
// A block is a piece of one extent, at one offset of the pool. Generations that have the same bytes there have the same
// block, so records name blocks by data file and position, and a generation needs no other one's record.
//
// Hashes of blocks are two checksums with the pool's secret in their seeds: whoever chooses the values of a database
// cannot choose two that pass for each other.
//
// docs/format.md lists the fields. Decoders take any bytes.
//
// Threads: values, and functions of their arguments.

#ifndef MIODB_SRC_DB_COPY_BACKUP_FORMAT_H_
#define MIODB_SRC_DB_COPY_BACKUP_FORMAT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "miodb/backup.h"
#include "src/format/store_descriptor.h"
#include "src/nvm/pool/pool_copy.h"
#include "src/util/bytes/hash.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

inline constexpr uint32_t kBackupFormatVersion = 1;

// The most bytes of a block, and the fewest of one that another follows in its extent: what an extent grows by often is
// not to end as a block for every growth.
inline constexpr uint64_t kMostBlockBytes = uint64_t{1} << 20;
inline constexpr uint64_t kLeastInnerBlockBytes = uint64_t{64} << 10;

using BlockHash = std::array<uint64_t, 2>;
BlockHash HashOfBlock(const char* bytes, uint64_t size, uint64_t secret);

struct BackupBlock {
  uint64_t bytes = 0;
  uint64_t file = 0;      // generation whose data file it is in
  uint64_t position = 0;  // there, of its header
  BlockHash hash = {};
  bool operator==(const BackupBlock&) const = default;
};

// In front of the bytes of a block: u32 masked CRC-32C of the rest | u32 bytes | u64 offset in the pool | hash
inline constexpr size_t kBlockHeaderBytes = 32;
using BlockHeader = std::array<char, kBlockHeaderBytes>;
BlockHeader EncodeBlockHeader(PmRef offset, const BackupBlock& block);
// Takes bytes and hash of the block. False if there is no such header.
bool DecodeBlockHeader(const BlockHeader& header, PmRef* offset, BackupBlock* block);

// A table file. The hash is computed over the hashes of the file's pieces (kPieceBytes). A database that was put back
// from an older copy of itself gives numbers again, so the fingerprint is a part of the file's name.
struct BackupTable {
  explicit BackupTable(const SstMeta& meta) : number(meta.number), size(meta.size), fingerprint(meta.fingerprint) {}

  uint64_t number;
  uint64_t size;
  uint64_t fingerprint;
  BlockHash hash = {};
  bool operator==(const BackupTable&) const = default;
};

// Collects the hash of a table file.
class TableHash {
 public:
  explicit TableHash(uint64_t secret) : secret_(secret) {}
  void Add(const Slice& piece);
  uint64_t size() const { return size_; }
  BlockHash Result() const { return HashOfBlock(pieces_.data(), pieces_.size(), secret_); }

 private:
  const uint64_t secret_;
  uint64_t size_ = 0;
  std::string pieces_;
};

struct BackupExtent {
  PoolCopy::Part part;
  std::vector<BackupBlock> blocks;  // one behind the other
};

struct BackupRecord {
  uint64_t generation = 0;
  uint64_t micros = 0;
  uint64_t new_bytes = 0;
  Uuid pool = {};
  uint64_t secret = 0;
  VersionEdit state;                  // leads from nothing to it
  std::vector<BackupExtent> extents;  // by their offsets
  std::vector<BackupTable> tables;    // those of the state, in its order

  uint64_t Bytes() const;
  BackupInfo Info() const { return {generation, micros, Bytes(), new_bytes}; }

  std::string Encode() const;

  // False if the bytes are no record, or one of another version. Numbers of a decoded record are checked against their
  // ranges.
  bool DecodeFrom(const Slice& bytes);
};

// The mark of a folder, which names its database.
std::string EncodeBackupMark(const Uuid& pool);
bool DecodeBackupMark(const Slice& bytes, Uuid* pool);

}  // namespace miodb

#endif  // MIODB_SRC_DB_COPY_BACKUP_FORMAT_H_
