// Pools on hugetlbfs. They need root, for the mount and for some pages; without that the tests are skipped.

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kPage = 2 * kMiB;
constexpr char kPages[] = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";

class HugetlbfsTest : public DbTestBase {
 protected:
  void SetUp() override {
    std::ifstream(kPages) >> pages_before_;
    std::ofstream(kPages) << std::max<uint64_t>(pages_before_, 16) << std::flush;
    uint64_t pages = 0;
    std::ifstream(kPages) >> pages;
    std::filesystem::create_directory(mount_);
    mounted_ = pages >= 16 && mount("none", mount_.c_str(), "hugetlbfs", 0, "pagesize=2M,size=28M") == 0;
    if (!mounted_) GTEST_SKIP() << "no hugetlbfs can be had here";
    options_.write_buffer_size = 256 * 1024;
    options_.pool_growth = kMiB;
    options_.pool_path = mount_ + "/pool";
  }

  void TearDown() override {
    Close();
    if (mounted_) umount(mount_.c_str());
    std::ofstream(kPages) << pages_before_;
  }

  const std::string mount_ = dir_ / "huge";
  uint64_t pages_before_ = 0;
  bool mounted_ = false;
};

TEST_F(HugetlbfsTest, APoolLivesThereInWholePagesAndReopens) {
  Open();
  Fill(8000, 1000);
  for (int round = 0; round < 2; round++) {
    const std::string text = Property("miodb.placement");
    EXPECT_NE(std::string::npos, text.find("region-kind: hugetlbfs\n")) << text;
    EXPECT_NE(std::string::npos, text.find("region-page-bytes: 2097152\n")) << text;
    EXPECT_EQ("emulated", Property("miodb.persist-mode"));
    EXPECT_EQ(0u, Counter("pool-bytes-file") % kPage);
    EXPECT_EQ(Counter("pool-bytes-file"), std::filesystem::file_size(options_.pool_path));
    CheckFilled(8000, 1000);
    Open();
  }
}

TEST_F(HugetlbfsTest, WithoutPagesThereIsNoSpaceAndDataStays) {
  Open();
  Status s;
  uint64_t written = 0;
  for (; s.ok() && written < 40000; written += s.ok()) {
    s = db_->Put(WriteOptions(), FilledKey(written), FilledValue(written, 1000, 0));
  }
  EXPECT_STATUS(NoSpace, s);
  EXPECT_GT(written, 10000u);
  CheckFilled(written, 1000);
  Open();
  CheckFilled(written, 1000);
}

TEST_F(HugetlbfsTest, ARegionThereBelongsToAPoolElsewhere) {
  NvmRegion region;
  region.path = options_.pool_path;
  options_.pool_path.clear();
  options_.pool_size = 4 * kMiB;
  options_.nvm_regions = {region};
  Open();
  const std::string mode = Property("miodb.persist-mode");
  if (mode != "emulated") GTEST_SKIP() << "the pool is " << mode;
  Fill(8000, 1000);
  Open();
  CheckFilled(8000, 1000);
  EXPECT_NE(std::string::npos, Property("miodb.placement").find("region1-kind: hugetlbfs\n"));
}

}  // namespace
}  // namespace miodb::test
