// Filters of tables lie in DRAM, so an open builds them anew: by whatever thread has nothing else to do.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "src/db/open/db_impl.h"
#include "tests/common/db_test_base.h"
#include "tests/common/status_asserts.h"

namespace miodb::test {
namespace {

class FiltersAfterOpenTest : public DbTestBase {
 protected:
  FiltersAfterOpenTest() {
    options_.filter_bits_per_key = 10;
    Open();
    Fill(6000, 100);
    EXPECT_OK(db_->WaitForIdle());
    EXPECT_GT(Counter("tables"), 3u);
    memory_ = Counter("table-memory-bytes");
    Close();
  }

  // Does steps of one kind in a database without threads until there is nothing to do. Returns how many did something.
  uint64_t StepsOf(DBImpl::Step step) {
    uint64_t done = 0;
    while (by_hand_->RunStep(step)) done++;
    return done;
  }

  void OpenByHand() {
    by_hand_.reset();
    DBImpl::Hooks hooks;
    hooks.background = BackgroundMode::kBySteps;
    ASSERT_OK(DBImpl::Open(options_, path_, hooks, &by_hand_));
  }

  uint64_t ByHand(const char* counter) { return NumberProperty(by_hand_.get(), std::string("miodb.") + counter); }

  uint64_t memory_ = 0;  // of tables with filters
  std::unique_ptr<DBImpl> by_hand_;
};

TEST_F(FiltersAfterOpenTest, EachKindOfThreadBuildsThem) {
  for (const DBImpl::Step step : {DBImpl::Step::kFlush, DBImpl::Step::kMerge}) {
    OpenByHand();
    const uint64_t without = ByHand("table-memory-bytes");
    EXPECT_LT(without, memory_);
    ASSERT_TRUE(by_hand_->RunStep(step));
    const uint64_t after_one = ByHand("table-memory-bytes");
    EXPECT_TRUE(after_one > without && after_one < memory_) << after_one;
    EXPECT_EQ(ByHand("tables"), StepsOf(step) + 1) << "one table a step";
    EXPECT_EQ(memory_, ByHand("table-memory-bytes"));
  }
}

TEST_F(FiltersAfterOpenTest, ATableThatIsMergedAwayDoesNotWaitForItsFilter) {
  OpenByHand();
  for (uint64_t i = 0; i < 6000; i++) ASSERT_OK(by_hand_->Put(WriteOptions(), FilledKey(i), "w"));
  by_hand_->CompactRange(nullptr, nullptr);
  const uint64_t used = ByHand("pool-bytes-used");
  StepsOf(DBImpl::Step::kMerge);
  EXPECT_EQ(used, ByHand("pool-bytes-used"));
  for (uint64_t i = 0; i < 6000; i++) {
    std::string value;
    ASSERT_OK(by_hand_->Get(ReadOptions(), FilledKey(i), &value));
    EXPECT_EQ("w", value);
  }
}

TEST_F(FiltersAfterOpenTest, AnIdleDatabaseHasAllOfThem) {
  options_.max_background_merges = 4;
  Open();
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_EQ(memory_, Counter("table-memory-bytes"));
}

}  // namespace
}  // namespace miodb::test
