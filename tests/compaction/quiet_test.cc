// The scheduler and a database that is left alone: when it settles by itself, and when it gives that up.

#include "compaction/policy/quiet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/compaction/scheduler_fixture.h"

namespace miodb::test {
namespace {

// Runs below their triggers, and the time of the only write.
class QuietTest : public SchedulerTest {
 protected:
  void SetUp() override { See(1, 0); }
  // micros: since kLongAfter.
  void See(uint64_t sequence, uint64_t micros) { scheduler_.quiet().See(sequence, kLongAfter + micros); }
  bool SettlesAfter(uint64_t micros) {
    See(scheduler_.quiet().sequence(), micros);
    return HasWork(kLeft);
  }
  void EndQuiet(Outcome outcome) {
    const JobHold hold = Begin(kLeft);
    EXPECT_EQ(MergeKind::kQuiet, hold.kind);
    scheduler_.Check();
    scheduler_.EndMerge(hold, outcome, false);
    scheduler_.Check();
  }

  const std::vector<std::vector<uint64_t>> kLeft = {{2}, {}, {1}};
  const uint64_t silence_ = policy_.quiet.settle_after_micros;
};

TEST_F(QuietTest, WhatIsLeftIsMergedAfterASilence) {
  EXPECT_FALSE(SettlesAfter(silence_ - 1));
  EXPECT_TRUE(SettlesAfter(silence_));
  scheduler_.BeginSettle();
  EXPECT_EQ(MergeKind::kSettle, Begin(kLeft).kind) << "somebody waits";
}

TEST_F(QuietTest, ASilenceOfZeroNeverBegins) {
  SchedulePolicy policy;
  policy.quiet.settle_after_micros = 0;
  Scheduler scheduler(2, policy);
  scheduler.quiet().See(1, kLongAfter);
  scheduler.quiet().See(1, 2 * kLongAfter);
  EXPECT_FALSE(scheduler.quiet().MaySettle());
}

TEST_F(QuietTest, AWriteEndsItAndTheNextAttemptWantsTwiceTheSilence) {
  uint64_t now = 0;
  for (int i = 0; i <= policy_.quiet.most_doublings + 1; i++) {
    const uint64_t wait = silence_ << std::min(i, policy_.quiet.most_doublings);
    EXPECT_FALSE(SettlesAfter(now + wait - 1));
    ASSERT_TRUE(SettlesAfter(now + wait));
    const JobHold hold = Begin(kLeft);
    EXPECT_FALSE(scheduler_.quiet().disturbed());
    now += wait + 1;
    See(static_cast<uint64_t>(i) + 2, now);
    EXPECT_TRUE(scheduler_.quiet().disturbed());
    scheduler_.EndMerge(hold, Outcome::kGivenUp, false);
    scheduler_.Check();
    EXPECT_FALSE(HasWork(kLeft));
    EXPECT_TRUE(scheduler_.merges_may_copy());
  }
  ASSERT_TRUE(SettlesAfter(now + (silence_ << policy_.quiet.most_doublings)));
  EndQuiet(Outcome::kInstalled);
  EXPECT_EQ(silence_, scheduler_.quiet().WaitMicros()) << "one that is installed takes the doublings back";
}

TEST_F(QuietTest, AJobThatAWriteCameTooLateForWaitsForTheNextSilence) {
  ASSERT_TRUE(SettlesAfter(silence_));
  const JobHold hold = Begin(kLeft);
  See(2, silence_ + 1);
  scheduler_.EndMerge(hold, Outcome::kInstalled, false);
  EXPECT_FALSE(HasWork(kLeft));
  EXPECT_TRUE(SettlesAfter(2 * silence_ + 1));
}

TEST_F(QuietTest, WhereNothingIsFoundNobodyLooksAgainUntilSomethingChanges) {
  std::vector<Event> events = EventsThatMayFreeSpace();
  events.emplace_back("merge", [this] { Merge(Outcome::kInstalled); });
  for (const auto& [name, event] : events) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(SettlesAfter(silence_));
    scheduler_.quiet().FoundNothing();
    EXPECT_FALSE(SettlesAfter(silence_));
    event();
    EXPECT_TRUE(HasWork(kLeft));
  }
}

TEST_F(QuietTest, AJobWithoutSpaceIsNotTriedAgainAndBlocksNobody) {
  for (const Outcome outcome : {Outcome::kNoSpace, Outcome::kFailed}) {
    ASSERT_TRUE(SettlesAfter(silence_));
    EndQuiet(outcome);
    EXPECT_TRUE(scheduler_.merges_may_copy());
    EXPECT_FALSE(SettlesAfter(silence_ * 100));
    scheduler_.SpaceAdded();
  }
  EXPECT_TRUE(HasWork(kLeft));
}

TEST_F(QuietTest, NothingBeginsBesideItOrWhileSpaceIsShort) {
  ASSERT_TRUE(SettlesAfter(silence_));
  scheduler_.BeginFlush();
  EXPECT_FALSE(HasWork(kLeft)) << "its run is to be merged too";
  scheduler_.EndFlush(Outcome::kInstalled);
  const JobHold hold = Begin(kLeft);
  EXPECT_FALSE(HasWork(kTwoRuns));
  EXPECT_FALSE(scheduler_.MayDrain(true));
  EXPECT_FALSE(scheduler_.flushing() || scheduler_.flush_blocked());
  scheduler_.EndMerge(hold, Outcome::kInstalled, false);
  EXPECT_TRUE(HasWork(kTwoRuns));
  Merge(Outcome::kNoSpace);
  EXPECT_FALSE(HasWork(kLeft)) << "merges do without copies";
}

TEST_F(QuietTest, GarbageWaitsForIt) {
  SpaceFigures figures = Figures(200);
  figures.buffer_is_empty = false;
  ASSERT_TRUE(SettlesAfter(silence_));
  EXPECT_FALSE(Marks(figures, silence_).has_value());
  scheduler_.quiet().FoundNothing();
  EXPECT_TRUE(Marks(figures, silence_).has_value());
}

TEST_F(QuietTest, AWriteNowAndThenHasFewJobsGivenUp) {
  for (uint64_t seed : Seeds(ByScale(20, 100, 1000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    Quiet quiet{QuietPolicy()};
    uint64_t now = 1, given_up = 0;
    const uint64_t wait = QuietPolicy().settle_after_micros, between = wait * (1 + random.Uniform(300));
    for (uint64_t sequence = 1; sequence < 1000; sequence++) {
      quiet.See(sequence, now);
      for (uint64_t silent = 0; silent < between; silent += wait / 2) quiet.See(sequence, now + silent);
      if (quiet.MaySettle()) {
        quiet.Begin();
        quiet.See(++sequence, now += between);
        quiet.End(QuietEvent::kGivenUp);
        given_up++;
      }
      now += between;
    }
    EXPECT_LE(given_up, static_cast<uint64_t>(std::bit_width(between / wait)));
  }
}

}  // namespace
}  // namespace miodb::test
