// DestroyDB removes a database and nothing else.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "miodb/env.h"
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

}  // namespace
}  // namespace miodb::test
