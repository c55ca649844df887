// Pools whose first page is damaged, torn, of another version, or in use.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "src/format/region_table.h"
#include "src/nvm/pool/pool.h"
#include "src/nvm/pool/pool_image.h"
#include "src/util/bytes/coding.h"
#include "src/util/bytes/hash.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/nvm/pool_files.h"

namespace miodb::test {
namespace {

constexpr uint64_t kLimit = 128 * 1024;

class PoolDamageTest : public testing::Test {
 protected:
  // A published pool that has switched its root this many times, root i to an extent of i units and generation 10 i.
  void MakePool(uint64_t switches) {
    ASSERT_OK(Pool::Destroy(path_));
    std::unique_ptr<Pool> pool;
    ASSERT_OK(Pool::Create(path_, Pool::Options{kLimit, kLimit, kPersistAuto}, &pool));
    for (uint64_t i = 1; i <= switches; i++) {
      ExtentRef extent;
      ASSERT_OK(pool->Allocate(i * kExtentUnit, ExtentKind::kManifest, &extent));
      ASSERT_OK(pool->SwitchRoot(*extent, 10 * i));
    }
    ASSERT_OK(pool->Publish());
    pool.reset();
    good_ = ReadFileBytes(path_);
  }

  // Opens a pool of these bytes. epoch: of the root in force, 0 if it does not open.
  Status OpenBytes(const std::string& bytes, uint64_t* epoch) {
    WriteFileBytes(path_, bytes);
    *epoch = 0;
    std::unique_ptr<Pool> pool;
    Status s = Pool::Open(path_, Pool::Options{kLimit, kLimit, kPersistAuto}, &pool);
    if (!s.ok()) {
      EXPECT_EQ(nullptr, pool);
      return s;
    }
    RootSlot root;
    s = pool->ReadRoot(&root);
    *epoch = root.epoch;
    EXPECT_EQ(root.epoch * kExtentUnit, root.manifest_size);
    EXPECT_EQ(10 * root.epoch, root.generation);
    return s;
  }

  std::string Flipped(uint64_t byte, int bit) const {
    std::string bytes = good_;
    bytes[byte] = static_cast<char>(bytes[byte] ^ (1 << bit));
    return bytes;
  }

