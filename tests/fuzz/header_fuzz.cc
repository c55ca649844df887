// src/nvm/pool/pool_image.h, format/superblock.h: the header page of a pool.

#include "src/nvm/pool/pool_image.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  const uint8_t seal = fuzz::TakeByte(&data, &size);
  // The input fills the structures, one behind the other; the rest of the page is of no matter.
  static char page[kPoolHeaderSize];
  memset(page, 0, sizeof(page));
  uint64_t pool_id = 0;
  for (int copy = 0; copy < kSuperblockCopies; copy++) {
    Superblock* const s = reinterpret_cast<Superblock*>(page + SuperblockOffset(copy));
    fuzz::TakeInto(s, &data, &size);
    if ((seal >> copy & 1) != 0) {
      s->magic = kPoolMagic;
      s->checksum = SuperblockChecksum(*s);
    }
    if (pool_id == 0) pool_id = PoolId(*s);
  }
  for (uint64_t parity = 0; parity < 2; parity++) {
    for (int copy = 0; copy < kRootCopies; copy++) {
      RootSlot* const slot = reinterpret_cast<RootSlot*>(page + RootSlotOffset(parity, copy));
      fuzz::TakeInto(slot, &data, &size);
      if ((seal >> (2 + parity * 2 + static_cast<uint64_t>(copy)) & 1) != 0)
        slot->checksum = RootChecksum(*slot, pool_id);
    }
  }
  const PoolHeader header = ReadPoolHeader(page, sizeof(page));
  FUZZ_CHECK(header.current.epoch == 0 || header.has_superblock);
  for (const auto& slot : header.roots) {
    for (const PoolHeader::Root& root : slot) {
      if (root.good) FUZZ_CHECK(root.slot.epoch <= header.current.epoch);
    }
  }
  FUZZ_CHECK(ReadPoolHeader(page, 100).current.epoch == 0);
  return 0;
}
