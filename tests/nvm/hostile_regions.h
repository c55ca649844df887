// Pools whose table of regions says anything: every checksum is right, as of whoever makes a pool to do harm.

#ifndef MIODB_TESTS_NVM_HOSTILE_REGIONS_H_
#define MIODB_TESTS_NVM_HOSTILE_REGIONS_H_

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "src/format/region_table.h"
#include "src/format/superblock.h"

namespace miodb::test {

struct HostileRegion {
  uint64_t base;
  uint64_t range;
  uint64_t file_bytes;
};

inline void WriteSparse(const std::string& path, const std::string& begin, uint64_t bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << begin;
  std::filesystem::resize_file(path, bytes);
}

// Makes folder/pool, of pool_bytes bytes, with a root, and folder/region1 and so on.
inline void WriteHostilePool(const std::string& folder, uint64_t pool_bytes,
                             const std::vector<HostileRegion>& regions) {
  Superblock superblock = {};
  superblock.magic = kPoolMagic;
  superblock.version = kPoolFormatVersion;
  superblock.uuid[0] = 1;
  superblock.checksum = SuperblockChecksum(superblock);
  RootSlot root = {1, kPoolHeaderSize, kExtentUnit, 7, 0};
  root.checksum = RootChecksum(root, PoolId(superblock));
  std::string page(kPoolHeaderSize, '\0');
  for (int copy = 0; copy < kSuperblockCopies; copy++) {
    memcpy(page.data() + SuperblockOffset(copy), &superblock, sizeof(superblock));
  }
  for (int copy = 0; copy < kRootCopies; copy++) memcpy(page.data() + RootSlotOffset(1, copy), &root, sizeof(root));
  for (size_t i = 0; i < regions.size(); i++) {
    RegionEntry entry = {};
    entry.ordinal = i + 1;
    entry.uuid[0] = static_cast<uint8_t>(i + 2);
    entry.base = regions[i].base;
    entry.range = regions[i].range;
    entry.checksum = RegionEntryChecksum(entry, PoolId(superblock));
    for (int copy = 0; copy < kEntryCopies; copy++) {
      memcpy(page.data() + RegionEntryOffset(static_cast<int>(i) + 1, copy), &entry, sizeof(entry));
    }
    RegionHeader header = {};
    header.magic = kRegionMagic;
    header.version = kRegionFormatVersion;
    header.ordinal = static_cast<uint32_t>(i + 1);
    memcpy(header.pool_uuid, superblock.uuid, kUuidBytes);
    memcpy(header.uuid, entry.uuid, kUuidBytes);
    header.base = entry.base;
    header.range = entry.range;
    header.checksum = RegionHeaderChecksum(header);
    std::string first(kPoolHeaderSize, '\0');
    for (int copy = 0; copy < kRegionHeaderCopies; copy++) {
      memcpy(first.data() + RegionHeaderOffset(copy), &header, sizeof(header));
    }
    WriteSparse(folder + "/region" + std::to_string(i + 1), first, regions[i].file_bytes);
  }
  WriteSparse(folder + "/pool", page, pool_bytes);
}

}  // namespace miodb::test

#endif  // MIODB_TESTS_NVM_HOSTILE_REGIONS_H_
