// The info log: its levels, and how its files follow one another.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/common/db_test_base.h"
#include "tests/common/program.h"

namespace miodb::test {
namespace {

class InfoLogTest : public DbTestBase {
 protected:
  std::string File(const std::string& name) const { return FileContents(path_ + "/" + name); }
  bool IsThere(const std::string& name) const { return std::filesystem::exists(path_ + "/" + name); }
};

TEST_F(InfoLogTest, EveryOpenBeginsAFileAndAsManyAreKeptAsAskedFor) {
  options_.keep_log_file_num = 4;
  for (int i = 0; i < 6; i++) Open();
  for (const char* const name : {"LOG", "LOG.old", "LOG.old.2", "LOG.old.3"}) EXPECT_NE("", File(name)) << name;
  EXPECT_FALSE(IsThere("LOG.old.4"));
  options_.keep_log_file_num = 1;
  Open();
  EXPECT_TRUE(IsThere("LOG"));
  for (const char* const name : {"LOG.old", "LOG.old.2", "LOG.old.3"}) EXPECT_FALSE(IsThere(name)) << name;
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(std::filesystem::exists(path_)) << "a kept file is in the way";
}

TEST_F(InfoLogTest, AFileThatHasGrownIsFollowedByANewOne) {
  options_.max_log_file_size = 300;
  options_.keep_log_file_num = 3;
  Open();
  for (uint64_t round = 0; round < 100 && !IsThere("LOG.old.2"); round++) {
    Fill(5000, 100, round);
    Settle();
  }
  EXPECT_TRUE(IsThere("LOG.old.2"));
  EXPECT_FALSE(IsThere("LOG.old.3"));
  for (const char* const name : {"LOG", "LOG.old", "LOG.old.2"}) {
    EXPECT_LT(File(name).size(), 300u + 1000) << name;
  }
}

TEST_F(InfoLogTest, LevelsSayWhatIsWritten) {
  for (const InfoLogLevel level : {InfoLogLevel::kWarning, InfoLogLevel::kError, InfoLogLevel::kNone}) {
    options_.info_log_level = level;
    Open();
    Fill(1000, 100);
    Settle();
    EXPECT_EQ(std::string::npos, File("LOG").find("opened")) << static_cast<int>(level);
    Close();
  }
  options_.info_log_level = InfoLogLevel::kInfo;
  Open();
  EXPECT_NE(std::string::npos, File("LOG").find("opened"));
}

// An open that fails says so at every level but none.
TEST_F(InfoLogTest, ErrorsAreWrittenUnlessNothingIs) {
  for (const InfoLogLevel level : {InfoLogLevel::kError, InfoLogLevel::kNone}) {
    options_.info_log_level = level;
    Open();
    Fill(5000, 200);
    Close();
    Options smaller = options_;
    smaller.pool_size = 256 << 10;
    std::unique_ptr<DB> db;
    EXPECT_FALSE(OpenDb(smaller, path_, &db).ok()) << "less than what is in use";
    EXPECT_EQ(level == InfoLogLevel::kError, File("LOG").find("open failed") != std::string::npos ||
                                                 File("LOG.old").find("open failed") != std::string::npos);
  }
}

TEST_F(InfoLogTest, ValuesOutOfRangeAreRefused) {
  options_.keep_log_file_num = 0;
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  options_.keep_log_file_num = 1001;
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  options_.keep_log_file_num = 2;
  options_.info_log_level = static_cast<InfoLogLevel>(4);
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
}

}  // namespace
}  // namespace miodb::test
