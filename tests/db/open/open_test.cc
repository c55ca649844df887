// DB::Open: when it creates, when it refuses, and that a refusal leaves nothing behind.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "tests/common/db_test_base.h"
#include "tests/common/paths.h"
#include "tests/common/random/comparators.h"

namespace miodb::test {
namespace {

class OpenTest : public DbTestBase {
 protected:
  // Checks a failed open: no database, and the directory as it was before.
  void ExpectNothingOpened(const Status& s, const std::vector<std::string>& before) {
    EXPECT_FALSE(s.ok());
    EXPECT_EQ(nullptr, db_);
    EXPECT_EQ(before, Everything());
  }

  // Names of all that lies below the test's directory, sorted.
  std::vector<std::string> Everything() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_.path())) {
      names.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // The message for another process that tries to open the database; "OK" if the open succeeds.
  std::string OpenElsewhere() {
    const std::string command = BinaryDir() + "/tests/db/open/open_main " + path_;
    FILE* const pipe = popen(command.c_str(), "r");
    EXPECT_NE(nullptr, pipe);
    std::string output;
    for (int c = std::fgetc(pipe); c != EOF && c != '\n'; c = std::fgetc(pipe)) output.push_back(static_cast<char>(c));
    pclose(pipe);
    return output;
  }
};

TEST_F(OpenTest, CreatesADatabaseThatIsMissing) {
  Open();
  EXPECT_EQ("", Forward(db_.get()));
  Put("a", "1");
  Open();
  EXPECT_EQ("(a->1)", Forward(db_.get()));
}

TEST_F(OpenTest, RefusesAMissingDatabaseWithoutCreateIfMissing) {
  options_.create_if_missing = false;
  const auto before = Everything();
  const Status s = TryOpen();
  ExpectNothingOpened(s, before);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, path_));
  EXPECT_TRUE(Mentions(s, "create_if_missing"));
}

TEST_F(OpenTest, RefusesAnEmptyDirectoryWithoutCreateIfMissing) {
  options_.create_if_missing = false;
  std::filesystem::create_directory(path_);
  const auto before = Everything();
  ExpectNothingOpened(TryOpen(), before);
}

TEST_F(OpenTest, OpensAnExistingDatabaseWithoutCreateIfMissing) {
  Open();
  Put("a", "1");
  options_.create_if_missing = false;
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(OpenTest, RefusesAnExistingDatabaseWithErrorIfExists) {
  Open();
  Put("a", "1");
  Close();
  options_.error_if_exists = true;
  const Status s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, path_));
  EXPECT_TRUE(Mentions(s, "error_if_exists"));
  EXPECT_EQ(nullptr, db_);
  options_.error_if_exists = false;
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(OpenTest, CreatesWithErrorIfExistsWhereNothingIs) {
  options_.error_if_exists = true;
  Open();
  Put("a", "1");
  EXPECT_EQ("1", Get("a"));
}

TEST_F(OpenTest, RefusesADirectoryWhoseParentIsMissing) {
  path_ = dir_ / "no/such/db";
  const auto before = Everything();
  const Status s = TryOpen();
  ExpectNothingOpened(s, before);
  EXPECT_STATUS(NotFound, s);  // as LevelDB
  EXPECT_TRUE(Mentions(s, path_ + "/LOCK: No such file or directory"));
}

TEST_F(OpenTest, RefusesAFileInPlaceOfTheDirectory) {
  ASSERT_OK(WriteStringToFile(Env::Default(), "a file", path_));
  const auto before = Everything();
  const Status s = TryOpen();
  ExpectNothingOpened(s, before);
  EXPECT_STATUS(IOError, s);
  EXPECT_TRUE(Mentions(s, path_));
  std::string content;
  ASSERT_OK(ReadFileToString(Env::Default(), path_, &content));
  EXPECT_EQ("a file", content);
}

TEST_F(OpenTest, RefusesADirectoryInPlaceOfThePool) {
  std::filesystem::create_directories(path_ + "/pool");
  const Status s = TryOpen();
  EXPECT_FALSE(s.ok());
  EXPECT_EQ(nullptr, db_);
  EXPECT_TRUE(Mentions(s, path_ + "/pool"));
  EXPECT_TRUE(std::filesystem::is_directory(path_ + "/pool"));
}

TEST_F(OpenTest, RefusesAReadOnlyDirectory) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write to read-only directories";
  std::filesystem::create_directory(path_);
  ASSERT_EQ(0, chmod(path_.c_str(), 0555));
  const auto before = Everything();
  const Status s = TryOpen();
  ExpectNothingOpened(s, before);
  EXPECT_STATUS(IOError, s);
  EXPECT_TRUE(Mentions(s, path_));
  ASSERT_EQ(0, chmod(path_.c_str(), 0755));
  Open();
}

TEST_F(OpenTest, RefusesAReadOnlyPoolAndLeavesItAsItIs) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write to read-only files";
  Open();
  Put("a", "1");
  Close();
  ASSERT_EQ(0, chmod((path_ + "/pool").c_str(), 0444));
  const Status s = TryOpen();
  EXPECT_STATUS(IOError, s);
  EXPECT_TRUE(Mentions(s, "pool"));
  EXPECT_EQ(nullptr, db_);
  ASSERT_EQ(0, chmod((path_ + "/pool").c_str(), 0644));
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(OpenTest, RefusesASecondOpenInTheSameProcess) {
  Open();
  Put("a", "1");
  std::unique_ptr<DB> second;
  const Status s = OpenDb(options_, path_, &second);
  EXPECT_STATUS(IOError, s);
  EXPECT_TRUE(Mentions(s, path_ + "/LOCK"));
  EXPECT_EQ(nullptr, second);
  Put("b", "2");
  EXPECT_EQ("(a->1)(b->2)", Forward(db_.get()));
  Close();
  EXPECT_OK(OpenDb(options_, path_, &second));
}

