#include "src/nvm/region/region.h"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "src/format/superblock.h"
#include "src/nvm/persist/persist.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"
#include "tests/nvm/pool_files.h"

namespace miodb::test {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

bool OnTmpfs(const std::string& path) {
  struct statfs fs;
  return statfs(path.c_str(), &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

uint64_t FileSize(const std::string& path) {
  struct stat st;
  return stat(path.c_str(), &st) == 0 ? static_cast<uint64_t>(st.st_size) : 0;
}

// KiB of dirty pages in the mapping that starts at addr, as the kernel tells.
uint64_t DirtyKiB(const char* addr) {
  std::ostringstream start;
  start << std::hex << reinterpret_cast<uintptr_t>(addr) << "-";
  std::ifstream smaps("/proc/self/smaps");
  std::string line;
  bool inside = false;
  uint64_t dirty = 0;
  while (std::getline(smaps, line)) {
    if (line.find('-') != std::string::npos && line.find(':') > line.find('-'))
      inside = line.rfind(start.str(), 0) == 0;
    uint64_t kib;
    if (inside && (sscanf(line.c_str(), "Shared_Dirty: %lu kB", &kib) == 1 ||
                   sscanf(line.c_str(), "Private_Dirty: %lu kB", &kib) == 1)) {
      dirty += kib;
    }
  }
  return dirty;
}

class RegionTest : public testing::Test {
 protected:
  Status Create(uint64_t size, uint64_t max_size, PersistMode mode = kPersistAuto) {
    return Region::Create(path_, size, max_size, mode, &region_);
  }
  Status Open(uint64_t max_size, PersistMode mode = kPersistAuto) {
    region_.reset();
    return Region::Open(path_, max_size, mode, &region_);
  }

  TestDir dir_;
  const std::string path_ = dir_ / "region";
  std::unique_ptr<Region> region_;
};

TEST_F(RegionTest, KeepsItsBytesAcrossOpens) {
  ASSERT_OK(Create(kMiB, 4 * kMiB));
  EXPECT_EQ(kMiB, region_->size());
  EXPECT_EQ(4 * kMiB, region_->max_size());
  memcpy(region_->base() + kMiB - 5, "hello", 5);
  ASSERT_OK(Open(4 * kMiB));
  EXPECT_EQ(kMiB, region_->size());
  EXPECT_EQ("hello", std::string(region_->base() + kMiB - 5, 5));
}

TEST_F(RegionTest, GrowsInPlace) {
  ASSERT_OK(Create(kMiB, 16 * kMiB));
  char* const base = region_->base();
  memcpy(base, "first", 5);
  for (uint64_t size : {2 * kMiB, 3 * kMiB + 4096, 16 * kMiB}) {
    ASSERT_OK(region_->Grow(size));
    EXPECT_EQ(size, region_->size());
    EXPECT_EQ(size, FileSize(path_));
    EXPECT_EQ(base, region_->base());
    memcpy(base + size - 4, "last", 4);
  }
  EXPECT_EQ("first", std::string(base, 5));
  ASSERT_OK(region_->Grow(kMiB));
  EXPECT_EQ(16 * kMiB, region_->size()) << "growing to less changes nothing";
}

// An open reserves fewer addresses than the file may need.
class RegionAddressesTest : public RegionTest {
 protected:
  static Region::Place FewAddresses(uint64_t room) {
    Region::Place place;
    place.at_open = 4 * kMiB;
    place.room = room;
    return place;
  }
};

TEST_F(RegionAddressesTest, GrowWithTheFileInPlace) {
  ASSERT_OK(Region::Create(path_, kMiB, 64 * kMiB, kPersistAuto, &region_, FewAddresses(kMiB)));
  char* const base = region_->base();
  EXPECT_EQ(4 * kMiB, region_->range()->size());
  memcpy(base, "first", 5);
  for (const uint64_t size : {4 * kMiB, 5 * kMiB, 40 * kMiB, 64 * kMiB}) {
    ASSERT_OK(region_->Grow(size));
    EXPECT_GE(region_->range()->size(), size);
    EXPECT_EQ(base, region_->base());
    memcpy(base + size - 4, "last", 4);
  }
  EXPECT_EQ("first", std::string(base, 5));
  EXPECT_STATUS(NoSpace, region_->Grow(65 * kMiB));
  ASSERT_OK(Open(64 * kMiB));
  EXPECT_EQ("last", std::string(region_->base() + 5 * kMiB - 4, 4));
}

TEST_F(RegionAddressesTest, ThatSomebodyElseHasAreNoSpaceUntilTheNextOpen) {
  ASSERT_OK(Region::Create(path_, kMiB, 64 * kMiB, kPersistAuto, &region_, FewAddresses(64 * kMiB)));
  void* const behind = region_->base() + 12 * kMiB;
  void* const taken =
      mmap(behind, kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(behind, taken) << strerror(errno);
  memcpy(taken, "theirs", 6);
  EXPECT_EQ(64 * kMiB, region_->max_size());
  ASSERT_OK(region_->Grow(10 * kMiB));
  memcpy(region_->base() + 10 * kMiB - 4, "last", 4);
  const Status s = region_->Grow(20 * kMiB);
  EXPECT_STATUS(NoSpace, s);
  EXPECT_TRUE(Mentions(s, path_)) << s.ToString();
  EXPECT_TRUE(Mentions(s, "open the database again")) << s.ToString();
  EXPECT_TRUE(region_->DescribeShortage().find("open the database again") != std::string::npos);
  EXPECT_EQ(10 * kMiB, region_->size());
  EXPECT_LE(region_->max_size(), 12 * kMiB) << "nobody may count on more";
  EXPECT_EQ("theirs", std::string(static_cast<char*>(taken), 6));
  ASSERT_OK(Open(64 * kMiB));
  ASSERT_OK(region_->Grow(64 * kMiB));
  EXPECT_EQ("last", std::string(region_->base() + 10 * kMiB - 4, 4));
  EXPECT_EQ("theirs", std::string(static_cast<char*>(taken), 6));
  munmap(taken, kMiB);
}

// A damaged reference may have led somebody there before.
TEST_F(RegionTest, BehindACutThereAreZerosUntilItGrowsAgain) {
  ASSERT_OK(Create(4 * kMiB, 16 * kMiB));
  memset(region_->base() + kMiB, 'x', 3 * kMiB);
  ASSERT_OK(region_->Cut(2 * kMiB));
  ASSERT_OK(region_->Cut(kMiB));
  EXPECT_EQ(kMiB, FileSize(path_));
  for (uint64_t at = kMiB; at < 4 * kMiB; at += kMiB / 2) EXPECT_EQ(0, region_->base()[at]) << at;
  const auto in_file = [&](uint64_t at) {
    std::ifstream file(path_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    return file.get();
  };
  ASSERT_OK(region_->Grow(2 * kMiB));
  region_->base()[2 * kMiB - 1] = 'y';
  EXPECT_EQ('y', in_file(2 * kMiB - 1));
  EXPECT_EQ(0, region_->base()[3 * kMiB]);
  ASSERT_OK(region_->Grow(8 * kMiB));
  for (uint64_t at = 2 * kMiB; at < 8 * kMiB; at += kMiB) {
    region_->base()[at] = 'z';
    EXPECT_EQ('z', in_file(at));
  }
}

TEST_F(RegionTest, AFailedGrowLeavesTheFileAsItWas) {
  ASSERT_OK(Create(kMiB, 16 * kMiB));
  struct rlimit old_limit;
  ASSERT_EQ(0, getrlimit(RLIMIT_FSIZE, &old_limit));
  struct rlimit limit = old_limit;
  limit.rlim_cur = 4 * kMiB;
  auto* const old_handler = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
  const Status s = region_->Grow(8 * kMiB);
  ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &old_limit));
  signal(SIGXFSZ, old_handler);
  EXPECT_FALSE(s.ok());
  EXPECT_EQ(kMiB, region_->size());
  EXPECT_EQ(kMiB, FileSize(path_));
  ASSERT_OK(region_->Grow(8 * kMiB));
}

TEST_F(RegionTest, AFullFileSystemIsNoSpace) {
  ASSERT_OK(Create(kMiB, uint64_t{1} << 45));
  const uint64_t available = region_->FileSystemAvailable();
  if (available > uint64_t{1} << 44) GTEST_SKIP() << "the file system is too large";
  EXPECT_STATUS(NoSpace, region_->Grow(kMiB + available + (uint64_t{1} << 43)));
  EXPECT_EQ(kMiB, region_->size());
  EXPECT_EQ(kMiB, FileSize(path_));
}

TEST_F(RegionTest, IsMadeOnceAndOpenedOnlyIfThere) {
  EXPECT_STATUS(IOError, Open(kMiB));
  ASSERT_OK(Create(kMiB, kMiB));
  std::unique_ptr<Region> second;
  EXPECT_STATUS(IOError, Region::Create(path_, kMiB, kMiB, kPersistAuto, &second));
  EXPECT_EQ(nullptr, second);
  EXPECT_EQ(kMiB, FileSize(path_)) << "the loser must not remove the winner's file";
}

TEST_F(RegionTest, RefusesASecondOpener) {
  ASSERT_OK(Create(kMiB, kMiB));
  std::unique_ptr<Region> second;
  const Status s = Region::Open(path_, kMiB, kPersistAuto, &second);
  EXPECT_STATUS(IOError, s);
  EXPECT_TRUE(Mentions(s, "in use"));
  region_.reset();
  EXPECT_OK(Region::Open(path_, kMiB, kPersistAuto, &second));
}

TEST_F(RegionTest, RemovesAFileUnlessItIsInUse) {
  EXPECT_OK(RegionFile::Remove(path_));
  ASSERT_OK(Create(kMiB, kMiB));
  EXPECT_STATUS(IOError, RegionFile::Remove(path_));
  EXPECT_TRUE(std::filesystem::exists(path_));
  region_.reset();
  EXPECT_OK(RegionFile::Remove(path_));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(RegionTest, RefusesWhatCannotBeAPool) {
  WriteFileBytes(path_, std::string(2 * kPoolHeaderSize - 1, 'x'));
  EXPECT_STATUS(Corruption, Open(kMiB));
  WriteFileBytes(path_, "");
  EXPECT_STATUS(Corruption, Open(kMiB));
  ASSERT_EQ(0, unlink(path_.c_str()));
  ASSERT_TRUE(std::filesystem::create_directory(path_));
  EXPECT_FALSE(Open(kMiB).ok());
}

TEST_F(RegionTest, CountsWholeUnitsOfAFile) {
  WriteFileBytes(path_, std::string(5 * kExtentUnit + 100, 'x'));
  ASSERT_OK(Open(kMiB));
  EXPECT_EQ(5 * kExtentUnit, region_->size());
  ASSERT_OK(region_->Grow(7 * kExtentUnit));
  EXPECT_EQ(7 * kExtentUnit, FileSize(path_));
}

TEST_F(RegionTest, RenamesAndPopulates) {
  ASSERT_OK(Create(4 * kMiB, 4 * kMiB));
  memset(region_->base() + kMiB, 'x', 8192);
  region_->Populate(kMiB, 2 * kMiB);
  EXPECT_EQ(std::string(8192, 'x'), std::string(region_->base() + kMiB, 8192));
  ASSERT_OK(region_->SyncFile());
  ASSERT_OK(region_->Rename(dir_ / "other"));
  EXPECT_EQ(dir_ / "other", region_->path());
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_EQ(4 * kMiB, FileSize(dir_ / "other"));
  EXPECT_STATUS(IOError, region_->Rename(dir_ / "no/such/directory"));
}

TEST_F(RegionTest, FindsTheModeOfTheMedium) {
  ASSERT_OK(Create(kMiB, kMiB));
  if (region_->mode() == kPersistPmem) GTEST_SKIP() << "on persistent memory";
  EXPECT_EQ(OnTmpfs(path_) ? kPersistEmulated : kPersistFile, region_->mode());
  ASSERT_OK(Open(kMiB, kPersistFile));
  EXPECT_EQ(kPersistFile, region_->mode());
  ASSERT_OK(Open(kMiB, kPersistEmulated));
  EXPECT_EQ(kPersistEmulated, region_->mode());
  EXPECT_STATUS(NotSupportedError, Open(kMiB, kPersistPmem));
  EXPECT_EQ(nullptr, region_);
}

TEST_F(RegionTest, LeavesNoFileIfTheModeIsRefused) {
  const Status s = Create(kMiB, kMiB, kPersistPmem);
  if (s.ok()) GTEST_SKIP() << "on persistent memory";
  EXPECT_STATUS(NotSupportedError, s);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// On a file system with a page cache, what a fence wrote back is clean.
TEST(RegionOnDisk, AFenceInFileModeWritesBackWhatWasStored) {
  const std::filesystem::path dir = std::filesystem::temp_directory_path() / ("miodb_disk." + std::to_string(getpid()));
  std::filesystem::create_directory(dir);
  {
    std::unique_ptr<Region> region;
    ASSERT_OK(Region::Create(dir / "region", 4 * kMiB, 4 * kMiB, kPersistAuto, &region));
    if (region->mode() == kPersistFile) {
      Persist persist(region->mode());
      const std::string data(10000, 'x');
      for (uint64_t i = 0; i < 20; i++) {
        persist.Copy(Purpose::kFlush, region->base() + i * 200 * 1000, data.data(), data.size());
      }
      EXPECT_GE(DirtyKiB(region->base()), 20 * 8u);
      EXPECT_OK(persist.Fence(Purpose::kFlush));
      EXPECT_EQ(0u, DirtyKiB(region->base()));
    }
  }
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace miodb::test
