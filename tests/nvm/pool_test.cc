#include "src/nvm/pool/pool.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "src/nvm/pool/pool_names.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"
#include "tests/nvm/pool_files.h"

namespace miodb::test {
namespace {

constexpr uint64_t kUnit = kExtentUnit;
constexpr uint64_t kMiB = uint64_t{1} << 20;

class PoolTest : public testing::Test {
 protected:
  static Pool::Options Limits(uint64_t limit, uint64_t growth) {
    Pool::Options options;
    options.limit = limit;
    options.growth = growth;
    return options;
  }

  Status Create(uint64_t limit = 16 * kMiB, uint64_t growth = kMiB) {
    pool_.reset();
    return Pool::Create(path_, Limits(limit, growth), &pool_);
  }

  // A published pool whose root names one extent.
  void CreateWithRoot(uint64_t limit = 16 * kMiB, uint64_t growth = kMiB) {
    ASSERT_OK(Create(limit, growth));
    ExtentRef root;
    ASSERT_OK(pool_->Allocate(kUnit, ExtentKind::kManifest, &root));
    ASSERT_OK(pool_->SwitchRoot(*root, 1));
    ASSERT_OK(pool_->Publish());
  }

  Status Open(uint64_t limit = 16 * kMiB, uint64_t growth = kMiB) {
    pool_.reset();
    return Pool::Open(path_, Limits(limit, growth), &pool_);
  }

  // Takes extents of size bytes until there is no space; says how many.
  uint64_t Fill(uint64_t size, std::vector<ExtentRef>* extents) {
    for (;;) {
      ExtentRef extent;
      const Status s = pool_->Allocate(size, ExtentKind::kLog, &extent);
      if (!s.ok()) {
        EXPECT_STATUS(NoSpace, s);
        return extents->size();
      }
      extents->push_back(std::move(extent));
    }
  }

  // Leaves holes of one unit in a pool that was filled with single units, and takes all else.
  void Scatter(std::vector<ExtentRef>* extents) {
    for (size_t i = 0; i < extents->size(); i += 2) (*extents)[i].reset();
  }

