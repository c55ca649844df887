// copy/backup_format.h: mark, record and block header, of any bytes, are read as they were written or refused; what a
// record names lies in ranges that there can be, one behind the other.

#include "src/db/copy/backup_format.h"
#include "tests/fuzz/sealed_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  const fuzz::SealedInput bytes(data, size);
  Uuid pool;
  if (DecodeBackupMark(bytes.slice(), &pool)) FUZZ_CHECK(Slice(EncodeBackupMark(pool)) == bytes.slice());
  BackupRecord record, again;
  if (record.DecodeFrom(bytes.slice())) {
    const std::string encoded = record.Encode();
    FUZZ_CHECK(again.DecodeFrom(encoded) && again.Encode() == encoded && again.tables == record.tables);
    PmRef end = kPoolHeaderSize;
    for (const BackupExtent& extent : record.extents) {
      FUZZ_CHECK(extent.part.offset >= end && extent.part.bytes > 0);
      end = extent.part.offset + extent.part.bytes;
      FUZZ_CHECK(end > extent.part.offset && end <= IndexWord::kMaxRef);
      uint64_t blocks = 0;
      for (const BackupBlock& block : extent.blocks) blocks += block.bytes;
      FUZZ_CHECK(blocks == extent.part.bytes);
    }
  }
  BlockHeader header;
  PmRef offset;
  BackupBlock block;
  if (bytes.size() >= header.size()) {
    memcpy(header.data(), bytes.slice().data(), header.size());
    if (DecodeBlockHeader(header, &offset, &block)) FUZZ_CHECK(EncodeBlockHeader(offset, block) == header);
  }
  return 0;
}
