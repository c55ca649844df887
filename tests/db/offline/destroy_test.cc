// DestroyDB removes a database and nothing else.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "miodb/env.h"
#include "src/db/store/places.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

using DestroyTest = DbTestBase;

TEST_F(DestroyTest, RemovesTheDatabaseAndItsDirectory) {
  Open();
  Fill(500, 100);
  Open();  // makes an old info log
  Close();
  EXPECT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(std::filesystem::exists(path_));
  Open();
  EXPECT_EQ("", Forward(db_.get()));
}

TEST_F(DestroyTest, RemovesEveryOlderInfoLogThoughSomeAreGone) {
  options_.keep_log_file_num = 5;
  for (int open = 0; open < 5; open++) Open();
  Close();
  ASSERT_TRUE(std::filesystem::exists(path_ + "/LOG.old.4"));
  ASSERT_OK(Env::Default()->RemoveFile(path_ + "/LOG.old.3"));
  EXPECT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// A repair copies the old STORE under a temporary name first.
TEST_F(DestroyTest, RemovesACopyOfStoreThatACrashCutOff) {
  Open();
  Close();
  for (const char* name : {"/STORE.damaged", "/STORE.damaged.2.tmp"}) {
    ASSERT_OK(WriteStringToFile(Env::Default(), "old", path_ + name));
  }
  EXPECT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// An open replaces the mark, and a crash may cut that off.
TEST_F(DestroyTest, RemovesALogFolderWithAnUnfinishedMark) {
  options_.log_mode = kLogFile;
  for (const bool elsewhere : {false, true}) {
    if (elsewhere) options_.wal_dir = dir_ / "logs";
    Open();
    Put("a", "1");
    Close();
    const std::string folder = elsewhere ? options_.wal_dir : path_;
    ASSERT_OK(WriteStringToFile(Env::Default(), "unfinished", folder + "/WAL_OWNER.tmp"));
    EXPECT_OK(DestroyDB(path_, options_));
    EXPECT_FALSE(std::filesystem::exists(folder));
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
}

TEST_F(DestroyTest, OfAMissingDatabaseIsOk) {
  EXPECT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(DestroyTest, LeavesForeignFilesAndTheirDirectory) {
  Open();
  Put("a", "1");
  Close();
  ASSERT_OK(WriteStringToFile(Env::Default(), "mine", path_ + "/notes.txt"));
  std::filesystem::create_directory(path_ + "/folder");
  EXPECT_OK(DestroyDB(path_, options_));
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) left.push_back(entry.path().filename());
  std::sort(left.begin(), left.end());
  EXPECT_EQ((std::vector<std::string>{"folder", "notes.txt"}), left);
  Open();
  EXPECT_EQ(DbTestBase::kNotFound, Get("a"));
}

TEST_F(DestroyTest, RemovesAPoolThatLiesElsewhere) {
  options_.pool_path = dir_ / "elsewhere";
  Open();
  Put("a", "1");
  Close();
  EXPECT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(std::filesystem::exists(options_.pool_path));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// The options say what is to come, and STORE what is there.
TEST_F(DestroyTest, RemovesAPoolAndAnSsdTierThatTheOptionsDoNotName) {
  for (const bool elsewhere : {false, true}) {
    Options had = options_;
    had.pool_path = elsewhere ? dir_ / "elsewhere" : "";
    had.ssd_path = dir_ / "ssd";
    std::unique_ptr<DB> db;
    ASSERT_OK(OpenDb(had, path_, &db));
    ASSERT_OK(db->Put(WriteOptions(), "a", "1"));
    db.reset();
    Options wanted = options_;
    wanted.pool_path = "anonymous";
    wanted.log_mode = kLogOff;
    ASSERT_OK(DestroyDB(path_, wanted));
    EXPECT_FALSE(std::filesystem::exists(path_)) << "the pool is left";
    EXPECT_FALSE(std::filesystem::exists(dir_ / "elsewhere"));
    EXPECT_FALSE(std::filesystem::exists(had.ssd_path));
    ASSERT_OK(OpenDb(wanted, path_, &db));
    std::string value;
    EXPECT_TRUE(db->Get(ReadOptions(), "a", &value).IsNotFound());
    db.reset();
  }
}

TEST_F(DestroyTest, FailsWhileTheDatabaseIsOpenAndHarmsNothing) {
  Open();
  Put("a", "1");
  const Status s = DestroyDB(path_, options_);
  EXPECT_STATUS(IOError, s);
  EXPECT_TRUE(Mentions(s, path_));
  Put("b", "2");
  Open();
  EXPECT_EQ("(a->1)(b->2)", Forward(db_.get()));
}

// Whatever may be opened may be repaired and removed: a repair has names of its own beside the part.
TEST_F(DestroyTest, ANameIsRefusedThatIsTooLongForARepair) {
  constexpr size_t kLongest = 238;
  for (const size_t bytes : {kLongest, kLongest + 1, size_t{251}, size_t{255}}) {
    options_.pool_path = dir_ / std::string(bytes, 'p');
    const Status s = TryOpen();
    if (bytes > kLongest) {
      EXPECT_STATUS(InvalidArgument, s);
      EXPECT_NE(std::string::npos, s.ToString().find("more than 238")) << s.ToString();
      EXPECT_FALSE(std::filesystem::exists(path_));
      continue;
    }
    ASSERT_OK(s);
    Put("a", "1");
    Close();
    ASSERT_OK(RepairDB(path_, options_));
    Open();
    EXPECT_EQ("1", Get("a"));
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
    EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
  }
  options_.pool_path.clear();
  options_.ssd_path = dir_ / std::string(kLongest + 1, 's');
  options_.log_mode = kLogFile;
  EXPECT_STATUS(InvalidArgument, TryOpen());
  options_.ssd_path.clear();
  Open();
  NvmRegion region;
  region.path = dir_ / std::string(kLongest + 1, 'r');
  EXPECT_STATUS(InvalidArgument, db_->AddRegion(region));
}

// A database that has such a name already goes as well, and says before a repair what is in the way.
TEST_F(DestroyTest, APoolWithAVeryLongNameIsRemoved) {
  options_.pool_path = dir_ / "pool";
  Open();
  Put("a", "1");
  Close();
  const std::string long_name = dir_ / std::string(251, 'p');
  std::filesystem::rename(options_.pool_path, long_name);
  options_.pool_path = long_name;
  ASSERT_OK(MoveStore(path_, options_));
  Open();
  EXPECT_EQ("1", Get("a"));
  Close();
  const Status s = RepairDB(path_, options_);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "miodb_move"));
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

// ---- What is not its own

TEST_F(DestroyTest, LeavesAFileThatIsNoPool) {
  options_.pool_path = dir_ / "letter";
  ASSERT_OK(WriteStringToFile(Env::Default(), "Dear all", options_.pool_path));
  for (const bool exists : {false, true}) {
    if (exists) {
      options_.pool_path.clear();
      Open();
      Close();
      options_.pool_path = dir_ / "letter";
    }
    const Status s = DestroyDB(path_, options_);
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_TRUE(Mentions(s, options_.pool_path));
    EXPECT_TRUE(std::filesystem::exists(options_.pool_path));
    EXPECT_EQ(exists, std::filesystem::exists(path_ + "/pool"));
  }
}

TEST_F(DestroyTest, LeavesThePoolOfAnotherDatabase) {
  Open();
  Put("a", "1");
  Close();
  Options other = options_;
  other.pool_path = path_ + "/pool";
  EXPECT_STATUS(InvalidArgument, DestroyDB(dir_ / "nothing", other));
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(options_, dir_ / "other", &db));
  db.reset();
  EXPECT_STATUS(InvalidArgument, DestroyDB(dir_ / "other", other));
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(DestroyTest, OfACopyLeavesTheLogOfTheOriginal) {
  options_.log_mode = kLogFile;
  options_.wal_dir = dir_ / "logs";
  Open();
  Put("a", "1");
  Close();
  const std::string copy = dir_ / "copy";
  std::filesystem::copy(path_, copy, std::filesystem::copy_options::recursive);
  ASSERT_OK(DestroyDB(copy, options_));
  EXPECT_FALSE(std::filesystem::exists(copy));
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(DestroyTest, RemovesWhatRepairsSetAsideThoughSomeOfItIsGone) {
  Open();
  Put("a", "1");
  Close();
  for (int repair = 0; repair < 3; repair++) ASSERT_OK(RepairDB(path_, options_));
  ASSERT_OK(Env::Default()->RemoveFile(path_ + "/pool.damaged"));
  ASSERT_TRUE(std::filesystem::exists(path_ + "/pool.damaged.3"));
  ASSERT_OK(WriteStringToFile(Env::Default(), "mine", path_ + "/pool.damaged.mine"));
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(std::filesystem::exists(path_ + "/pool.damaged.2"));
  EXPECT_FALSE(std::filesystem::exists(path_ + "/pool.damaged.3"));
  EXPECT_TRUE(std::filesystem::exists(path_ + "/pool.damaged.mine"));
}

TEST_F(DestroyTest, LeavesTemporaryFilesOfOthers) {
  options_.pool_path = dir_ / "db_pool";
  for (const char* name : {"db_pool.tmp", "db_pool.repaired", "db_pool.damaged", "region.tmp"}) {
    ASSERT_OK(WriteStringToFile(Env::Default(), "mine", dir_ / name));
  }
  options_.nvm_regions.resize(1);
  options_.nvm_regions[0].path = dir_ / "region";
  Open();
  Put("a", "1");
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(std::filesystem::exists(options_.pool_path));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "region"));
  for (const char* name : {"db_pool.tmp", "db_pool.repaired", "db_pool.damaged", "region.tmp"}) {
    std::string content;
    EXPECT_OK(ReadFileToString(Env::Default(), dir_ / name, &content));
    EXPECT_EQ("mine", content) << name;
  }
}

// Somebody else's files may be in the way of the first temporary names while a region is made.
TEST_F(DestroyTest, RemovesAnUnfinishedRegionUnderEveryTemporaryName) {
  options_.nvm_regions.resize(1);
  options_.nvm_regions[0].path = dir_ / "region";
  Open();
  Put("a", "1");
  Close();
  for (const char* name : {"region.tmp.2", "region.tmp.9", "region.tmp.100"}) {
    std::filesystem::copy_file(dir_ / "region", dir_ / name);
  }
  ASSERT_OK(WriteStringToFile(Env::Default(), "mine", dir_ / "region.tmp"));
  ASSERT_OK(DestroyDB(path_, options_));
  for (const char* name : {"region", "region.tmp.2", "region.tmp.9", "region.tmp.100"}) {
    EXPECT_FALSE(std::filesystem::exists(dir_ / name)) << name;
  }
  EXPECT_TRUE(std::filesystem::exists(dir_ / "region.tmp"));
}

TEST_F(DestroyTest, LeavesAnSsdTierOfAnotherDatabase) {
  options_.ssd_path = dir_ / "ssd";
  Open();
  Put("a", "1");
  Close();
  Options other = options_;
  other.ssd_path.clear();
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(other, dir_ / "other", &db));
  db.reset();
  ASSERT_OK(DestroyDB(dir_ / "other", options_));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "other"));
  EXPECT_TRUE(std::filesystem::exists(options_.ssd_path + "/POOL"));
  Open();
  EXPECT_EQ("1", Get("a"));
}

}  // namespace
}  // namespace miodb::test
