// Random interleavings of writes, reads and background steps (manual_world.h).

#include <gtest/gtest.h>

#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/status_asserts.h"
#include "tests/db_internal/manual_world.h"

namespace miodb::test {
namespace {

void RunSteps(uint64_t seed, const Options& options, bool crashes, uint64_t steps) {
  ManualWorld world(seed, options, crashes);
  for (uint64_t i = 0; i < steps; i++) {
    SCOPED_TRACE(testing::Message() << "step " << i);
    world.Step();
    if (testing::Test::HasFailure()) return;
  }
  world.CheckAll();
  if (crashes && !testing::Test::HasFailure()) world.CheckCrash();
}

TEST(ManualStepsTest, EveryInterleavingGivesWhatAMapGives) {
  for (uint64_t seed : Seeds(ByScale(RunsUnderSanitizer() ? 15 : 60, 200, 10000))) {
    SCOPED_TRACE(Repeat(seed));
    RunSteps(seed, ManualWorld::AnyOptions(seed), false, 1500);
    if (HasFailure()) return;
  }
}

TEST(ManualStepsTest, ACrashAtAnyStepLeavesTheStateOfThatMoment) {
  for (uint64_t seed : Seeds(ByScale(RunsUnderSanitizer() ? 10 : 40, 100, 5000))) {
    SCOPED_TRACE(Repeat(seed));
    RunSteps(seed, ManualWorld::AnyOptions(seed), true, 600);
    if (HasFailure()) return;
  }
}

TEST(ManualStepsTest, WithTheLogOffItIsTheSameWithoutCrashes) {
  for (uint64_t seed : Seeds(ByScale(RunsUnderSanitizer() ? 10 : 30, 100, 5000))) {
    SCOPED_TRACE(Repeat(seed));
    Options options = ManualWorld::AnyOptions(seed);
    options.log_mode = kLogOff;
    RunSteps(seed, options, false, 1000);
    if (HasFailure()) return;
  }
}

TEST(ManualStepsTest, NothingIsDoneWhereNothingIsDue) {
  TestDir dir;
  Options options;
  options.create_if_missing = true;
  DBImpl::Hooks hooks;
  hooks.manual_background = true;
  std::unique_ptr<DBImpl> db;
  ASSERT_OK(DBImpl::Open(options, dir / "db", hooks, &db));
  EXPECT_FALSE(db->RunStep(DBImpl::Step::kFlush));
  EXPECT_FALSE(db->RunStep(DBImpl::Step::kMerge));
  int prepared = 0;
  while (db->RunStep(DBImpl::Step::kPrepare)) ASSERT_LT(++prepared, 100);
  ASSERT_OK(db->Put(WriteOptions(), "key", "value"));
  EXPECT_FALSE(db->RunStep(DBImpl::Step::kFlush)) << "the memtable is not full";
  ASSERT_OK(db->Flush());
  std::string value;
  ASSERT_OK(db->Get(ReadOptions(), "key", &value));
  EXPECT_EQ("value", value);
}

// After an open tables wait for their filters. A merge may have dropped them by then, and their space must be free.
TEST(ManualStepsTest, WaitForIdleLeavesNoTableThatWaitsForItsFilter) {
  TestDir dir;
  Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 16 * 1024;
  DBImpl::Hooks hooks;
  hooks.manual_background = true;
  std::unique_ptr<DBImpl> db;
  ASSERT_OK(DBImpl::Open(options, dir / "db", hooks, &db));
  for (int i = 0; i < 8; i++) {
    ASSERT_OK(db->Put(WriteOptions(), "key", std::string(10000, 'v')));
    ASSERT_OK(db->Delete(WriteOptions(), "key"));
    ASSERT_OK(db->Flush());
  }
  db.reset();
  ASSERT_OK(DBImpl::Open(options, dir / "db", hooks, &db));
  while (db->RunStep(DBImpl::Step::kMerge)) continue;
  ASSERT_OK(db->WaitForIdle());
  const uint64_t used = NumberProperty(db.get(), "miodb.pool-bytes-used");
  while (db->RunStep(DBImpl::Step::kFlush)) continue;
  EXPECT_EQ(used, NumberProperty(db.get(), "miodb.pool-bytes-used"));
}

}  // namespace
}  // namespace miodb::test
