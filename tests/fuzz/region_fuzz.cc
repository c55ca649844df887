// src/format/region_table.h: the table of a pool's further regions, and the header page of one of them.

#include "src/format/pm_ref.h"
#include "src/format/region_table.h"
#include "src/nvm/region/region_finder.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  constexpr uint64_t kPoolId = 7;
  const uint8_t seal = fuzz::TakeByte(&data, &size);
  // The input fills the structures, one behind the other; the rest of the page is of no matter.
  static char page[kPoolHeaderSize];
  memset(page, 0, sizeof(page));
  RegionHeader header = {};
  fuzz::TakeInto(&header, &data, &size);
  if ((seal & 1) != 0) header.checksum = RegionHeaderChecksum(header);
  memcpy(page + RegionHeaderOffset(seal >> 1 & 1), &header, sizeof(header));
  RegionHeader read;
  if (ReadRegionHeader(page, &read)) FUZZ_CHECK(memcmp(&read, &header, sizeof(read)) == 0);

  memset(page, 0, sizeof(page));
  for (int ordinal = 1; ordinal <= 3; ordinal++) {
    for (int copy = 0; copy < kEntryCopies; copy++) {
      RegionEntry entry = {};
      fuzz::TakeInto(&entry, &data, &size);
      if ((seal >> (2 * ordinal + copy) & 1) != 0) {
        entry.ordinal = static_cast<uint64_t>(ordinal);
        entry.checksum = RegionEntryChecksum(entry, kPoolId);
      }
      memcpy(page + RegionEntryOffset(ordinal, copy), &entry, sizeof(entry));
    }
  }
  std::vector<RegionEntry> entries;
  if (!ReadRegionTable(page, kPoolId, "pool", &entries).ok()) return 0;
  for (size_t i = 0; i < entries.size(); i++) {
    FUZZ_CHECK(RegionEntryChecks(entries[i], static_cast<int>(i) + 1, kPoolId));
    RegionName(entries[i]);
    const uint64_t least = i == 0 ? kPoolHeaderSize : entries[i - 1].base + entries[i - 1].range;
    FUZZ_CHECK(entries[i].base >= least && entries[i].range > 0);
    FUZZ_CHECK(entries[i].base <= IndexWord::kMaxRef && entries[i].range <= IndexWord::kMaxRef - entries[i].base);
  }
  return 0;
}
