// A log file with a hole in the middle, as loss of power may leave one: recovery takes what comes before it, and what
// is written from then on must not look as if it lay behind a gap.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "src/db/open/db_impl.h"
#include "tests/common/random/option_sets.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"

namespace miodb::test {
namespace {

class LogHoleTest : public testing::TestWithParam<bool> {
 protected:
  LogHoleTest() : options_(SmallOptions()) {
    options_.log_mode = kLogFile;
    options_.wal_dir = dir_ / "logs";
    options_.wal_block_size = 512;
    if (!is_volatile()) return;
    options_.pool_path = "anonymous";
    options_.ssd_path = dir_ / "ssd";
  }

  static bool is_volatile() { return GetParam(); }

  // Opens without threads, so that nothing is flushed and the log holds everything.
  void Open() {
    db_.reset();
    DBImpl::Hooks hooks;
    hooks.background = BackgroundMode::kBySteps;
    ASSERT_OK(DBImpl::Open(options_, dir_ / "db", hooks, &db_));
  }

  std::string Get(const std::string& key) {
    std::string value;
    const Status s = db_->Get(ReadOptions(), key, &value);
    return s.ok() ? value.substr(0, 1) : s.ToString();
  }

  void Put(const std::string& key, char value) { ASSERT_OK(db_->Put(WriteOptions(), key, std::string(600, value))); }

  // Closes the database and damages the third record of its log.
  void Damage() {
    db_.reset();
    for (const auto& entry : std::filesystem::directory_iterator(options_.wal_dir)) {
      if (entry.path().extension() != ".log") continue;
      std::fstream(entry.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(1500).put('x');
    }
  }

  TestDir dir_;
  Options options_;
  std::unique_ptr<DBImpl> db_;
};

INSTANTIATE_TEST_SUITE_P(Pools, LogHoleTest, testing::Bool(),
                         [](const auto& each) { return each.param ? "Volatile" : "Persistent"; });

TEST_P(LogHoleTest, WhatIsWrittenAfterIsThereAtTheNextOpen) {
  Open();
  for (char c = 'a'; c <= 'f'; c++) Put(std::string(1, c), c);
  Damage();
  for (int i = 0; i < 3; i++) {
    Open();
    EXPECT_EQ("a", Get("a"));
    EXPECT_EQ("b", Get("b"));
    EXPECT_EQ("NotFound: ", Get("c"));
    EXPECT_EQ("NotFound: ", Get("d"));
    for (int j = 0; j < i; j++) EXPECT_EQ(std::string(1, static_cast<char>('0' + j)), Get("new" + std::to_string(j)));
    Put("new" + std::to_string(i), static_cast<char>('0' + i));
  }
}

TEST_P(LogHoleTest, ParanoidChecksReportIt) {
  Open();
  for (char c = 'a'; c <= 'f'; c++) Put(std::string(1, c), c);
  Damage();
  options_.paranoid_checks = true;
  DBImpl::Hooks hooks;
  hooks.background = BackgroundMode::kBySteps;
  EXPECT_STATUS(Corruption, DBImpl::Open(options_, dir_ / "db", hooks, &db_));
  options_.paranoid_checks = false;
  Open();
  EXPECT_EQ("b", Get("b"));
}

}  // namespace
}  // namespace miodb::test
