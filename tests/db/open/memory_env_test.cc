// Databases on an Env in memory: what is true of databases on disk when they are closed and opened again is true of
// them.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "miodb/db.h"
#include "miodb/env.h"
#include "miodb/memenv.h"
#include "tests/common/status_asserts.h"

namespace miodb::test {
namespace {

class MemoryEnvTest : public testing::TestWithParam<LogMode> {
 protected:
  MemoryEnvTest() : env_(NewMemEnv(Env::Default())) {
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.log_mode = GetParam();
    options_.pool_size = 16 << 20;
  }

  std::unique_ptr<DB> Open() {
    DB* db = nullptr;
    EXPECT_OK(DB::Open(options_, "/in_memory", &db));
    return std::unique_ptr<DB>(db);
  }

  const std::unique_ptr<Env> env_;
  Options options_;
};

INSTANTIATE_TEST_SUITE_P(LogModes, MemoryEnvTest, testing::Values(kLogPmem, kLogOff, kLogFile));

TEST_P(MemoryEnvTest, WhatWasWrittenIsThereAtTheNextOpen) {
  for (int open = 0; open < 3; open++) {
    const std::unique_ptr<DB> db = Open();
    ASSERT_NE(nullptr, db);
    std::string value;
    for (int before = 0; before < open; before++) {
      EXPECT_OK(db->Get(ReadOptions(), std::to_string(before), &value));
    }
    EXPECT_OK(db->Put(WriteOptions(), std::to_string(open), "value"));
  }
}

TEST_P(MemoryEnvTest, APoolThatIsGoneIsMissed) {
  Open();
  ASSERT_OK(env_->RemoveFile("/in_memory/pool"));
  DB* db = nullptr;
  const Status s = DB::Open(options_, "/in_memory", &db);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  ASSERT_OK(DestroyDB("/in_memory", options_));
  EXPECT_NE(nullptr, Open());
}

}  // namespace
}  // namespace miodb::test
