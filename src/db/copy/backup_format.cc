// Encoding and decoding what lies in a backup folder.

#include "src/db/copy/backup_format.h"

#include <algorithm>
#include <cstring>

#include "src/format/sealed.h"
#include "src/format/uuid_coding.h"

namespace miodb {

namespace {

constexpr Seal kMarkSeal = {"MIOBKFLD", kBackupFormatVersion};
constexpr Seal kRecordSeal = {"MIOBKGEN", kBackupFormatVersion};

// The seeds of the two halves of a hash, beside the secret.
constexpr uint64_t kFirstSeed = 0x6261636b75702d31u;
constexpr uint64_t kSecondSeed = 0x6261636b75702d32u;

// Positions of files are signed integers of the system.
constexpr uint64_t kMostPosition = INT64_MAX / 2;

void PutHash(std::string* dst, const BlockHash& hash) {
  for (const uint64_t half : hash) PutFixed64(dst, half);
}

bool GetHash(Slice* input, BlockHash* hash) { return GetFixed64(input, &(*hash)[0]) && GetFixed64(input, &(*hash)[1]); }

bool GetBlock(Slice* input, uint64_t most, uint64_t generation, BackupBlock* block) {
  return GetVarint64(input, &block->bytes) && block->bytes > 0 && block->bytes <= std::min(most, kMostBlockBytes) &&
         GetVarint64(input, &block->file) && block->file > 0 && block->file <= generation &&
         GetVarint64(input, &block->position) && block->position <= kMostPosition && GetHash(input, &block->hash);
}

// An extent begins no earlier than end, and its blocks have all of its bytes.
bool GetExtent(Slice* input, uint64_t end, uint64_t generation, BackupExtent* extent) {
  uint64_t gap, kind;
  PoolCopy::Part* const part = &extent->part;
  if (end > IndexWord::kMaxRef || !GetVarint64(input, &gap) || gap > IndexWord::kMaxRef - end || gap % kExtentUnit != 0)
    return false;
  part->offset = end + gap;
  if (!GetVarint64(input, &part->bytes) || part->bytes == 0 || part->bytes > IndexWord::kMaxRef - part->offset ||
      !GetVarint64(input, &kind) || kind == static_cast<uint64_t>(ExtentKind::kManifest) ||
      kind > static_cast<uint64_t>(ExtentKind::kSettled)) {
    return false;
  }
  part->kind = static_cast<ExtentKind>(kind);
  for (uint64_t rest = part->bytes; rest > 0; rest -= extent->blocks.back().bytes) {
    if (!GetBlock(input, rest, generation, &extent->blocks.emplace_back())) return false;
  }
  return true;
}

bool GetExtents(Slice* input, BackupRecord* record) {
  DCHECK(record->generation > 0 && record->extents.empty());
  uint64_t count;
  if (!GetVarint64(input, &count)) return false;
  uint64_t end = kPoolHeaderSize;
  for (; count > 0; count--) {
    BackupExtent* const extent = &record->extents.emplace_back();
    if (!GetExtent(input, end, record->generation, extent)) return false;
    end = extent->part.offset + RoundToUnit(extent->part.bytes);
  }
  return true;
}

// There are as many tables as in the state, which has all figures but the hashes.
bool GetTables(Slice* input, BackupRecord* record) {
  DCHECK(record->tables.empty());
  for (const SstPlace& place : record->state.files) {
    BackupTable* const table = &record->tables.emplace_back(*place.meta);
    if (table->size > kMostPosition || !GetHash(input, &table->hash)) return false;
  }
  return true;
}

}  // namespace

// Either half alone tells blocks apart that differ by chance; both together also those that somebody has looked for.
BlockHash HashOfBlock(const char* bytes, uint64_t size, uint64_t secret) {
  DCHECK(bytes != nullptr);
  return {Hash64(bytes, size, Mix64(secret, kFirstSeed)), Hash64(bytes, size, Mix64(secret, kSecondSeed))};
}

// The hashes of pieces are kept, some bytes for each, as their hash takes all of them at once.
void TableHash::Add(const Slice& piece) {
  DCHECK(!piece.empty());
  PutHash(&pieces_, HashOfBlock(piece.data(), piece.size(), secret_));
  size_ += piece.size();
}

// The checksum is for those who look for the end of what was written; the hash says whose the bytes behind it are.
BlockHeader EncodeBlockHeader(PmRef offset, const BackupBlock& block) {
  CHECK(block.bytes > 0 && block.bytes <= kMostBlockBytes);
  BlockHeader header;
  EncodeFixed32(header.data() + 4, static_cast<uint32_t>(block.bytes));
  EncodeFixed64(header.data() + 8, offset);
  EncodeFixed64(header.data() + 16, block.hash[0]);
  EncodeFixed64(header.data() + 24, block.hash[1]);
  EncodeFixed32(header.data(), MaskedCrc(Crc32c(header.data() + 4, header.size() - 4)));
  return header;
}

bool DecodeBlockHeader(const BlockHeader& header, PmRef* offset, BackupBlock* block) {
  if (DecodeFixed32(header.data()) != MaskedCrc(Crc32c(header.data() + 4, header.size() - 4))) return false;
  block->bytes = DecodeFixed32(header.data() + 4);
  *offset = DecodeFixed64(header.data() + 8);
  block->hash = {DecodeFixed64(header.data() + 16), DecodeFixed64(header.data() + 24)};
  return block->bytes > 0 && block->bytes <= kMostBlockBytes;
}

uint64_t BackupRecord::Bytes() const {
  uint64_t bytes = 0;
  for (const BackupExtent& extent : extents) bytes += extent.part.bytes;
  for (const BackupTable& table : tables) bytes += table.size;
  return bytes;
}

// The length does not depend on new_bytes, because new_bytes counts the record too.
std::string BackupRecord::Encode() const {
  CHECK(generation > 0 && tables.size() == state.files.size());
  std::string content, edit;
  for (const uint64_t figure : {generation, micros, new_bytes, secret}) PutFixed64(&content, figure);
  PutUuid(&content, pool);
  state.EncodeTo(&edit);
  PutVarint64(&content, edit.size());
  content += edit;
  PutVarint64(&content, extents.size());
  uint64_t end = kPoolHeaderSize;
  for (const BackupExtent& extent : extents) {
    DCHECK_GE(extent.part.offset, end);
    PutVarint64(&content, extent.part.offset - end);
    PutVarint64(&content, extent.part.bytes);
    PutVarint64(&content, static_cast<uint64_t>(extent.part.kind));
    for (const BackupBlock& block : extent.blocks) {
      PutVarint64(&content, block.bytes);
      PutVarint64(&content, block.file);
      PutVarint64(&content, block.position);
      PutHash(&content, block.hash);
    }
    end = extent.part.offset + RoundToUnit(extent.part.bytes);
  }
  for (const BackupTable& table : tables) PutHash(&content, table.hash);
  return Sealed(kRecordSeal, content);
}

// A record is trusted when its checksum is right, but never as far as a size or a position in it: these are looked at
// one by one, because who restores reserves addresses and reads files by them.
bool BackupRecord::DecodeFrom(const Slice& bytes) {
  *this = BackupRecord();
  Slice content;
  uint64_t edit_bytes;
  if (!Unseal(kRecordSeal, bytes, &content) || !GetFixed64(&content, &generation) || !GetFixed64(&content, &micros) ||
      !GetFixed64(&content, &new_bytes) || !GetFixed64(&content, &secret) || !GetUuid(&content, &pool) ||
      generation == 0 || !GetVarint64(&content, &edit_bytes) || edit_bytes > content.size() ||
      !state.DecodeFrom(Slice(content.data(), edit_bytes)) || !state.savepoints.empty() || !state.kept.empty()) {
    return false;
  }
  content.remove_prefix(edit_bytes);
  return GetExtents(&content, this) && GetTables(&content, this) && content.empty();
}

std::string EncodeBackupMark(const Uuid& pool) {
  std::string content;
  PutUuid(&content, pool);
  return Sealed(kMarkSeal, content);
}

bool DecodeBackupMark(const Slice& bytes, Uuid* pool) {
  Slice content;
  return Unseal(kMarkSeal, bytes, &content) && GetUuid(&content, pool) && content.empty();
}

}  // namespace miodb
