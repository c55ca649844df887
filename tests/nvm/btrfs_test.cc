// A btrfs that is full: files that are made there are written in place, and no store is a SIGBUS.

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "src/nvm/persist/persist.h"
#include "src/nvm/region/region.h"
#include "tests/common/in_child.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"
#include "tests/nvm/pool_files.h"

namespace miodb::test {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kSize = 4 * kMiB;

// Makes a btrfs in a file and mounts it; skips the test where that is not allowed.
class BtrfsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(mount_);
    const std::string image = dir_ / "image";
    WriteFileBytes(image, "");
    ASSERT_EQ(0, truncate(image.c_str(), 160 * kMiB));
    const std::string commands = "exec >/dev/null 2>&1; PATH=$PATH:/sbin:/usr/sbin; mkfs.btrfs " + image +
                                 " && mount -o loop " + image + " " + mount_;
    mounted_ = std::system(commands.c_str()) == 0;
    if (!mounted_) GTEST_SKIP() << "no btrfs can be made and mounted here";
    ASSERT_OK(Region::Create(path_, kSize, kSize, kPersistAuto, &region_));
    EXPECT_EQ(kPersistFile, region_->mode());
    EXPECT_FALSE(region_->file().copies_on_write());
    memset(region_->base(), 'x', kSize);
    Persist persist(region_->mode());
    persist.Flush(Purpose::kFlush, region_->base(), kSize);
    ASSERT_OK(persist.Fence(Purpose::kFlush));
    region_.reset();
  }
  void TearDown() override {
    region_.reset();
    if (mounted_) umount2(mount_.c_str(), MNT_DETACH);
  }

  void FillMount() const {
    std::ofstream file(mount_ + "/filler", std::ios::binary);
    const std::string block(kMiB, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) continue;
    sync();
  }

  // Opens the region and stores into some of its pages.
  int OpenAndStore() {
    if (!Region::Open(path_, kSize, kPersistAuto, &region_).ok()) return 2;
    Persist persist(region_->mode());
    for (uint64_t page = 0; page < kSize; page += kSize / 64) {
      persist.Copy(Purpose::kFlush, region_->base() + page, "stored", 6);
    }
    return persist.Fence(Purpose::kFlush).ok() ? 0 : 3;
  }

  TestDir dir_;
  const std::string mount_ = dir_ / "mount";
  const std::string path_ = mount_ + "/region";
  std::unique_ptr<Region> region_;
  bool mounted_ = false;
};

// Seen with kernel 6.18.
TEST_F(BtrfsTest, NoStoreIsASignalWhenItIsFull) {
  FillMount();
  EXPECT_EQ(0, InChild([this] { return OpenAndStore(); }));
  ASSERT_OK(Region::Open(path_, kSize, kPersistAuto, &region_));
  EXPECT_EQ(0, memcmp(region_->base() + kSize / 2, "storedxx", 8));
}

TEST_F(BtrfsTest, ACopyIsOpenedOnlyWithRoomForItsStores) {
  const std::string bytes = ReadFileBytes(path_);
  ASSERT_EQ(0, unlink(path_.c_str()));
  WriteFileBytes(path_, bytes);
  ASSERT_OK(Region::Open(path_, kSize, kPersistAuto, &region_));
  EXPECT_TRUE(region_->file().copies_on_write());
  region_.reset();
  EXPECT_EQ(0, InChild([this] { return OpenAndStore(); }));
  FillMount();
  const Status s = Region::Open(path_, kSize, kPersistAuto, &region_);
  EXPECT_STATUS(NoSpace, s);
  EXPECT_TRUE(Mentions(s, "chattr +C")) << s.ToString();
}

}  // namespace
}  // namespace miodb::test
