// The schedule of the SSD tier: what is held, whose turn it is, and what each figure of its policy does.

#include "compaction/policy/ssd_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace miodb::test {
namespace {

class SsdScheduleTest : public testing::Test {
 protected:
  SsdPickerInput Filled() const {
    SsdPickerInput input;
    schedule_.Fill(&input);
    return input;
  }
  void Run(Outcome outcome, uint64_t now) {
    schedule_.Begin(range_);
    schedule_.End(range_, outcome, false, now);
    schedule_.Check();
  }

  const SsdRange range_ = {0, "a", "b"};
  const SsdPolicy policy_{};
  SsdSchedule schedule_;
};

TEST_F(SsdScheduleTest, ARangeIsHeldWhileItsJobRuns) {
  const SsdRange other = {0, "a", "c"};
  schedule_.Begin(range_);
  schedule_.Begin(other);
  EXPECT_EQ(2, schedule_.running());
  EXPECT_EQ(2u, Filled().running->size());
  schedule_.End(range_, Outcome::kInstalled, false, 0);
  ASSERT_EQ(1u, Filled().running->size());
  EXPECT_EQ("c", Filled().running->front().largest);
  schedule_.End(other, Outcome::kInstalled, false, 0);
  EXPECT_TRUE(Filled().running->empty());
  EXPECT_EQ(0, schedule_.running());
}

TEST_F(SsdScheduleTest, ADamagedRangeStaysHeldAndTheOthersGoOn) {
  schedule_.Begin(range_);
  schedule_.End(range_, Outcome::kFailed, true, 7);
  schedule_.Check();
  EXPECT_EQ(0, schedule_.running());
  EXPECT_EQ(1u, Filled().running->size());
  EXPECT_EQ(1u, schedule_.damaged().size());
  EXPECT_TRUE(schedule_.MayStart(0));
}

TEST_F(SsdScheduleTest, APurgeHasEveryOtherTurn) {
  const bool first = Filled().purge_first;
  Run(Outcome::kInstalled, 0);
  EXPECT_NE(first, Filled().purge_first);
  Run(Outcome::kInstalled, 0);
  EXPECT_EQ(first, Filled().purge_first);
}

TEST_F(SsdScheduleTest, ThePauseAfterAFailureDoublesUpToTheLongest) {
  uint64_t now = 0, pause = policy_.least_pause_micros;
  for (int i = 0; i < 20; i++) {
    ASSERT_TRUE(schedule_.MayStart(now));
    Run(Outcome::kFailed, now);
    ASSERT_FALSE(schedule_.MayStart(now + pause - 1));
    now += pause;
    pause = std::min(2 * pause, policy_.most_pause_micros);
  }
  Run(Outcome::kInstalled, now);
  EXPECT_TRUE(schedule_.MayStart(now));
  Run(Outcome::kFailed, now);
  EXPECT_TRUE(schedule_.MayStart(now + policy_.least_pause_micros)) << "from the beginning";
}

TEST(SsdScheduleDeathTest, AnEndWithoutABeginIsAFault) {
  SsdSchedule schedule;
  EXPECT_DEATH(schedule.End({0, "a", "b"}, Outcome::kInstalled, false, 0), "");
}

}  // namespace
}  // namespace miodb::test
