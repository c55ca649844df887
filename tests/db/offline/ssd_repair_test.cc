// RepairDB on databases with an SSD tier.

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "src/format/manifest_area.h"
#include "src/nvm/pool/pool_image.h"
#include "tests/common/ssd_test_base.h"
#include "tests/db/offline/failing_rename_env.h"

namespace miodb::test {
namespace {

class SsdRepairTest : public SsdTestBase {
 protected:
  static constexpr uint64_t kCount = 4 * kMiB / kValueBytes;

  SsdRepairTest() {
    options_.ssd_level_size = 1 * kMiB;
    options_.ssd_level_multiplier = Options().ssd_level_multiplier;
    options_.ssd_file_size = 128 * kKiB;
  }

  void Make() { MakeOf(kCount); }

  // Counts the keys without their expected value; such keys must be missing, not wrong.
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

  // Zeros the roots, so that the manifest is found by its footer; or everything with its records as well.
  void Overwrite(uint64_t offset, uint64_t size) {
    std::fstream file(path_ + "/pool", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file << std::string(size, '\0');
  }
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
  const std::string file = FilesIn(ssd_, ".sst")[2];
  std::filesystem::remove(file);
  EXPECT_STATUS(Corruption, TryOpen());
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_NE(Lost().find(file), std::string::npos) << Lost();
  EXPECT_NE(Lost().find(", 1 lines above\n"), std::string::npos) << Lost();
  Open();
  const uint64_t lost = CountLost();
  EXPECT_LT(lost, kCount / 4);
}

TEST_F(SsdRepairTest, ADamagedBlockCostsTheRestOfItsFileAtMost) {
  Make();
  const std::string file = FilesIn(ssd_, ".sst")[1];
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

// Without a whole manifest; the area of the savepoint names the files, and the snapshot of the current one does not.
TEST_F(SsdRepairTest, FilesThatOnlyASavepointHasBringNoKeyBack) {
  Make();
  Open();
  ASSERT_OK(db_->CreateSavepoint("s"));
  for (uint64_t i = 0; i < kCount; i++) Delete(FilledKey(i));
  db_->CompactRange(nullptr, nullptr);
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_EQ(0u, Counter("ssd-files"));
  Open();
  Put("new", "1");
  ASSERT_OK(db_->Flush());
  Close();
  EXPECT_FALSE(FilesIn(ssd_, ".sst").empty());
  std::string bytes;
  ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/pool", &bytes));
  const uint64_t manifest = ReadPoolHeader(bytes.data(), bytes.size()).current.manifest_offset;
  uint32_t snapshot_bytes;
  memcpy(&snapshot_bytes, &bytes[manifest], sizeof(snapshot_bytes));
  Overwrite(manifest + ManifestRecordBytes(snapshot_bytes) + 16, 8);
  EXPECT_STATUS(Corruption, TryOpen());
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  EXPECT_EQ("(new->1)", Forward(db_.get()));
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

// The files beside the damaged ones are all that the new pool has.
TEST_F(SsdRepairTest, ARepairThatIsRefusedLeavesThePartsOfAnEarlierOne) {
  Make();
  FailingRenameEnv env(ssd_ + ".damaged", FailingRenameEnv::Fails::kBefore);
  Options options = options_;
  options.env = &env;
  EXPECT_STATUS(IOError, RepairDB(path_, options));
  ASSERT_TRUE(env.failed());
  const std::vector<std::string> parts = FilesIn(ssd_ + ".repaired", ".sst");
  EXPECT_FALSE(parts.empty());
  options = options_;
  options.pool_path = dir_ / "no_pool";
  const Status s = RepairDB(path_, options);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, options.pool_path)) << s.ToString();
  EXPECT_EQ(parts, FilesIn(ssd_ + ".repaired", ".sst"));
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