TEST_F(OpenTest, RefusesASecondOpenFromAnotherProcess) {
  Open();
  Put("a", "1");
  const std::string refusal = OpenElsewhere();
  EXPECT_NE(std::string::npos, refusal.find("IO error")) << refusal;
  EXPECT_NE(std::string::npos, refusal.find(path_ + "/LOCK")) << refusal;
  Put("b", "2");
  EXPECT_EQ("(a->1)(b->2)", Forward(db_.get()));
  Close();
  EXPECT_EQ("OK", OpenElsewhere());
}

TEST_F(OpenTest, RefusesTwoDatabasesOnOnePool) {
  options_.pool_path = dir_ / "shared_pool";
  Open();
  Put("a", "1");
  std::unique_ptr<DB> second;
  const Status s = OpenDb(options_, dir_ / "other", &second);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, options_.pool_path));
  EXPECT_EQ(nullptr, second);
  EXPECT_EQ("1", Get("a"));
  Close();
  EXPECT_STATUS(InvalidArgument, OpenDb(options_, dir_ / "other", &second));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "other"));
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(OpenTest, KeepsThePoolWhereItIsTold) {
  options_.pool_path = dir_ / "elsewhere";
  Open();
  Put("a", "1");
  EXPECT_TRUE(std::filesystem::exists(options_.pool_path));
  EXPECT_FALSE(std::filesystem::exists(path_ + "/pool"));
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(OpenTest, RefusesAPoolInAMissingDirectoryAndLeavesNothing) {
  options_.pool_path = dir_ / "no/such/pool";
  const auto before = Everything();
  const Status s = TryOpen();
  ExpectNothingOpened(s, before);
  EXPECT_STATUS(IOError, s);
  EXPECT_TRUE(Mentions(s, options_.pool_path));
}

TEST_F(OpenTest, RefusesAnotherComparator) {
  Open();
  Put("a", "1");
  Put("b", "2");
  Close();
  options_.comparator = ReverseComparator();
  const Status s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, BytewiseComparator()->Name()));
  EXPECT_TRUE(Mentions(s, ReverseComparator()->Name()));
  EXPECT_EQ(nullptr, db_);
  options_.comparator = BytewiseComparator();
  Open();
  EXPECT_EQ("(a->1)(b->2)", Forward(db_.get()));
}

TEST_F(OpenTest, KeepsTheOrderOfACustomComparator) {
  options_.comparator = ReverseComparator();
  Open();
  Put("a", "1");
  Put("b", "2");
  EXPECT_EQ("(b->2)(a->1)", Forward(db_.get()));
  Open();
  Settle();
  Put("c", "3");
  EXPECT_EQ("(c->3)(b->2)(a->1)", Forward(db_.get()));
}

TEST_F(OpenTest, RefusesALimitBelowWhatIsUsed) {
  Open();
  Fill(2000, 1000);
  Settle();
  const uint64_t used = Counter("pool-bytes-used");
  Close();
  options_.pool_size = 256 * 1024;
  ASSERT_GT(used, options_.pool_size);
  const Status s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "pool_size"));
  EXPECT_EQ(nullptr, db_);
  options_.pool_size = 0;
  Open();
  CheckFilled(2000, 1000);
}

TEST_F(OpenTest, FindsEverythingAfterACleanCloseAtAnyState) {
  for (uint64_t count : {1, 50, 700, 3000}) {
    Open();
    Fill(count, 200, count);
    Open();
    CheckFilled(count, 200, count);
  }
}

// Tables and chunks of a killed process may lie in free space, with good checksums: their numbers are not used again.
TEST_F(OpenTest, GivesOutNoNumberThatAKilledProcessMayHaveUsed) {
  const auto make_table = [this] {
    Fill(100, 100);
    ASSERT_OK(db_->Flush());
    ASSERT_OK(db_->WaitForIdle());
  };
  // The number of the only table.
  const auto number = [this] {
    std::string text;
    EXPECT_TRUE(db_->GetProperty("leveldb.sstables", &text));
    const size_t at = text.find("\n ");
    return at == std::string::npos ? 0 : std::stoull(text.substr(at + 2));
  };
  Open();
  make_table();
  const std::string copy = dir_ / "copy";
  std::filesystem::copy_file(path_ + "/pool", copy);
  for (int i = 0; i < 20; i++) make_table();
  const uint64_t used = number();
  ASSERT_GT(used, 0u);
  Close();
  std::filesystem::rename(copy, path_ + "/pool");
  Open();
  make_table();
  EXPECT_GT(number(), used);
}

TEST_F(OpenTest, GivesEveryDatabaseOfOneProcessItsOwnData) {
  constexpr int kDatabases = 20;
  std::vector<std::unique_ptr<DB>> databases(kDatabases);
  for (int i = 0; i < kDatabases; i++) {
    ASSERT_OK(OpenDb(options_, dir_ / std::to_string(i), &databases[static_cast<size_t>(i)]));
  }
  for (int round = 0; round < 200; round++) {
    for (int i = 0; i < kDatabases; i++) {
      const std::string value = std::to_string(i) + std::string(100, 'v');
      ASSERT_OK(databases[static_cast<size_t>(i)]->Put(WriteOptions(), "key" + std::to_string(round), value));
    }
  }
  for (int i = 0; i < kDatabases; i++) {
    DB* const db = databases[static_cast<size_t>(i)].get();
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    int seen = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), seen++) {
      ASSERT_EQ(std::to_string(i) + std::string(100, 'v'), it->value().ToString());
    }
    EXPECT_EQ(200, seen);
  }
}

}  // namespace
}  // namespace miodb::test