  TestDir dir_;
  const std::string path_ = dir_ / "pool";
  std::unique_ptr<Pool> pool_;
};

TEST_F(PoolTest, PublishMakesThePool) {
  ASSERT_OK(Create());
  EXPECT_FALSE(std::filesystem::exists(path_));
  RootSlot root;
  EXPECT_STATUS(Corruption, pool_->ReadRoot(&root));
  ExtentRef manifest;
  ASSERT_OK(pool_->Allocate(kUnit, ExtentKind::kManifest, &manifest));
  ASSERT_OK(pool_->SwitchRoot(*manifest, 77));
  const PmRef offset = manifest->offset();
  manifest.reset();
  ASSERT_OK(pool_->Publish());
  EXPECT_TRUE(std::filesystem::exists(path_));
  ASSERT_OK(Open());
  ASSERT_OK(pool_->ReadRoot(&root));
  EXPECT_EQ(1u, root.epoch);
  EXPECT_EQ(offset, root.manifest_offset);
  EXPECT_EQ(kUnit, root.manifest_size);
  EXPECT_EQ(77u, root.generation);
}

TEST_F(PoolTest, ACrashBeforePublishLeavesNoPoolAndTheNextCreateCleansUp) {
  ASSERT_OK(Create());
  const std::string temporary = path_ + ".tmp";
  EXPECT_TRUE(std::filesystem::exists(temporary));
  const std::string left_behind = ReadFileBytes(temporary);
  pool_.reset();
  EXPECT_FALSE(std::filesystem::exists(temporary)) << "without a crash nothing is left behind";
  WriteFileBytes(temporary, left_behind);
  EXPECT_STATUS(IOError, Open());
  Pool::Options again = Limits(kMiB, kMiB);
  Superblock superblock;
  memcpy(&superblock, left_behind.data(), sizeof(superblock));
  memcpy(again.uuid.data(), superblock.uuid, sizeof(superblock.uuid));
  ASSERT_OK(Pool::Create(path_, again, &pool_));
  EXPECT_EQ(temporary, pool_->regions().first().path());
  EXPECT_FALSE(std::filesystem::exists(temporary + ".2"));
}

TEST_F(PoolTest, ATemporaryFileOfAnybodyElseStays) {
  const std::string temporary = path_ + ".tmp";
  ASSERT_OK(Create());
  const std::string another = ReadFileBytes(temporary);
  pool_.reset();
  for (const std::string& bytes : {another, std::string("somebody's"), std::string(8192, '\0')}) {
    WriteFileBytes(temporary, bytes);
    CreateWithRoot();
    EXPECT_TRUE(bytes == ReadFileBytes(temporary));
    EXPECT_FALSE(std::filesystem::exists(temporary + ".2"));
    EXPECT_OK(Open());
    pool_.reset();
    ASSERT_TRUE(std::filesystem::remove(path_));
  }
}

TEST_F(PoolTest, AFailedPublishLeavesNothing) {
  ASSERT_OK(Create());
  ASSERT_TRUE(std::filesystem::create_directory(path_));  // in the way
  WriteFileBytes(path_ + "/file", "");
  EXPECT_FALSE(pool_->Publish().ok());
  pool_.reset();
  EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
}

TEST_F(PoolTest, ACreateThatIsUnderWayIsNotDisturbed) {
  ASSERT_OK(Create());
  std::unique_ptr<Pool> second;
  EXPECT_OK(Pool::Create(path_, Limits(kMiB, kMiB), &second));  // under another temporary name
  EXPECT_OK(Pool::Destroy(path_));
  EXPECT_TRUE(std::filesystem::exists(path_ + ".tmp"));
  EXPECT_OK(pool_->Publish());
  EXPECT_STATUS(IOError, second->Publish());
  EXPECT_STATUS(IOError, Pool::Destroy(path_));
}

TEST_F(PoolTest, PublishReplacesNoOtherPool) {
  CreateWithRoot();
  const std::string first = ReadFileBytes(path_);
  pool_.reset();
  std::unique_ptr<Pool> second;
  ASSERT_OK(Pool::Create(path_, Limits(kMiB, kMiB), &second));
  EXPECT_FALSE(second->Publish().ok());
  second.reset();
  EXPECT_TRUE(first == ReadFileBytes(path_));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
}

TEST_F(PoolTest, DestroyRemovesThePoolAndNothingElse) {
  CreateWithRoot();
  pool_.reset();
  WriteFileBytes(path_ + ".tmp", "somebody's");
  ASSERT_OK(Pool::Destroy(path_));
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_TRUE(std::filesystem::exists(path_ + ".tmp"));
  EXPECT_OK(Pool::Destroy(path_));
}

TEST_F(PoolTest, OpensWithAllSpaceFree) {
  CreateWithRoot();
  std::vector<ExtentRef> extents(5);
  for (ExtentRef& extent : extents) ASSERT_OK(pool_->Allocate(3 * kUnit, ExtentKind::kLog, &extent));
  EXPECT_EQ(kPoolHeaderSize + 15 * kUnit, pool_->used_bytes());
  extents.clear();
  EXPECT_EQ(kPoolHeaderSize, pool_->used_bytes());
  ASSERT_OK(Open());
  EXPECT_EQ(kPoolHeaderSize, pool_->used_bytes());
  EXPECT_EQ(pool_->capacity() - kPoolHeaderSize, pool_->Room().free);
}

TEST_F(PoolTest, GrowsUpToItsLimitAndSaysNoSpaceExactlyThere) {
  for (uint64_t limit : {64 * 1024 + 0, 64 * 1024 + 100, 1024 * 1024, 1024 * 1024 + 4096, 3 * 1024 * 1024 + 8191}) {
    for (uint64_t growth : {kUnit, 64 * 1024 + uint64_t{0}, uint64_t{1} << 30}) {
      SCOPED_TRACE(testing::Message() << "limit " << limit << " growth " << growth);
      ASSERT_OK(Create(limit, growth));
      std::vector<ExtentRef> extents;
      EXPECT_EQ(limit / kUnit - 1, Fill(kUnit, &extents));
      EXPECT_EQ(limit / kUnit * kUnit, pool_->used_bytes() / kUnit * kUnit);
      EXPECT_LE(pool_->file_bytes(), limit);
      EXPECT_EQ(limit, pool_->capacity());
      extents.pop_back();
      ExtentRef extent;
      EXPECT_OK(pool_->Allocate(kUnit, ExtentKind::kLog, &extent));
      EXPECT_STATUS(NoSpace, pool_->Allocate(1, ExtentKind::kLog, &extent));
    }
  }
}

TEST_F(PoolTest, GivesOneExtentOfEverything) {
  ASSERT_OK(Create(8 * kMiB, kUnit));
  ExtentRef extent;
  EXPECT_STATUS(NoSpace, pool_->Allocate(8 * kMiB - kPoolHeaderSize + 1, ExtentKind::kLog, &extent));
  EXPECT_EQ(kInitialRegionSize, pool_->file_bytes()) << "what cannot be had must not make the file grow";
  ASSERT_OK(pool_->Allocate(8 * kMiB - kPoolHeaderSize, ExtentKind::kLog, &extent));
  EXPECT_EQ(0u, pool_->Room().free);
  EXPECT_EQ(8 * kMiB, pool_->file_bytes());
}

TEST_F(PoolTest, GrowsByWhatIsInUseUpToItsStepAndUsesTheFreeTailOfTheFile) {
  ASSERT_OK(Create(64 * kMiB, 4 * kMiB));
  EXPECT_EQ(kInitialRegionSize, pool_->file_bytes());
  ExtentRef first, second, third, fourth;
  ASSERT_OK(pool_->Allocate(kMiB, ExtentKind::kLog, &first));
  EXPECT_EQ(kMiB + kPoolHeaderSize, pool_->file_bytes()) << "little was in use";
  ASSERT_OK(pool_->Allocate(64 * 1024, ExtentKind::kLog, &second));
  EXPECT_EQ(2 * kMiB + 2 * kPoolHeaderSize, pool_->file_bytes()) << "twice as large";
  // Fits exactly if the free tail and what is missing are joined.
  ASSERT_OK(pool_->Allocate(8 * kMiB - 64 * 1024 - kPoolHeaderSize, ExtentKind::kLog, &third));
  EXPECT_EQ(9 * kMiB, pool_->file_bytes());
  EXPECT_EQ(second->end(), third->offset());
  ASSERT_OK(pool_->Allocate(kUnit, ExtentKind::kLog, &fourth));
  EXPECT_EQ(13 * kMiB, pool_->file_bytes()) << "one step";
}

TEST_F(PoolTest, GrowsAheadOfNeedByWhatIsInUse) {
  ASSERT_OK(Create(64 * kMiB, 4 * kMiB));
  EXPECT_FALSE(pool_->GrowAhead(2 * kMiB)) << "a new file has enough for what little there is";
  ExtentRef first, second;
  ASSERT_OK(pool_->Allocate(kMiB - kPoolHeaderSize, ExtentKind::kLog, &first));
  EXPECT_TRUE(pool_->GrowAhead(2 * kMiB));
  EXPECT_EQ(2 * kMiB, pool_->file_bytes());
  EXPECT_FALSE(pool_->GrowAhead(2 * kMiB)) << "as much is free as is in use";
  ASSERT_OK(pool_->Allocate(7 * kMiB, ExtentKind::kLog, &second));
  EXPECT_TRUE(pool_->GrowAhead(2 * kMiB));
  EXPECT_EQ(12 * kMiB, pool_->file_bytes()) << "one step";
  EXPECT_FALSE(pool_->GrowAhead(2 * kMiB));
}

// ---- Storage that goes back

class GivenBackTest : public PoolTest {
 protected:
  // Bytes of storage of the file, whose name is temporary before Publish.
  uint64_t Stored() const {
    struct stat st;
    EXPECT_EQ(0, stat(pool_->regions().first().path().c_str(), &st));
    return static_cast<uint64_t>(st.st_blocks) * 512;
  }

