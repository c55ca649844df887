// RepairDB on databases with an SSD tier.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;
constexpr size_t kValueBytes = 500;
constexpr uint64_t kCount = 4 * kMiB / kValueBytes;

class SsdRepairTest : public DbTestBase {
 protected:
  SsdRepairTest() : ssd_(dir_ / "ssd") {
    options_.pool_size = 3 * kMiB;
    options_.ssd_path = ssd_;
    options_.ssd_level_size = 1 * kMiB;
    options_.ssd_file_size = 128 * kKiB;
    options_.num_levels = 4;
  }

  // Every third key is overwritten after the first filling, every seventh deleted.
  void Make() {
    Open();
    Fill(kCount, kValueBytes);
    ASSERT_OK(db_->WaitForIdle());
    for (uint64_t i = 0; i < kCount; i += 3) Put(FilledKey(i), FilledValue(i, kValueBytes, 1));
    for (uint64_t i = 0; i < kCount; i += 7) Delete(FilledKey(i));
    ASSERT_GT(Counter("ssd-files"), 5u);
    Close();
  }

  static std::string Expected(uint64_t i) {
    if (i % 7 == 0) return kNotFound;
    return FilledValue(i, kValueBytes, i % 3 == 0 ? 1 : 0);
  }

  // How many keys are not as expected; all of these must be missing, not wrong.
  uint64_t CountLost() {
    uint64_t lost = 0;
    for (uint64_t i = 0; i < kCount; i++) {
      const std::string value = Get(FilledKey(i));
      if (value == Expected(i)) continue;
      lost++;
      EXPECT_EQ(value, kNotFound) << FilledKey(i);
    }
    return lost;
  }

  std::vector<std::string> FilesOnDisk() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(ssd_)) {
      if (entry.path().extension() == ".sst") files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  // Zeros the roots, so that the manifest is found by its footer; or everything with its records as well.
  void Overwrite(uint64_t offset, uint64_t size) {
    std::fstream file(path_ + "/pool", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file << std::string(size, '\0');
  }

  std::string Lost() {
    std::string text;
    EXPECT_OK(ReadFileToString(Env::Default(), path_ + "/LOST", &text));
    return text;
  }

  const std::string ssd_;
};

TEST_F(SsdRepairTest, AGoodDatabaseStaysAsItIs) {
  Make();
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  EXPECT_EQ(CountLost(), 0u);
  EXPECT_EQ(Lost().find("lost:"), std::string::npos) << Lost();
  EXPECT_TRUE(Env::Default()->FileExists(ssd_ + ".damaged"));
  Fill(kCount, kValueBytes, 2);
  CheckFilled(kCount, kValueBytes, 2);
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(Env::Default()->FileExists(ssd_ + ".damaged"));
}

TEST_F(SsdRepairTest, AMissingFileCostsItsKeysAlone) {
  Make();
  const std::string file = FilesOnDisk()[2];
  std::filesystem::remove(file);
  EXPECT_STATUS(Corruption, TryOpen());
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_NE(Lost().find(file), std::string::npos) << Lost();
  Open();
  const uint64_t lost = CountLost();
  EXPECT_LT(lost, kCount / 4);
}

TEST_F(SsdRepairTest, ADamagedBlockCostsTheRestOfItsFileAtMost) {
  Make();
  const std::string file = FilesOnDisk()[1];
  {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(std::filesystem::file_size(file) / 3));
    stream << "some other bytes";
  }
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_NE(Lost().find(file), std::string::npos) << Lost();
  Open();
  EXPECT_LT(CountLost(), kCount / 4);
}

TEST_F(SsdRepairTest, WithoutRootsNothingIsLost) {
  Make();
  Overwrite(1024, 2048);
  EXPECT_FALSE(TryOpen().ok());
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  EXPECT_EQ(CountLost(), 0u);
}

TEST_F(SsdRepairTest, ARepairThatWasCutOffBetweenPoolAndDirectoryIsFinished) {
  Make();
  ASSERT_OK(RepairDB(path_, options_));
  // As if the machine had failed before the directories were exchanged.
  std::filesystem::rename(ssd_, ssd_ + ".repaired");
  std::filesystem::rename(ssd_ + ".damaged", ssd_);
  const Status s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, ssd_));
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  EXPECT_EQ(CountLost(), 0u);
}

TEST_F(SsdRepairTest, WithoutThePathItRefuses) {
  Make();
  options_.ssd_path.clear();
  const Status s = RepairDB(path_, options_);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "ssd_path"));
  options_.ssd_path = ssd_;
  Open();
  EXPECT_EQ(CountLost(), 0u);
}

}  // namespace
}  // namespace miodb::test
