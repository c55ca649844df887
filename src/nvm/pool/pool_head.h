// The header page of an open pool (src/format/superblock.h, src/format/region_table.h): superblock, roots, and the
// entries of further regions.
//
// PoolHead owns what it has read of the page; the page is memory of the pool's own file, which outlives it, and is
// stored to through the door alone.
//
// After a crash at most one copy is torn, because copies are made durable one by one. Recovery makes the torn copy
// whole before anything else is stored there (Repair).
//
// Threads: changes by one at a time; id, secret and uuid by any.

#ifndef MIODB_SRC_NVM_POOL_POOL_HEAD_H_
#define MIODB_SRC_NVM_POOL_POOL_HEAD_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "miodb/status.h"
#include "src/format/pm_ref.h"
#include "src/format/region_table.h"
#include "src/format/superblock.h"
#include "src/nvm/persist/persist.h"

namespace miodb {

class PoolHead {
 public:
  // path: what errors name.
  PoolHead(std::string path, char* page, Persist* persist) : path_(std::move(path)), page_(page), persist_(*persist) {
    CHECK_EQ(reinterpret_cast<uintptr_t>(page_) % kPoolHeaderSize, 0u);  // copies lie in units of their own
  }
  PoolHead(const PoolHead&) = delete;
  PoolHead& operator=(const PoolHead&) = delete;

  // Writes the superblock of a new pool. Durable with the first fence of the manifest, which comes before the pool has
  // its name.
  void Write(const std::array<uint8_t, kUuidBytes>& uuid, uint64_t secret, uint64_t created_micros);

  // Reads the superblock and the root in force. Corruption, or NotSupported for another format version.
  Status Read();

  // The entries of further regions; Corruption if one is damaged.
  Status ReadEntries(std::vector<RegionEntry>* entries) const;

  // Starts the way to the medium of all that was read, which a process that died before its fence may have left in a
  // cache only, and makes torn copies whole. Durable with the fence at the end of the manifest's recovery, which
  // comes before anything is built on it.
  Status Repair();

  // The current root; Corruption if neither slot is valid. Epoch 0 in a new pool.
  Status ReadRoot(RootSlot* root) const;

  // Durably makes this manifest area the current one.
  Status SwitchRoot(PmRef manifest, uint64_t manifest_bytes, uint64_t generation);

  // Durably adds the entry, whose place is blank.
  Status WriteEntry(const RegionEntry& entry);

  // REQUIRES: Write, or a Read that found a superblock.
  uint64_t id() const {
    DCHECK_EQ(superblock_.magic, kPoolMagic);
    return PoolId(superblock_);
  }
  uint64_t secret() const {
    DCHECK_EQ(superblock_.magic, kPoolMagic);
    return superblock_.secret;
  }
  const uint8_t* uuid() const {
    DCHECK_EQ(superblock_.magic, kPoolMagic);
    return superblock_.uuid;
  }
  uint64_t epoch() const { return root_.epoch; }  // of the root in force, 0 in a new pool

 private:
  Status ReadSuperblock();
  Status RepairRoots();
  Status RepairEntries();
  Status RepairEntry(int ordinal, bool* fenced);

  const std::string path_;
  char* const page_;
  Persist& persist_;
  Superblock superblock_ = {};
  RootSlot root_ = {};
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_POOL_HEAD_H_