  // An extent that is full of a letter.
  ExtentRef Filled(uint64_t size, char letter) {
    ExtentRef extent;
    EXPECT_OK(pool_->Allocate(size, ExtentKind::kLog, &extent));
    if (extent != nullptr) memset(extent->data(), letter, size);
    return extent;
  }

  static void ExpectFull(const Extent& extent, char letter) {
    EXPECT_EQ(std::string(extent.size(), letter), std::string(extent.data(), extent.size()));
  }
};

TEST_F(GivenBackTest, IsWhatStayedFreeThroughAWindow) {
  ASSERT_OK(Create(256 * kMiB, kMiB));
  ExtentRef big = Filled(64 * kMiB, 'b');
  const ExtentRef small = Filled(4 * kMiB, 's');
  big.reset();
  EXPECT_FALSE(pool_->GiveBackIdle(100, 1000, 0)) << "the window begins";
  Filled(40 * kMiB, 'x').reset();
  EXPECT_FALSE(pool_->GiveBackIdle(1099, 1000, 0)) << "before it ends";
  EXPECT_GE(Stored(), 68 * kMiB);
  EXPECT_TRUE(pool_->GiveBackIdle(1100, 1000, 0));
  while (pool_->GiveBackIdle(1101, 1000, 0)) continue;  // piece by piece
  // 24 MiB were not used; a quarter of what is in use is kept.
  EXPECT_LE(Stored(), (68 - 24 + 2) * kMiB);
  EXPECT_GE(Stored(), (68 - 24) * kMiB);
  EXPECT_TRUE(pool_->GiveBackIdle(2100, 1000, 0));
  while (pool_->GiveBackIdle(2101, 1000, 0)) continue;
  EXPECT_FALSE(pool_->GiveBackIdle(3101, 1000, 0));
  EXPECT_LE(Stored(), 6 * kMiB);
  EXPECT_GE(Stored(), 5 * kMiB);
  ExpectFull(*small, 's');
}

// A window without length has no past: an extent that was taken before it, when less was free, keeps nothing back.
TEST_F(GivenBackTest, AtRestIsWhatIsFreeAtTheMoment) {
  ASSERT_OK(Create(64 * kMiB, kMiB));
  ExtentRef big = Filled(16 * kMiB, 'b');
  const ExtentRef small = Filled(kMiB, 's');
  while (pool_->GiveBackIdle(1, 0, 0, KeptFree::kAtRest)) continue;
  const ExtentRef taken = Filled(kMiB, 't');
  big.reset();
  EXPECT_TRUE(pool_->GiveBackIdle(2, 0, 0, KeptFree::kAtRest));
  while (pool_->GiveBackIdle(3, 0, 0, KeptFree::kAtRest)) continue;
  EXPECT_LE(Stored(), 3 * kMiB);
  ExpectFull(*small, 's');
  ExpectFull(*taken, 't');
}

TEST_F(GivenBackTest, IsTakenAgainBeforeAnybodyGetsIt) {
  ASSERT_OK(Create(64 * kMiB, kMiB));
  Random random(7);
  std::vector<std::pair<ExtentRef, char>> extents;
  for (uint64_t i = 0; i < 400; i++) {
    if (extents.size() > 20 || random.OneIn(3)) {
      for (uint64_t n = random.Uniform(10); n > 0 && !extents.empty(); n--) {
        extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(random.Uniform(extents.size())));
      }
    }
    while (pool_->GiveBackIdle(i, 0, 0)) {
    }
    const char letter = static_cast<char>('a' + i % 26);
    ExtentRef extent = Filled(kUnit * (1 + random.Uniform(256)), letter);
    ASSERT_NE(nullptr, extent);
    extents.emplace_back(std::move(extent), letter);
    uint64_t used = kPoolHeaderSize;
    for (const auto& [kept, of] : extents) used += kept->size();
    ASSERT_EQ(used, pool_->used_bytes());
    ASSERT_GE(Stored(), used);
  }
  EXPECT_GT(pool_->space().growth().given_back.load(), 10 * kMiB);
  for (const auto& [extent, letter] : extents) ExpectFull(*extent, letter);
}

TEST_F(GivenBackTest, AtTheEndShortensTheFile) {
  CreateWithRoot(256 * kMiB, kMiB);
  ExtentRef low = Filled(16 * kMiB, 'l');
  const ExtentRef middle = Filled(4 * kMiB, 'm');
  Filled(32 * kMiB, 'h').reset();
  low.reset();
  pool_->GiveBackAll(0);
  EXPECT_LE(pool_->file_bytes(), 21 * kMiB);
  EXPECT_LE(Stored(), 7 * kMiB);
  ExpectFull(*middle, 'm');
  const ExtentRef again = Filled(64 * kMiB, 'a');
  ExpectFull(*middle, 'm');
}

// Space that a killed process gave back is told from space that it did not give back.
TEST_F(GivenBackTest, IsFoundAtTheNextOpen) {
  CreateWithRoot(256 * kMiB, kMiB);
  ExtentRef low = Filled(16 * kMiB, 'l');
  ExtentRef middle = Filled(4 * kMiB, 'm');
  ExtentRef high = Filled(32 * kMiB, 'h');
  const uint64_t place = middle->offset();
  high.reset();
  while (pool_->GiveBackIdle(1, 0, 0)) {
  }
  const uint64_t stored = Stored();
  EXPECT_LE(stored, 30 * kMiB);
  low->Abandon();
  middle->Abandon();
  low = middle = nullptr;
  ASSERT_OK(Open(256 * kMiB, kMiB));
  ASSERT_OK(pool_->Claim(place, 4 * kMiB, ExtentKind::kLog, &middle));
  EXPECT_EQ(stored, Stored()) << "nothing that has storage is filled, and nothing else is in use";
  while (pool_->GiveBackIdle(1, 0, 0)) {
  }
  EXPECT_LE(Stored(), 6 * kMiB);
  ExpectFull(*middle, 'm');
  high = Filled(64 * kMiB, 'h');
  EXPECT_GE(Stored(), 68 * kMiB);
  ExpectFull(*middle, 'm');
}

TEST_F(GivenBackTest, IsOfEveryRegion) {
  CreateWithRoot(8 * kMiB, kMiB);
  const std::string second = dir_ / "second";
  ASSERT_OK(pool_->AddRegion({second, 64 * kMiB}));
  ExtentRef first = Filled(6 * kMiB, 'f');
  ExtentRef high = Filled(16 * kMiB, 'h');
  ExtentRef kept = Filled(2 * kMiB, 'k');
  const PmRef place = kept->offset();
  ASSERT_GE(place, pool_->regions().at(1).base);
  first.reset();
  high.reset();
  while (pool_->GiveBackIdle(1, 0, 0)) {
  }
  EXPECT_LE(pool_->regions().at(0).region->stored_bytes() + pool_->regions().at(1).region->stored_bytes(), 5 * kMiB);
  kept->Abandon();
  kept = nullptr;
  pool_.reset();
  Pool::Options options = Limits(8 * kMiB, kMiB);
  options.regions = {{second, 64 * kMiB}};
  ASSERT_OK(Pool::Open(path_, options, &pool_));
  ASSERT_EQ(2, pool_->regions().count());
  ASSERT_OK(pool_->Claim(place, 2 * kMiB, ExtentKind::kLog, &kept));
  ExpectFull(*kept, 'k');
  first = Filled(6 * kMiB, 'f');
  high = Filled(40 * kMiB, 'h');
  EXPECT_GE(pool_->regions().at(1).region->stored_bytes(), 42 * kMiB);
  ExpectFull(*kept, 'k');
}

// A reserve stays, but no more of it than is in use.
TEST_F(GivenBackTest, IsNotTheReserve) {
  ASSERT_OK(Create(256 * kMiB, kMiB));
  const ExtentRef used = Filled(16 * kMiB, 'u');
  Filled(64 * kMiB, 'x').reset();
  pool_->GiveBackAll(8 * kMiB);
  EXPECT_GE(Stored(), 24 * kMiB);
  EXPECT_LE(Stored(), 25 * kMiB);
  Filled(64 * kMiB, 'x').reset();
  pool_->GiveBackAll(1000 * kMiB);
  EXPECT_GE(Stored(), 32 * kMiB);
  EXPECT_LE(Stored(), 33 * kMiB);
}

TEST_F(GivenBackTest, IsNothingOnceSpaceIsNotReused) {
  ASSERT_OK(Create(256 * kMiB, kMiB));
  Filled(32 * kMiB, 'x').reset();
  pool_->StopReuse();
  EXPECT_FALSE(pool_->GiveBackIdle(1, 0, 0));
  pool_->GiveBackAll(0);
  EXPECT_GE(Stored(), 32 * kMiB);
}

TEST_F(PoolTest, LeavesFreeAsManyBytesAsItWasToldTo) {
  ASSERT_OK(Create(kMiB, kMiB));
  const uint64_t all = kMiB - kPoolHeaderSize;
  for (uint64_t leave : {uint64_t{1}, kUnit, 100 * kUnit, all - kUnit}) {
    SCOPED_TRACE(leave);
    const uint64_t most = (all - leave) / kUnit * kUnit;
    ExtentRef extent;
    EXPECT_STATUS(NoSpace, pool_->AllocateAtMost(most + 1, most + 1, leave, ExtentKind::kLog, &extent));
    ASSERT_OK(pool_->AllocateAtMost(all, kUnit, leave, ExtentKind::kLog, &extent));
    EXPECT_EQ(most, extent->size()) << "settles for what is left";
    EXPECT_EQ(all - most, pool_->Room().free);
    extent.reset();
    EXPECT_OK(pool_->AllocateAtMost(most, most, leave, ExtentKind::kLog, &extent));
  }
  ExtentRef extent;
  EXPECT_STATUS(NoSpace, pool_->AllocateAtMost(kUnit, kUnit, all, ExtentKind::kLog, &extent));
  EXPECT_STATUS(NoSpace, pool_->AllocateAtMost(kUnit, kUnit, 2 * all, ExtentKind::kLog, &extent));
}

TEST_F(PoolTest, RoundsUpToUnits) {
  ASSERT_OK(Create());
  for (uint64_t size : {uint64_t{1}, kUnit - 1, kUnit, kUnit + 1}) {
    ExtentRef extent;
    ASSERT_OK(pool_->Allocate(size, ExtentKind::kIndex, &extent));
    EXPECT_EQ((size + kUnit - 1) / kUnit * kUnit, extent->size());
    EXPECT_EQ(0u, extent->offset() % kUnit);
    EXPECT_EQ(ExtentKind::kIndex, extent->kind());
    EXPECT_EQ(pool_->At(extent->offset()), extent->data());
    EXPECT_EQ(pool_->At(0) + extent->offset(), extent->data());
    EXPECT_TRUE(extent->Contains(extent->offset()) && extent->Contains(extent->end() - 1));
    EXPECT_FALSE(extent->Contains(extent->end()) || extent->Contains(extent->offset() - 1));
  }
}

TEST_F(PoolTest, AllocateAtMostSettlesForTheLongestRun) {
  ASSERT_OK(Create(kMiB, kMiB));
  std::vector<ExtentRef> extents;
  const uint64_t count = Fill(kUnit, &extents);
  Scatter(&extents);
  extents[101].reset();  // joins two holes to one of three units
  ExtentRef extent;
  EXPECT_STATUS(NoSpace, pool_->Allocate(4 * kUnit, ExtentKind::kIndex, &extent));
  EXPECT_STATUS(NoSpace, pool_->AllocateAtMost(5 * kUnit, 4 * kUnit, 0, ExtentKind::kIndex, &extent));
  EXPECT_EQ(nullptr, extent);
  ASSERT_OK(pool_->AllocateAtMost(5 * kUnit, kUnit + 1, 0, ExtentKind::kIndex, &extent));
  EXPECT_EQ(3 * kUnit, extent->size());
  ExtentRef small;
  ASSERT_OK(pool_->AllocateAtMost(5 * kUnit, 1, 0, ExtentKind::kIndex, &small));
  EXPECT_EQ(kUnit, small->size());
  EXPECT_EQ(((count + 1) / 2 - 3) * kUnit, pool_->Room().free);
}

TEST_F(PoolTest, AllocateAtMostTakesAllIfThereIsRoom) {
  ASSERT_OK(Create(16 * kMiB, kMiB));
  ExtentRef extent;
  ASSERT_OK(pool_->AllocateAtMost(5 * kMiB, kUnit, 0, ExtentKind::kIndex, &extent));
  EXPECT_EQ(5 * kMiB, extent->size());
}

// The file is full, the pool is not: what is wanted does not fit below the limit, but more than the least does.
TEST_F(PoolTest, AllocateAtMostGrowsTheFileForAShorterExtent) {
  ASSERT_OK(Create(4 * kMiB, kMiB));
  ExtentRef first, extent;
  ASSERT_OK(pool_->Allocate(kMiB - kPoolHeaderSize, ExtentKind::kLog, &first));
  EXPECT_EQ(kMiB, pool_->file_bytes());
  EXPECT_OK(pool_->AllocateAtMost(4 * kMiB, kUnit, 0, ExtentKind::kIndex, &extent));
}

// Both regions together have room for 12 MiB, neither has alone.
TEST_F(PoolTest, AllocateAtMostGrowsTheRegionWithMostRoom) {
  CreateWithRoot(8 * kMiB, kMiB);
  ExtentRef unit, of_second, of_first, none;
  ASSERT_OK(pool_->Allocate(kUnit, ExtentKind::kLog, &unit));
  ASSERT_OK(pool_->AddRegion({dir_ / "second", 8 * kMiB}));
  ASSERT_OK(pool_->AllocateAtMost(12 * kMiB, 4 * kMiB, 0, ExtentKind::kIndex, &of_second));
  EXPECT_EQ(pool_->regions().at(1).base + kPoolHeaderSize, of_second->offset());
  EXPECT_EQ(8 * kMiB - kPoolHeaderSize, of_second->size());
  ASSERT_OK(pool_->AllocateAtMost(12 * kMiB, 4 * kMiB, 0, ExtentKind::kIndex, &of_first));
  EXPECT_EQ(8 * kMiB - kPoolHeaderSize - kUnit, of_first->size());
  EXPECT_STATUS(NoSpace, pool_->AllocateAtMost(12 * kMiB, kUnit, 0, ExtentKind::kIndex, &none));
}

// The first region has more room, but in pieces.
TEST_F(PoolTest, AllocateAtMostGrowsARegionForLongerThanThePiecesOfAnother) {
  CreateWithRoot(4 * kMiB, kMiB);
  std::vector<ExtentRef> extents;
  Fill(kUnit, &extents);
  Scatter(&extents);
  ASSERT_OK(pool_->AddRegion({dir_ / "second", 2 * kMiB}));
  ExtentRef extent, piece;
  ASSERT_OK(pool_->AllocateAtMost(3 * kMiB, kMiB, 0, ExtentKind::kIndex, &extent));
  EXPECT_EQ(2 * kMiB - kPoolHeaderSize, extent->size());
  EXPECT_STATUS(NoSpace, pool_->AllocateAtMost(3 * kMiB, kMiB, 0, ExtentKind::kIndex, &piece));
  ASSERT_OK(pool_->AllocateAtMost(kMiB, kUnit, 0, ExtentKind::kIndex, &piece));
  EXPECT_EQ(kUnit, piece->size());
}

TEST_F(PoolTest, ClaimsEachRangeOnce) {
  CreateWithRoot();
  ASSERT_OK(Open());
  const uint64_t end = pool_->file_bytes();
  ExtentRef a, b, refused;
  ASSERT_OK(pool_->Claim(10 * kUnit, 4 * kUnit, ExtentKind::kSettled, &a));
  EXPECT_EQ(10 * kUnit, a->offset());
  EXPECT_EQ(4 * kUnit, a->size());
  EXPECT_EQ(ExtentKind::kSettled, a->kind());
  struct Range {
    uint64_t offset, size;
  };
  for (const Range& taken : {Range{10, 4}, Range{10, 1}, Range{13, 1}, Range{9, 2}, Range{13, 5}, Range{5, 50}}) {
    const Status s = pool_->Claim(taken.offset * kUnit, taken.size * kUnit, ExtentKind::kLog, &refused);
    EXPECT_STATUS(Corruption, s);
    EXPECT_TRUE(Mentions(s, "twice"));
  }
  for (const Range& outside :
       {Range{0, kUnit}, Range{0, 2 * kUnit}, Range{kUnit, 0}, Range{kUnit + 1, kUnit}, Range{kUnit, kUnit - 1},
        Range{end, kUnit}, Range{end - kUnit, 2 * kUnit}, Range{UINT64_MAX / kUnit * kUnit, kUnit},
        Range{20 * kUnit, UINT64_MAX / kUnit * kUnit}}) {
    EXPECT_STATUS(Corruption, pool_->Claim(outside.offset, outside.size, ExtentKind::kLog, &refused));
  }
  EXPECT_EQ(nullptr, refused);
  EXPECT_EQ(kPoolHeaderSize + 4 * kUnit, pool_->used_bytes());
  ASSERT_OK(pool_->Claim(14 * kUnit, end - 14 * kUnit, ExtentKind::kLog, &b));
  ASSERT_OK(pool_->Claim(kUnit, 9 * kUnit, ExtentKind::kLog, &refused));
  EXPECT_EQ(end, pool_->used_bytes());
}

TEST_F(PoolTest, ReadableIsWhatLiesInTheFile) {
  CreateWithRoot();
  const uint64_t end = pool_->file_bytes();
  EXPECT_TRUE(pool_->Readable(kPoolHeaderSize, end - kPoolHeaderSize));
  EXPECT_TRUE(pool_->Readable(end, 0));
  EXPECT_FALSE(pool_->Readable(kPoolHeaderSize - 1, 1));
  EXPECT_FALSE(pool_->Readable(0, 0));
  EXPECT_FALSE(pool_->Readable(end, 1));
  EXPECT_FALSE(pool_->Readable(end - 1, 2));
  EXPECT_FALSE(pool_->Readable(UINT64_MAX, 2));
  EXPECT_FALSE(pool_->Readable(kPoolHeaderSize, UINT64_MAX));
}

TEST_F(PoolTest, WithoutALimitTheFileSystemIsTheLimit) {
  ASSERT_OK(Create(0, 8 * kMiB));
  EXPECT_GT(pool_->capacity(), pool_->file_bytes());
  ExtentRef extent;
  ASSERT_OK(pool_->Allocate(20 * kMiB, ExtentKind::kLog, &extent));
  EXPECT_GE(pool_->file_bytes(), 20 * kMiB);
  EXPECT_STATUS(NoSpace, pool_->Allocate(pool_->capacity(), ExtentKind::kLog, &extent));
}

}  // namespace
}  // namespace miodb::test
