// Random interleavings of writes, reads and background steps (manual_world.h).

#include <gtest/gtest.h>

#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/merge_policies.h"
#include "tests/common/status_asserts.h"
#include "tests/db/background/manual_world.h"

namespace miodb::test {
namespace {

// A small pool in front of an SSD tier.
Options OptionsWithTier(const TestDir& dir, Random* random) {
  Options options = SmallOptions();
  options.level_trigger = static_cast<int>(2 + random->Uniform(4));
  options.merge_policy = AnyMergePolicy(random);
  options.pool_size = 3 << 20;
  options.ssd_path = dir / "ssd";
  return options;
}

// Background work is done by steps alone.
Status OpenByHand(const Options& options, const TestDir& dir, std::unique_ptr<DBImpl>* db) {
  DBImpl::Hooks hooks;
  hooks.background = BackgroundMode::kBySteps;
  return DBImpl::Open(options, dir / "db", hooks, db);
}

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
  std::unique_ptr<DBImpl> db;
  ASSERT_OK(OpenByHand(options, dir, &db));
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

// However much of the pool is in the buffer, in few tables that become many in the repository. To copy all of it may
// take more room than there is; without copies there is enough.
TEST(ManualStepsTest, WaitForIdleSettlesAnyBufferThatFits) {
  constexpr uint64_t kValueBytes = 400;
  for (uint64_t seed : Seeds(ByScale(RunsUnderSanitizer() ? 10 : 40, 200, 5000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    TestDir dir;
    Options options = OptionsWithTier(dir, &random);
    options.nvm_budget = 2 * options.pool_size;  // nothing is settled before it has to be
    options.ssd_file_size = 128 * 1024;
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(OpenByHand(options, dir, &db));
    const uint64_t count = 2000 + random.Uniform(5000);
    const auto key_of = [](uint64_t i) { return FilledKey(i * 7919 % 10007); };
    for (uint64_t i = 0; i < count; i++) {
      ASSERT_OK(db->Put(WriteOptions(), key_of(i), FilledValue(i, kValueBytes, 0)));
      while (db->RunStep(DBImpl::Step::kPrepare) || db->RunStep(DBImpl::Step::kFlush) ||
             db->RunStep(DBImpl::Step::kMerge)) {
      }
    }
    ASSERT_OK(db->WaitForIdle());
    std::string value;
    for (uint64_t i = 0; i < count; i++) {
      ASSERT_OK(db->Get(ReadOptions(), key_of(i), &value));
      ASSERT_TRUE(FilledValue(i, kValueBytes, 0) == value) << i;
    }
  }
}

// Merges and collections go on between the drains and compactions of a purge, and give what they rewrite a new number.
TEST(ManualStepsTest, CompactRangeLeavesNoFileWhereAllIsDeleted) {
  constexpr uint64_t kValueBytes = 500;
  for (uint64_t seed : Seeds(ByScale(RunsUnderSanitizer() ? 10 : 40, 200, 5000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    TestDir dir;
    Options options = OptionsWithTier(dir, &random);
    options.ssd_file_size = 64 * 1024;
    options.ssd_level_size = 512 * 1024;
    options.ssd_level_multiplier = 3;
    options.num_levels = 4;
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(OpenByHand(options, dir, &db));
    const auto work = [&] {
      for (uint64_t steps = random.Uniform(4); steps > 0; steps--) {
        db->RunStep(static_cast<DBImpl::Step>(random.Uniform(4)));
      }
    };
    const uint64_t count = 4000 + random.Uniform(8000);
    for (uint64_t i = 0; i < count; i++) {
      ASSERT_OK(db->Put(WriteOptions(), FilledKey(i * 7919 % count), FilledValue(i, kValueBytes, 0)));
      work();
    }
    for (uint64_t i = 0; i < count; i++) {
      ASSERT_OK(db->Delete(WriteOptions(), FilledKey(i * 7919 % count)));
      work();
    }
    db->CompactRange(nullptr, nullptr);
    ASSERT_EQ(0u, NumberProperty(db.get(), "miodb.ssd-files"));
  }
}

// After an open tables wait for their filters. A merge may have dropped them by then, and their space must be free.
TEST(ManualStepsTest, WaitForIdleLeavesNoTableThatWaitsForItsFilter) {
  TestDir dir;
  Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 16 * 1024;
  std::unique_ptr<DBImpl> db;
  ASSERT_OK(OpenByHand(options, dir, &db));
  for (int i = 0; i < 8; i++) {
    ASSERT_OK(db->Put(WriteOptions(), "key", std::string(10000, 'v')));
    ASSERT_OK(db->Delete(WriteOptions(), "key"));
    ASSERT_OK(db->Flush());
  }
  db.reset();
  ASSERT_OK(OpenByHand(options, dir, &db));
  while (db->RunStep(DBImpl::Step::kMerge)) continue;
  ASSERT_OK(db->WaitForIdle());
  const uint64_t used = NumberProperty(db.get(), "miodb.pool-bytes-used");
  while (db->RunStep(DBImpl::Step::kFlush)) continue;
  EXPECT_EQ(used, NumberProperty(db.get(), "miodb.pool-bytes-used"));
}

}  // namespace
}  // namespace miodb::test
