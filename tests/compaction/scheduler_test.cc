// The scheduler: what each event and each figure of its policy does, and the tables of its moves.

#include "compaction/policy/scheduler.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/compaction/scheduler_fixture.h"

namespace miodb::test {
namespace {

TEST_F(SchedulerTest, MergesWithoutSpaceCopyNothingAndThenWaitForSomeToCome) {
  Merge(Outcome::kNoSpace);
  EXPECT_FALSE(scheduler_.merges_may_copy());
  EXPECT_FALSE(scheduler_.anything_blocked());
  const JobHold second = Begin(kTwoRuns);
  EXPECT_FALSE(second.may_copy);
  scheduler_.EndMerge(second, Outcome::kNoSpace, false);
  EXPECT_TRUE(scheduler_.merges_blocked());
  EXPECT_FALSE(HasWork(kTwoRuns));
  scheduler_.Retry();
  EXPECT_TRUE(scheduler_.merges_may_copy());
  EXPECT_TRUE(Begin(kTwoRuns).may_copy);
}

TEST_F(SchedulerTest, EverythingThatMayFreeSpaceUnblocksMerges) {
  std::vector<Event> events = EventsThatMayFreeSpace();
  events.emplace_back("somebody asks", [this] { scheduler_.Retry(); });
  for (const auto& [name, event] : events) {
    SCOPED_TRACE(name);
    Merge(Outcome::kNoSpace);
    Merge(Outcome::kNoSpace);
    ASSERT_TRUE(scheduler_.merges_blocked());
    event();
    EXPECT_TRUE(scheduler_.merges_may_copy());
    scheduler_.Check();
  }
}

TEST_F(SchedulerTest, ARemovalThatFindsNoSpaceForItsEditIsNotTriedAgainAtOnce) {
  const MergeJob job{MergeKind::kDrop, 0, 0, {}, {}};
  std::vector<Event> events = EventsThatMayFreeSpace();
  events.emplace_back("somebody asks", [this] { scheduler_.Retry(); });
  events.emplace_back("removal",
                      [this, &job] { scheduler_.EndMerge(scheduler_.BeginMerge(job), Outcome::kInstalled, false); });
  for (const auto& [name, event] : events) {
    SCOPED_TRACE(name);
    scheduler_.EndMerge(scheduler_.BeginMerge(job), Outcome::kNoSpace, false);
    EXPECT_TRUE(scheduler_.merges_blocked());
    EXPECT_FALSE(HasWork(kTwoRuns));
    event();
    EXPECT_TRUE(scheduler_.merges_may_copy());
  }
}

TEST_F(SchedulerTest, AMergeIsTriedAgainAtOnceIfAnotherJobWasInstalledMeanwhile) {
  const JobHold hold = Begin(kTwoRuns);
  scheduler_.BeginFlush();
  scheduler_.EndFlush(Outcome::kInstalled);
  scheduler_.EndMerge(hold, Outcome::kNoSpace, false);
  EXPECT_TRUE(scheduler_.merges_may_copy());
}

TEST_F(SchedulerTest, AFlushWithoutSpaceWaitsForAJob) {
  scheduler_.BeginFlush();
  EXPECT_TRUE(scheduler_.flushing());
  scheduler_.EndFlush(Outcome::kNoSpace);
  EXPECT_TRUE(scheduler_.flush_blocked());
  Merge(Outcome::kNoSpace);
  EXPECT_TRUE(scheduler_.flush_blocked());
  Merge(Outcome::kInstalled);
  EXPECT_FALSE(scheduler_.flushing() || scheduler_.flush_blocked());
  scheduler_.BeginFlush();
  scheduler_.RetryFlush();
  EXPECT_TRUE(scheduler_.flushing());
  scheduler_.EndFlush(Outcome::kFailed);
  EXPECT_FALSE(scheduler_.flushing() || scheduler_.flush_blocked());
}

TEST_F(SchedulerTest, ThePoolIsFullUntilSomethingHasEndedSinceItWasLookedAt) {
  scheduler_.LookForSpace();
  scheduler_.FoundSpace(false);
  EXPECT_TRUE(scheduler_.FullAsItIs());
  Merge(Outcome::kNoSpace);
  EXPECT_TRUE(scheduler_.full());
  EXPECT_FALSE(scheduler_.FullAsItIs()) << "to be looked at again";
  scheduler_.LookForSpace();
  EXPECT_TRUE(scheduler_.FullAsItIs());
  scheduler_.FoundSpace(true);
  EXPECT_FALSE(scheduler_.full());
}

TEST_F(SchedulerTest, ASettlingDatabaseDrainsOnlyWhatIsSettled) {
  scheduler_.BeginSettle();
  EXPECT_FALSE(scheduler_.MayDrain(false));
  EXPECT_TRUE(scheduler_.MayDrain(true));
  scheduler_.EndSettle();
  Merge(Outcome::kNoSpace);
  Merge(Outcome::kNoSpace);
  scheduler_.BeginSettle();
  EXPECT_TRUE(scheduler_.MayDrain(false)) << "merges wait for the space";
  scheduler_.EndSettle();
}

// ---- What each figure of the policy does

TEST_F(SchedulerTest, CollectionsAreTriedWithHalfAsMuchSomeTimes) {
  SpaceFigures figures = Figures(200);
  const uint64_t whole = Marks(figures)->budget;
  for (int i = 1; i <= policy_.collection_attempts; i++) {
    RefuseCollection();
    ASSERT_EQ(whole >> i, Marks(figures)->budget);
    ASSERT_FALSE(scheduler_.anything_blocked());
    scheduler_.Check();
  }
  RefuseCollection();
  EXPECT_TRUE(scheduler_.anything_blocked());
  EXPECT_FALSE(scheduler_.merges_blocked()) << "a merge may find space, and free what a collection needs";
  RefuseCollection();
  scheduler_.Check();
  scheduler_.Retry();
  EXPECT_EQ(whole, Marks(figures)->budget);
  EXPECT_FALSE(scheduler_.anything_blocked());
}

TEST_F(SchedulerTest, CollectionsThatAreBlockedStaySoWhenAnotherIsInstalled) {
  const JobHold other = scheduler_.BeginMerge({MergeKind::kCollect, 1, 1, {}, {}});
  for (int i = 0; i <= policy_.collection_attempts; i++) RefuseCollection();
  ASSERT_TRUE(scheduler_.anything_blocked());
  scheduler_.EndMerge(other, Outcome::kInstalled, false);
  scheduler_.Check();
  EXPECT_TRUE(scheduler_.anything_blocked());
}

TEST_F(SchedulerTest, WhileWritersAreBusyMoreGarbageIsBorne) {
  const uint64_t percent = 100 + policy_.patience * 25;
  EXPECT_TRUE(Marks(Figures(126)).has_value());
  EXPECT_FALSE(Marks(Figures(125)).has_value());
  scheduler_.quiet().See(1, kLongAfter);
  EXPECT_FALSE(Marks(Figures(percent)).has_value());
  EXPECT_TRUE(Marks(Figures(percent + 1)).has_value());
  EXPECT_TRUE(scheduler_.WritersAreBusy(kLongAfter + policy_.busy_micros - 1));
  EXPECT_FALSE(scheduler_.WritersAreBusy(kLongAfter + policy_.busy_micros));
  EXPECT_TRUE(Marks(Figures(percent), policy_.busy_micros).has_value());
  SpaceFigures figures = Figures(126);
  figures.free = figures.capacity / policy_.plenty_share;
  EXPECT_TRUE(Marks(figures).has_value()) << "space is not plentiful";
  scheduler_.BeginSettle();
  EXPECT_FALSE(scheduler_.WritersAreBusy(kLongAfter)) << "somebody waits";
  scheduler_.EndSettle();
}

TEST_F(SchedulerTest, WhereSpaceIsShortLessGarbageIsBorne) {
  SpaceFigures figures = Figures(policy_.short_start_percent + 1);
  EXPECT_FALSE(Marks(figures).has_value());
  figures.reserve = 10 * kMiB;
  figures.free = figures.reserve + figures.Slack() / policy_.short_share;
  EXPECT_FALSE(Marks(figures).has_value());
  figures.free--;
  ASSERT_TRUE(Marks(figures).has_value());
  EXPECT_EQ(policy_.short_start_percent, Marks(figures)->start_percent);
  EXPECT_EQ(policy_.short_goal_percent, Marks(figures)->goal_percent);
  figures.payload = policy_.short_start_percent * kMiB;
  EXPECT_FALSE(Marks(figures).has_value());
  figures = Figures(200);
  figures.chunk = 100 * kMiB;  // so that the chunks count
  figures.payload = 400 * kMiB;
  figures.free = figures.reserve + policy_.short_chunks * figures.chunk;
  EXPECT_EQ(2 * figures.chunk, Marks(figures)->slack);
  figures.free--;
  EXPECT_EQ(figures.chunk, Marks(figures)->slack);
}

TEST_F(SchedulerTest, CopiesLeaveSpaceForTheLog) {
  SpaceFigures figures = Figures(200);
  figures.index_reserve = 7 * kMiB;
  const uint64_t above = figures.free - figures.index_reserve;
  EXPECT_EQ(above - figures.copies_leave - figures.chunk, Marks(figures)->budget);
  scheduler_.FoundSpace(false);
  EXPECT_EQ(above - figures.chunk, Marks(figures)->budget) << "nothing else is left to free space with";
  figures.free = figures.index_reserve + figures.chunk;
  EXPECT_EQ(figures.chunk / 2, Marks(figures)->budget) << "of less than two chunks half";
  figures.free = kMiB;
  EXPECT_FALSE(Marks(figures).has_value()) << "nothing can be copied";
}

TEST_F(SchedulerTest, WhereSpaceIsShortCopiesLeaveWritersSomeOfIt) {
  SpaceFigures figures = Figures(200);
  figures.index_reserve = 7 * kMiB;
  figures.reserve = figures.index_reserve + 2 * (figures.copies_leave + figures.chunk);
  figures.free = figures.reserve + figures.Slack() / policy_.short_share;
  const uint64_t most = figures.free - figures.index_reserve - figures.copies_leave - figures.chunk;
  EXPECT_EQ(most, Marks(figures)->budget) << "there is space";
  figures.free--;
  EXPECT_EQ(most - 1 - figures.Left() / policy_.writers_share, Marks(figures)->budget);
  scheduler_.LookForSpace();
  scheduler_.FoundSpace(false);
  const uint64_t in_a_full_pool = Marks(figures)->budget;
  EXPECT_EQ(figures.free - figures.index_reserve - figures.chunk, in_a_full_pool)
      << "writers of a full pool have nothing to live on";
  Merge(Outcome::kInstalled);
  ASSERT_TRUE(scheduler_.full());
  EXPECT_EQ(in_a_full_pool - figures.Left() / policy_.writers_share, Marks(figures)->budget)
      << "there may be space for them";
}

// Slack is what neither the reserve nor settled data takes.
TEST_F(SchedulerTest, WhereSpaceIsShortALargeBufferGoesToTheRepository) {
  SpaceFigures figures = Figures(100);
  figures.reserve = 100 * kMiB;
  figures.settled = 500 * kMiB;
  EXPECT_EQ(400 * kMiB, figures.Slack());
  figures.live = figures.settled + figures.Slack() / policy_.buffer_share + 1;
  figures.free = figures.reserve + figures.Slack() / policy_.short_share;
  EXPECT_FALSE(WantsBufferMerged(figures)) << "there is space";
  figures.free--;
  EXPECT_TRUE(WantsBufferMerged(figures));
  figures.live--;
  EXPECT_FALSE(WantsBufferMerged(figures)) << "the buffer is small";
  PickerInput input;
  input.version = MakeVersion({{1}, {}, {}});
  EXPECT_FALSE(scheduler_.NextMerge(input).has_value());
  input.settle = true;
  const std::optional<MergeJob> job = scheduler_.NextMerge(input);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(MergeKind::kSettle, job->kind);
  EXPECT_EQ(1u, job->inputs.size());
}

TEST_F(SchedulerTest, MarksAreMadeAnewOnlyAfterSomethingHasEnded) {
  const SpaceFigures figures = Figures(200);
  MarkWith(*Marks(figures), MarkEvent::kFound);
  EXPECT_FALSE(Marks(figures).has_value());
  const JobHold hold = Begin(kTwoRuns);
  scheduler_.BeginFlush();
  scheduler_.EndFlush(Outcome::kFailed);
  EXPECT_FALSE(Marks(figures).has_value()) << "a merge copies by them";
  scheduler_.EndMerge(hold, Outcome::kInstalled, false);
  ASSERT_TRUE(Marks(figures).has_value());
  EXPECT_EQ(Marks(figures)->goal_percent, Marks(figures)->start_percent) << "what was begun is ended";
  EXPECT_TRUE(Marks(Figures(110)).has_value()) << "to take the marks away";
}

TEST_F(SchedulerTest, MarksThatWereLookedForInVainAreNotWantedAgainUntilSomethingHasEnded) {
  SpaceFigures figures = Figures(200);
  MarkWith(*Marks(figures), MarkEvent::kNone);
  EXPECT_FALSE(Marks(figures).has_value());
  figures.free -= kMiB;
  EXPECT_FALSE(Marks(figures).has_value()) << "there is less to copy with";
  figures.free += 2 * kMiB;
  EXPECT_TRUE(Marks(figures).has_value()) << "there is more to copy with";
  figures.free -= kMiB;
  figures.amplification--;
  EXPECT_TRUE(Marks(figures).has_value()) << "more is to go";
  figures.amplification++;
  EXPECT_FALSE(Marks(figures).has_value());
  Merge(Outcome::kFailed);
  EXPECT_TRUE(Marks(figures).has_value());
}

TEST_F(SchedulerTest, WhileADatabaseIsSettledGarbageWaitsForItsMerges) {
  SpaceFigures figures = Figures(200);
  figures.buffer_is_empty = false;
  scheduler_.BeginSettle();
  EXPECT_FALSE(Marks(figures).has_value());
  figures.buffer_is_empty = true;
  EXPECT_TRUE(Marks(figures).has_value());
  figures.buffer_is_empty = false;
  figures.free = 100 * kMiB;
  EXPECT_TRUE(Marks(figures).has_value()) << "they may wait for the space";
  scheduler_.EndSettle();
}

// ---- The tables of moves

using SpaceMove = Move<SpaceState, SpaceEvent>;
constexpr SpaceMove kFill = {SpaceState::kFound, SpaceEvent::kRefused, SpaceState::kFull};
constexpr SpaceMove kStay = {SpaceState::kFound, SpaceEvent::kRefused, SpaceState::kFound};
constexpr SpaceMove kEmpty = {SpaceState::kFull, SpaceEvent::kFound, SpaceState::kFound};
static_assert(!IsDeterministic(std::array<SpaceMove, 2>{kFill, kStay}));
static_assert(!AllComeBack(std::array<SpaceMove, 1>{kFill}));
static_assert(AllComeBack(std::array<SpaceMove, 2>{kFill, kEmpty}));

}  // namespace
}  // namespace miodb::test
