// Regions and pools while system calls take their time, or after a call failed.

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "src/nvm/pool/pool.h"
#include "src/util/files/posix_file.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"
#include "tests/faults/gate.h"
#include "tests/faults/lossy_files.h"
#include "tests/faults/system_calls.h"
#include "tests/nvm/pool_files.h"

namespace miodb::test {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(PoolCallsTest, GrowingAheadGoesOnWhenTheFileSystemHasSpaceAgain) {
  TestPool pool(64 * kMiB, kMiB);
  const ExtentRef in_use = pool.Allocate(3 * kMiB);  // a pool in use grows ahead
  CallFault fault;
  fault.at = 1;
  fault.error = ENOSPC;
  fault.only = "posix_fallocate";
  ArmCallFault(fault);
  EXPECT_FALSE(pool->GrowAhead(2 * kMiB));
  EXPECT_FALSE(pool->GrowAhead(2 * kMiB)) << "a full file system is not asked again and again";
  EXPECT_EQ(1u, CallsOf("posix_fallocate"));
  EXPECT_EQ(1u, DisarmCallFault());
  const ExtentRef extent = pool.Allocate(3 * kMiB);  // whoever needs space asks
  EXPECT_TRUE(pool->GrowAhead(8 * kMiB)) << "and it has some";
}

TEST(PoolCallsTest, NobodyWaitsWhileAFileSystemIsMeasured) {
  TestPool pool(0, kMiB);
  const ExtentRef extent = pool.Allocate(3 * kMiB);  // a pool in use grows ahead
  Gate gate;
  PretendFileSystems([&gate](struct statfs*) { gate.Pass(); });
  std::future<bool> growing = std::async(std::launch::async, [&] { return pool->GrowAhead(4 * kMiB); });
  gate.WaitUntilHeld();
  std::future<uint64_t> used = std::async(std::launch::async, [&] { return pool->used_bytes(); });
  EXPECT_EQ(std::future_status::ready, used.wait_for(kForEver));
  gate.Release();
  EXPECT_TRUE(growing.get());
  PretendFileSystems(nullptr);
}

// Stores in one mode are not synced in that mode; a later owner in file mode builds on them.
TEST(RegionCallsTest, AnOwnerInFileModeSyncsWhatAnotherModeHasLeft) {
  TestDir dir;
  const std::string path = dir / "region", stored = "stored without a sync";
  for (const PersistMode mode : {kPersistEmulated, kPersistFile}) {
    LossyFiles files(dir.path(), false);
    std::unique_ptr<Region> region;
    ASSERT_OK(Region::Create(path, kMiB, kMiB, kPersistEmulated, &region));
    ASSERT_OK(region->SyncFile());
    ASSERT_OK(SyncDirectoryOf(path));
    memcpy(region->base() + kPoolHeaderSize, stored.data(), stored.size());
    region.reset();
    ASSERT_OK(Region::Open(path, kMiB, mode, &region));
    const std::string left = files.Take(nullptr).files["region"];
    ASSERT_EQ(kMiB, left.size());
    EXPECT_EQ(mode == kPersistFile, left.compare(kPoolHeaderSize, stored.size(), stored) == 0);
    region.reset();
    std::filesystem::remove(path);
  }
}

TEST(RegionCallsTest, AnOwnerInFileModeIsToldThatASyncFailed) {
  TestDir dir;
  std::unique_ptr<Region> region;
  ASSERT_OK(Region::Create(dir / "region", kMiB, kMiB, kPersistFile, &region));
  region.reset();
  CallFault fault;
  fault.at = 1;
  fault.error = EIO;
  fault.only = "fsync";
  ArmCallFault(fault);
  EXPECT_STATUS(IOError, Region::Open(dir / "region", kMiB, kPersistFile, &region));
  EXPECT_EQ(1u, DisarmCallFault());
  EXPECT_EQ(nullptr, region);
}

// btrfs, simulated: nothing here can be told not to copy on write.
class CopyOnWriteTest : public testing::Test {
 protected:
  static constexpr uint64_t kBlock = 4096;

  static void PretendBtrfs(uint64_t available) {
    PretendFileSystems([available](struct statfs* fs) {
      fs->f_type = BTRFS_SUPER_MAGIC;
      fs->f_frsize = fs->f_bsize = kBlock;
      fs->f_blocks = 1 << 20;
      fs->f_bavail = available / kBlock;
    });
  }
  ~CopyOnWriteTest() override { PretendFileSystems(nullptr); }

  TestDir dir_;
  const std::string path_ = dir_ / "region";
  std::unique_ptr<Region> region_;
};

TEST_F(CopyOnWriteTest, NoPoolIsMadeWhereItCannotBeTurnedOff) {
  PretendBtrfs(uint64_t{1} << 30);
  const Status s = Region::Create(path_, kMiB, kMiB, kPersistAuto, &region_);
  EXPECT_STATUS(NotSupportedError, s);
  EXPECT_TRUE(Mentions(s, path_)) << s.ToString();
  EXPECT_TRUE(Mentions(s, "copies on write")) << s.ToString();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(CopyOnWriteTest, ACopyIsOpenedIfThereIsRoomForTheStoresOfAnOpen) {
  ASSERT_OK(Region::Create(path_, kMiB, kMiB, kPersistAuto, &region_));
  EXPECT_FALSE(region_->file().copies_on_write());
  region_.reset();
  PretendBtrfs(kMiB - kBlock);
  const Status s = Region::Open(path_, kMiB, kPersistAuto, &region_);
  EXPECT_STATUS(NoSpace, s);
  EXPECT_TRUE(Mentions(s, path_)) << s.ToString();
  EXPECT_TRUE(Mentions(s, "chattr +C")) << s.ToString();
  PretendBtrfs(kMiB);
  ASSERT_OK(Region::Open(path_, kMiB, kPersistAuto, &region_));
  EXPECT_TRUE(region_->file().copies_on_write());
}

}  // namespace
}  // namespace miodb::test