  TestDir dir_;
  const std::string path_ = dir_ / "pool";
  std::string good_;
};

TEST_F(PoolDamageTest, DamageToOneSuperblockCostsNothing) {
  MakePool(3);
  uint64_t epoch;
  ASSERT_OK(OpenBytes(good_, &epoch));
  EXPECT_EQ(3u, epoch);
  for (uint64_t byte = 0; byte < sizeof(Superblock); byte++) {
    for (int bit = 0; bit < 8; bit++) {
      for (int copy = 0; copy < kSuperblockCopies; copy++) {
        EXPECT_OK(OpenBytes(Flipped(SuperblockOffset(copy) + byte, bit), &epoch));
        EXPECT_EQ(3u, epoch) << "byte " << byte << " bit " << bit << " of copy " << copy;
      }
    }
  }
}

TEST_F(PoolDamageTest, EveryBitOfTheSuperblocksCounts) {
  MakePool(3);
  uint64_t epoch;
  for (uint64_t byte = 0; byte < sizeof(Superblock); byte++) {
    for (int bit = 0; bit < 8; bit++) {
      std::string bytes = Flipped(SuperblockOffset(0) + byte, bit);
      bytes[SuperblockOffset(1) + byte] = static_cast<char>(bytes[SuperblockOffset(1) + byte] ^ (1 << bit));
      const Status s = OpenBytes(bytes, &epoch);
      EXPECT_TRUE(s.IsCorruption() || s.IsNotSupportedError())
          << "byte " << byte << " bit " << bit << ": " << s.ToString();
      EXPECT_TRUE(Mentions(s, path_));
    }
  }
}

TEST_F(PoolDamageTest, AnotherVersionIsNamed) {
  MakePool(1);
  for (uint32_t version : {0u, kPoolFormatVersion - 1, kPoolFormatVersion + 1, 1000u}) {
    std::string bytes = good_;
    Superblock superblock;
    memcpy(&superblock, bytes.data() + kSuperblockOffset, sizeof(superblock));
    superblock.version = version;
    superblock.checksum = Hash64(&superblock, offsetof(Superblock, checksum));
    for (int copy = 0; copy < kSuperblockCopies; copy++) {
      memcpy(bytes.data() + SuperblockOffset(copy), &superblock, sizeof(superblock));
    }
    uint64_t epoch;
    Status s = OpenBytes(bytes, &epoch);
    EXPECT_STATUS(NotSupportedError, s);
    EXPECT_TRUE(Mentions(s, std::to_string(version)));
    // The checksum may lie elsewhere.
    for (int copy = 0; copy < kSuperblockCopies; copy++) bytes[SuperblockOffset(copy) + 104] ^= 1;
    s = OpenBytes(bytes, &epoch);
    EXPECT_STATUS(NotSupportedError, s);
    EXPECT_TRUE(Mentions(s, std::to_string(version)));
  }
}

TEST_F(PoolDamageTest, OpenMakesTornCopiesOfARootWhole) {
  for (uint64_t switches : {1, 2, 3, 4}) {
    MakePool(switches);
    for (uint64_t words = 1; words < 31; words++) {
      // The switch to the next root was cut off after these words of its first copy.
      RootSlot next;
      next.epoch = switches + 1;
      next.manifest_offset = 24 * kExtentUnit;
      next.manifest_size = next.epoch * kExtentUnit;
      next.generation = 10 * next.epoch;
      uint64_t uuid_begin;
      memcpy(&uuid_begin, good_.data() + offsetof(Superblock, uuid), sizeof(uuid_begin));
      next.checksum = Hash64(&next, offsetof(RootSlot, checksum), uuid_begin);
      std::string bytes = good_;
      for (uint64_t word = 0; word < sizeof(next) / 8; word++) {
        if ((words >> word & 1) == 0) continue;
        memcpy(&bytes[RootSlotOffset(next.epoch, 0) + 8 * word], reinterpret_cast<const char*>(&next) + 8 * word, 8);
      }
      uint64_t epoch;
      ASSERT_OK(OpenBytes(bytes, &epoch));
      EXPECT_EQ(switches, epoch);
      // Nothing is left that the next switch, torn in turn, could complete.
      EXPECT_TRUE(good_ == ReadFileBytes(path_)) << "words " << words << " of root " << next.epoch;
    }
  }
}

TEST_F(PoolDamageTest, DamageToOneCopyOfARootCostsNothing) {
  for (uint64_t switches : {1, 2, 3, 4}) {
    MakePool(switches);
    for (uint64_t epoch = std::max<uint64_t>(switches, 2) - 1; epoch <= switches; epoch++) {
      for (uint64_t bit = 0; bit < 8 * sizeof(RootSlot); bit++) {
        for (int copy = 0; copy < kRootCopies; copy++) {
          uint64_t found;
          EXPECT_OK(OpenBytes(Flipped(RootSlotOffset(epoch, copy) + bit / 8, static_cast<int>(bit % 8)), &found));
          EXPECT_EQ(switches, found) << "bit " << bit << " of copy " << copy << " of root " << epoch;
        }
      }
    }
  }
}

TEST_F(PoolDamageTest, DamageToBothCopiesOfARootIsReported) {
  for (uint64_t switches : {1, 2, 3, 4, 5}) {
    MakePool(switches);
    for (uint64_t bit = 0; bit < 8 * sizeof(RootSlot); bit += 3) {
      std::string bytes = Flipped(RootSlotOffset(switches, 0) + bit / 8, static_cast<int>(bit % 8));
      bytes[RootSlotOffset(switches, 1) + 16] ^= 1;
      uint64_t epoch;
      EXPECT_STATUS(Corruption, OpenBytes(bytes, &epoch));
    }
  }
}

TEST_F(PoolDamageTest, WithoutAValidRootThereIsNoPool) {
  uint64_t epoch;
  MakePool(0);
  EXPECT_STATUS(Corruption, OpenBytes(good_, &epoch));
  MakePool(5);
  std::string bytes = good_;
  for (uint64_t parity : {0, 1}) {
    for (int copy : {0, 1}) bytes[RootSlotOffset(parity, copy) + 8] ^= 8;
  }
  EXPECT_STATUS(Corruption, OpenBytes(bytes, &epoch));
}

// From the second root on, both slots were written: a blank one has lost its root, which may be the newer one.
TEST_F(PoolDamageTest, ASlotThatBecameBlankIsReported) {
  for (uint64_t switches : {2, 3, 4, 5}) {
    MakePool(switches);
    for (const uint64_t parity : {0, 1}) {
      std::string bytes = good_;
      for (int copy : {0, 1})
        bytes.replace(RootSlotOffset(parity, copy), sizeof(RootSlot), std::string(sizeof(RootSlot), '\0'));
      uint64_t epoch;
      // The write of the pool's second root may be torn in both copies, and then the first root is in force.
      EXPECT_EQ(switches == 2 && parity == 0, OpenBytes(bytes, &epoch).ok()) << switches << " " << parity;
    }
  }
}

TEST_F(PoolDamageTest, ARootCountsOnlyInItsOwnSlot) {
  MakePool(2);
  std::string bytes = good_;
  for (int copy : {0, 1}) {
    bytes.replace(RootSlotOffset(1, copy), sizeof(RootSlot), good_, RootSlotOffset(2, copy), sizeof(RootSlot));
    bytes.replace(RootSlotOffset(2, copy), sizeof(RootSlot), std::string(sizeof(RootSlot), '\0'));
  }
  uint64_t epoch;
  EXPECT_STATUS(Corruption, OpenBytes(bytes, &epoch));
}

TEST_F(PoolDamageTest, ARootOfAnotherPoolDoesNotCount) {
  MakePool(2);
  const std::string other = good_;
  MakePool(1);
  std::string bytes = good_;
  bytes.replace(RootSlotOffset(2, 0), sizeof(RootSlot), other, RootSlotOffset(2, 0), sizeof(RootSlot));
  uint64_t epoch;
  ASSERT_OK(OpenBytes(bytes, &epoch));
  EXPECT_EQ(1u, epoch);
}

// A switch of the root writes the two copies one after the other. Any subset of the 8-byte words of the copy in flight
// may have arrived.
TEST_F(PoolDamageTest, ATornSwitchIsTheOldRootOrTheNewOne) {
  constexpr unsigned kWords = sizeof(RootSlot) / 8;
  for (uint64_t switches : {1, 2, 3, 4}) {
    MakePool(switches + 1);
    const std::string after = good_;
    // The same pool before its last switch: the slot held the root two before, or nothing.
    std::string before = after;
    RootSlot slot = {};
    if (switches >= 2) {
      slot.epoch = switches - 1;
      slot.manifest_offset = kPoolHeaderSize;
      slot.manifest_size = slot.epoch * kExtentUnit;
      slot.generation = 10 * slot.epoch;
      slot.checksum =
          Hash64(&slot, offsetof(RootSlot, checksum), DecodeFixed64(after.data() + offsetof(Superblock, uuid)));
    }
    for (int copy : {0, 1}) memcpy(&before[RootSlotOffset(switches + 1, copy)], &slot, sizeof(slot));
    for (int copy : {0, 1}) {
      const uint64_t offset = RootSlotOffset(switches + 1, copy);
      for (unsigned subset = 0; subset < 1u << kWords; subset++) {
        std::string bytes = before;
        for (unsigned word = 0; word < kWords; word++) {
          if ((subset >> word & 1) != 0) bytes.replace(offset + 8 * word, 8, after, offset + 8 * word, 8);
        }
        uint64_t epoch;
        ASSERT_OK(OpenBytes(bytes, &epoch));
        const bool arrived = copy == 1 || bytes.compare(offset, sizeof(RootSlot), after, offset, sizeof(RootSlot)) == 0;
        EXPECT_EQ(arrived ? switches + 1 : switches, epoch) << "copy " << copy << " words " << subset;
      }
      before.replace(offset, sizeof(RootSlot), after, offset, sizeof(RootSlot));
    }
  }
}

TEST_F(PoolDamageTest, WhatLiesBetweenTheRootsDoesNotMatter) {
  MakePool(4);
  Random random(1);
  std::string bytes = good_;
  for (uint64_t i = sizeof(Superblock); i < kPoolHeaderSize; i++) {
    bool in_slot =
        (i >= RegionEntryOffset(1, 0) && i < RegionEntryOffset(kMaxRegions, 0)) || i >= RegionEntryOffset(1, 1);
    for (uint64_t parity : {0, 1}) {
      for (int copy : {0, 1}) in_slot = in_slot || i - RootSlotOffset(parity, copy) < sizeof(RootSlot);
    }
    if (!in_slot) bytes[i] = static_cast<char>(random.Next64());
  }
  uint64_t epoch;
  EXPECT_OK(OpenBytes(bytes, &epoch));
  EXPECT_EQ(4u, epoch);
}

// The words of a copy that bits name are stored, the others are zero.
std::string Torn(std::string page, uint64_t offset, uint64_t words, uint64_t stored) {
  for (uint64_t word = 0; word < words; word++) {
    if ((stored >> word & 1) == 0) page.replace(offset + 8 * word, 8, 8, '\0');
  }
  return page;
}

// A device has no name by which a whole pool is known from one whose making a crash cut off.
TEST_F(PoolDamageTest, UntilItsFirstRootIsDurableADeviceHoldsNothing) {
  constexpr uint64_t kSuperblockWords = sizeof(Superblock) / 8, kRootWords = sizeof(RootSlot) / 8;
  EXPECT_TRUE(HoldsNothing(std::string(kPoolHeaderSize, '\0').data()));
  MakePool(0);
  std::string page = good_.substr(0, kPoolHeaderSize);
  for (uint64_t stored = 0; stored < uint64_t{1} << kSuperblockWords; stored++) {
    const std::string one = Torn(page, SuperblockOffset(0), kSuperblockWords, stored);
    ASSERT_TRUE(HoldsNothing(Torn(one, SuperblockOffset(1), kSuperblockWords, ~stored).data())) << stored;
  }
  MakePool(1);
  page = good_.substr(0, kPoolHeaderSize);
  EXPECT_FALSE(HoldsNothing(page.data()));
  const std::string first = Torn(page, RootSlotOffset(1, 1), kRootWords, 0);
  EXPECT_FALSE(HoldsNothing(first.data()));
  for (uint64_t stored = 0; stored + 1 < uint64_t{1} << kRootWords; stored++) {
    ASSERT_TRUE(HoldsNothing(Torn(first, RootSlotOffset(1, 0), kRootWords, stored).data())) << stored;
  }
}

TEST_F(PoolDamageTest, ADeviceWithADamagedPoolOrWithOtherDataHoldsSomething) {
  MakePool(3);
  for (const uint64_t offset : {RootSlotOffset(0, 0), RootSlotOffset(0, 1), RootSlotOffset(1, 0), RootSlotOffset(1, 1),
                                SuperblockOffset(0), SuperblockOffset(1)}) {
    good_[offset + 8] = static_cast<char>(good_[offset + 8] ^ 1);
    EXPECT_FALSE(HoldsNothing(good_.data())) << offset;
  }
  MakePool(1);
  for (int copy = 0; copy < kRootCopies; copy++) good_[RootSlotOffset(1, copy) + 8] ^= 1;
  EXPECT_FALSE(HoldsNothing(good_.data()));
  std::string letter(kPoolHeaderSize, '\0');
  letter.replace(512, 8, "Dear all");
  EXPECT_FALSE(HoldsNothing(letter.data()));
  letter = "Dear all" + std::string(kPoolHeaderSize, '\0');
  EXPECT_FALSE(HoldsNothing(letter.data()));
}

TEST_F(PoolDamageTest, AShortFileIsNoPool) {
  MakePool(1);
  uint64_t epoch;
  for (size_t size : {size_t{0}, size_t{1}, size_t{4096}, size_t{8191}}) {
    SCOPED_TRACE(size);
    EXPECT_STATUS(Corruption, OpenBytes(good_.substr(0, size), &epoch));
  }
  EXPECT_STATUS(Corruption, OpenBytes(std::string(good_.size(), '\0'), &epoch));
}

TEST_F(PoolDamageTest, ASecondOpenerIsRefusedUntilTheFirstIsGone) {
  MakePool(1);
  std::unique_ptr<Pool> first, second;
  const Pool::Options options{kLimit, kLimit, kPersistAuto};
  ASSERT_OK(Pool::Open(path_, options, &first));
  EXPECT_STATUS(IOError, Pool::Open(path_, options, &second));
  EXPECT_EQ(nullptr, second);
  first.reset();
  EXPECT_OK(Pool::Open(path_, options, &second));
}

TEST_F(PoolDamageTest, EpochsGoOnAfterAReopen) {
  MakePool(3);
  for (uint64_t next = 4; next < 8; next++) {
    std::unique_ptr<Pool> pool;
    ASSERT_OK(Pool::Open(path_, Pool::Options{kLimit, kLimit, kPersistAuto}, &pool));
    ExtentRef extent;
    ASSERT_OK(pool->Allocate(next * kExtentUnit, ExtentKind::kManifest, &extent));
    ASSERT_OK(pool->SwitchRoot(*extent, 10 * next));
    RootSlot root;
    ASSERT_OK(pool->ReadRoot(&root));
    EXPECT_EQ(next, root.epoch);
    EXPECT_EQ(extent->offset(), root.manifest_offset);
  }
}

}  // namespace
}  // namespace miodb::test
