// The scheduler: what each figure of its policy does, and, over random histories of flushes, jobs, failures and
// requests, that no two jobs share an input, that runs stay in the order of age, that nothing waits for ever, and that
// every request ends.

#include "compaction/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tests/common/environment.h"
#include "tests/common/random.h"
#include "tests/compaction/versions.h"
#include "tests/pmtable/table_maker.h"

namespace miodb::test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// ---- What each event does

// A database of three levels whose merges are one at a time.
class SchedulerTest : public testing::Test {
 protected:
  JobHold Begin(const std::vector<std::vector<uint64_t>>& ids) {
    PickerInput input;
    input.version = MakeVersion(ids);
    const std::optional<MergeJob> job = scheduler_.NextMerge(input);
    EXPECT_TRUE(job.has_value());
    return job.has_value() ? scheduler_.BeginMerge(*job) : JobHold();
  }
  bool HasWork(const std::vector<std::vector<uint64_t>>& ids) {
    PickerInput input;
    input.version = MakeVersion(ids);
    return scheduler_.NextMerge(input).has_value();
  }
  void Merge(Outcome outcome) {
    const JobHold hold = Begin(kTwoRuns);
    scheduler_.Check();
    scheduler_.EndMerge(hold, outcome, false);
    scheduler_.Check();
  }
  // Begins and ends one that finds too little space.
  void RefuseCollection() {
    MergeJob job{MergeKind::kCollect, 0, 0, {}, {}};
    const JobHold hold = scheduler_.BeginMerge(job);
    scheduler_.EndMerge(hold, Outcome::kNoSpace, false);
  }
  std::optional<MarkRequest> Marks(const SpaceFigures& figures, uint64_t now = 0) const {
    return scheduler_.WantsMarks(figures, now + kLongAfter);
  }
  // Plenty of free space, and payload in percent of the live bytes.
  static SpaceFigures Figures(uint64_t payload_percent) {
    SpaceFigures figures;
    figures.capacity = 1000 * kMiB;
    figures.free = 500 * kMiB;
    figures.chunk = kMiB;
    figures.live = 100 * kMiB;
    figures.payload = payload_percent * kMiB;
    return figures;
  }

  static constexpr uint64_t kLongAfter = uint64_t{1} << 40;
  const std::vector<std::vector<uint64_t>> kTwoRuns = {{2, 1}, {}, {}};
  const SchedulePolicy policy_{};
  Scheduler scheduler_{2};
};

TEST_F(SchedulerTest, MergesWithoutSpaceCopyNothingAndThenWaitForSomeToCome) {
  Merge(Outcome::kNoSpace);
  EXPECT_FALSE(scheduler_.merges_may_copy());
  EXPECT_FALSE(scheduler_.anything_blocked());
  const JobHold second = Begin(kTwoRuns);
  EXPECT_FALSE(second.copies);
  scheduler_.EndMerge(second, Outcome::kNoSpace, false);
  EXPECT_TRUE(scheduler_.merges_blocked());
  EXPECT_FALSE(HasWork(kTwoRuns));
  scheduler_.Retry();
  EXPECT_TRUE(scheduler_.merges_may_copy());
  EXPECT_TRUE(Begin(kTwoRuns).copies);
}

TEST_F(SchedulerTest, EverythingThatMayFreeSpaceUnblocksMerges) {
  const std::vector<std::pair<const char*, std::function<void()>>> events = {
      {"flush",
       [this] {
         scheduler_.BeginFlush();
         scheduler_.EndFlush(Outcome::kInstalled);
       }},
      {"job of the SSD tier", [this] { scheduler_.EndSsd(Outcome::kInstalled); }},
      {"region", [this] { scheduler_.SpaceAdded(); }},
      {"somebody asks", [this] { scheduler_.Retry(); }},
  };
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

TEST_F(SchedulerTest, AMergeIsTriedAgainAtOnceIfAnotherJobWasInstalledMeanwhile) {
  const JobHold hold = Begin(kTwoRuns);
  scheduler_.BeginFlush();
  scheduler_.EndFlush(Outcome::kInstalled);
  scheduler_.EndMerge(hold, Outcome::kNoSpace, false);
  EXPECT_TRUE(scheduler_.merges_may_copy());
}

TEST_F(SchedulerTest, AFlushWithoutSpaceWaitsForAJob) {
  scheduler_.BeginFlush();
  EXPECT_FALSE(scheduler_.MayFlush());
  scheduler_.EndFlush(Outcome::kNoSpace);
  EXPECT_TRUE(scheduler_.flush_blocked());
  Merge(Outcome::kNoSpace);
  EXPECT_TRUE(scheduler_.flush_blocked());
  Merge(Outcome::kInstalled);
  EXPECT_TRUE(scheduler_.MayFlush());
  scheduler_.BeginFlush();
  scheduler_.RetryFlush();
  EXPECT_TRUE(scheduler_.flushing());
  scheduler_.EndFlush(Outcome::kFailed);
  EXPECT_TRUE(scheduler_.MayFlush());
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
  figures.free = figures.reserve + figures.capacity / policy_.short_share;
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
  EXPECT_EQ(above - policy_.copies_leave_chunks * figures.chunk, Marks(figures)->budget);
  scheduler_.FoundSpace(false);
  EXPECT_EQ(above - figures.chunk, Marks(figures)->budget) << "nothing else is left to free space with";
  figures.free = kMiB;
  EXPECT_EQ(0u, Marks(figures)->budget);
}

TEST_F(SchedulerTest, MarksAreMadeAnewOnlyAfterSomethingHasEnded) {
  const SpaceFigures figures = Figures(200);
  EXPECT_TRUE(scheduler_.BeginMarks(false));
  scheduler_.EndMarks(true);
  EXPECT_FALSE(Marks(figures).has_value());
  const JobHold hold = Begin(kTwoRuns);
  EXPECT_FALSE(scheduler_.BeginMarks(true)) << "a merge copies by them";
  EXPECT_TRUE(scheduler_.BeginMarks(false));
  scheduler_.EndMerge(hold, Outcome::kInstalled, false);
  ASSERT_TRUE(Marks(figures).has_value());
  EXPECT_EQ(Marks(figures)->goal_percent, Marks(figures)->start_percent) << "what was begun is ended";
  EXPECT_TRUE(Marks(Figures(110)).has_value()) << "to take the marks away";
}

TEST_F(SchedulerTest, WhileADatabaseIsSettledGarbageWaitsForItsMerges) {
  SpaceFigures figures = Figures(200);
  figures.buffer_is_empty = false;
  scheduler_.BeginSettle();
  EXPECT_FALSE(Marks(figures).has_value());
  figures.buffer_is_empty = true;
  EXPECT_TRUE(Marks(figures).has_value());
  figures.buffer_is_empty = false;
  figures.free = 0;
  EXPECT_TRUE(Marks(figures).has_value()) << "they may wait for the space";
  scheduler_.EndSettle();
}

// ---- Quiet

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
  const std::vector<std::pair<const char*, std::function<void()>>> events = {
      {"merge", [this] { Merge(Outcome::kInstalled); }},
      {"flush",
       [this] {
         scheduler_.BeginFlush();
         scheduler_.EndFlush(Outcome::kInstalled);
       }},
      {"job of the SSD tier", [this] { scheduler_.EndSsd(Outcome::kInstalled); }},
      {"region", [this] { scheduler_.SpaceAdded(); }},
  };
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
  EXPECT_TRUE(scheduler_.MayFlush());
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

// ---- The tables of moves

using SpaceMove = Move<SpaceState, SpaceEvent>;
constexpr SpaceMove kFill = {SpaceState::kFound, SpaceEvent::kRefused, SpaceState::kFull};
constexpr SpaceMove kStay = {SpaceState::kFound, SpaceEvent::kRefused, SpaceState::kFound};
constexpr SpaceMove kEmpty = {SpaceState::kFull, SpaceEvent::kFound, SpaceState::kFound};
static_assert(!IsDeterministic(std::array<SpaceMove, 2>{kFill, kStay}));
static_assert(!AllComeBack(std::array<SpaceMove, 1>{kFill}));
static_assert(AllComeBack(std::array<SpaceMove, 2>{kFill, kEmpty}));

// ---- Random histories

// A tree of runs, of which the repository's has tables. What happens to it and to the scheduler, and what has to hold.
class World {
 public:
  World(uint64_t seed, int levels, int trigger)
      : random_(seed),
        trigger_(trigger),
        repository_(levels - 1),
        levels_(static_cast<size_t>(levels)),
        growth_(1 + seed % 9),
        scheduler_(repository_, MakePolicy(growth_)),
        maker_(&pool_, BytewiseComparator()) {
    for (uint64_t i = 0; i < 6; i++) {
      tables_.push_back(maker_.Make(SortedVersions(maker_.order(), {{std::to_string(i), i + 1, kTypeValue, "v"}})));
    }
  }

  // How often a job fails, in percent.
  void SetFailures(uint64_t percent) { failures_ = percent; }

  void Step() {
    const uint64_t dice = random_.Uniform(22);
    if (dice >= 20) {
      Pass(random_.Uniform(2 * scheduler_.quiet().WaitMicros()));
    } else if (dice < 5) {
      if (unflushed_ < 3) unflushed_++;
      if (random_.OneIn(2)) Write();
      BeginFlush();
    } else if (dice < 9) {
      StartMerge();
    } else if (dice < 11) {
      StartDrain();
    } else if (dice < 12) {
      MarkSomething();
    } else if (dice < 13 && settling_ == 0 && random_.OneIn(3)) {
      BeginSettle();
    } else if (dice < 14 && settling_ > 0) {
      if (!Wanting()) EndSettle();
    } else if (dice < 15 && random_.OneIn(5)) {
      scheduler_.SpaceAdded();
    } else {
      FinishAny();
    }
    scheduler_.Check();
  }

  // Time goes by, and the scheduler looks at the clock.
  void Pass(uint64_t micros) {
    now_ += micros;
    scheduler_.quiet().See(written_, now_);
  }
  void Write() {
    written_++;
    written_at_ = ++now_;
    scheduler_.quiet().See(written_, now_);
    disturbed_ = scheduler_.quiet().running();
    EXPECT_EQ(disturbed_, scheduler_.quiet().disturbed());
  }

  // Whether some run and those newer than it would be one, if the database were left alone.
  bool WorthSettling() const {
    uint64_t newer = 0;
    bool in_buffer = false;
    for (size_t level = 0; level < levels_.size(); level++) {
      for (const uint64_t id : levels_[level]) {
        const uint64_t entries = level + 1 == levels_.size() ? tables_.size() : entries_.at(id);
        if (level + 1 == levels_.size() && in_buffer && newer * growth_ >= entries) return true;
        in_buffer = in_buffer || level + 1 < levels_.size();
        newer += entries;
      }
    }
    return in_buffer && levels_.back().empty();
  }

  void BeginSettle() {
    scheduler_.BeginSettle();
    scheduler_.RetryFlush();
    scheduler_.Retry();
    settling_ = 1;
    settles_before_ = scheduler_.settles_started();
  }
  void EndSettle() {
    scheduler_.EndSettle();
    settling_ = 0;
  }

  // As a caller who wants all that there was at the call in the repository.
  bool Wanting() const {
    if (scheduler_.settles_finished() > settles_before_) return false;
    const bool merged = scheduler_.running() == 0 && BufferEmpty();
    return !(merged || scheduler_.merges_blocked());
  }

  bool settling() const { return settling_ > 0; }
  bool BufferEmpty() const {
    return std::all_of(levels_.begin(), levels_.end() - 1, [](const auto& level) { return level.empty(); });
  }

  // One thing that threads of the background would do. False if there is nothing.
  bool Work() {
    scheduler_.Check();
    if (running_.empty() && !flushing_ && !StartMerge() && !StartDrain()) {
      if (unflushed_ == 0 || !scheduler_.MayFlush()) return false;
      BeginFlush();
    }
    while (!running_.empty() || flushing_) FinishAny();
    return true;
  }

  // Newest first over all levels: each run's sequences are above those of the next.
  void CheckAges() const {
    uint64_t below = UINT64_MAX;
    for (const std::vector<uint64_t>& level : levels_) {
      uint64_t id_below = UINT64_MAX;
      for (uint64_t id : level) {
        const Span& span = spans_.at(id);
        ASSERT_LE(span.first, span.last);
        ASSERT_LT(span.last, below) << "the order of age is broken at run " << id;
        ASSERT_LT(id, id_below) << "newest first means highest id first";
        below = span.first;
        id_below = id;
      }
    }
  }

  Scheduler& scheduler() { return scheduler_; }
  const std::vector<std::vector<uint64_t>>& levels() const { return levels_; }
  uint64_t unflushed() const { return unflushed_; }
  uint64_t starts() const { return starts_; }

 private:
  struct Span {
    uint64_t first;
    uint64_t last;
  };
  struct Running {
    MergeJob merge;
    SsdJob ssd;
    JobHold hold;
    std::vector<uint64_t> inputs;
    std::vector<uint64_t> tables;
  };

  static SchedulePolicy MakePolicy(uint64_t growth) {
    SchedulePolicy policy;
    policy.quiet.growth = growth;
    return policy;
  }

  Outcome Draw() {
    if (random_.Uniform(100) >= failures_) return Outcome::kInstalled;
    return random_.OneIn(8) ? Outcome::kFailed : Outcome::kNoSpace;
  }

  // One table for each run of the buffer, with as many entries as it has.
  TableRef TableOf(uint64_t id) {
    TableRef& table = run_tables_[id];
    if (table != nullptr) return table;
    std::vector<TestVersion> versions;
    for (uint64_t i = 0; i < entries_.at(id); i++) {
      versions.push_back({std::to_string(1000 + i), i + 1, kTypeValue, "v"});
    }
    table = maker_.Make(SortedVersions(maker_.order(), versions));
    return table;
  }

  VersionRef MakeItsVersion() {
    auto version = MakeVersion(levels_);
    for (size_t level = 0; level + 1 < levels_.size(); level++) {
      for (size_t i = 0; i < levels_[level].size(); i++) {
        auto run = std::make_shared<miodb::Run>();
        run->id = levels_[level][i];
        run->tables = std::vector<TableRef>{TableOf(run->id)};
        version->levels[level][i] = std::move(run);
      }
    }
    if (!levels_.back().empty()) {
      auto run = std::make_shared<miodb::Run>();
      run->id = levels_.back()[0];
      run->tables = tables_;
      version->levels.back()[0] = std::move(run);
    }
    return version;
  }

  void BeginFlush() {
    if (unflushed_ == 0 || !scheduler_.MayFlush()) return;
    EXPECT_FALSE(flushing_) << "two flushes at a time";
    scheduler_.BeginFlush();
    flushing_ = true;
  }

  void EndFlush() {
    const Outcome outcome = Draw();
    scheduler_.EndFlush(outcome);
    flushing_ = false;
    if (outcome != Outcome::kInstalled) return;
    unflushed_--;
    levels_[0].insert(levels_[0].begin(), ++last_id_);
    spans_[last_id_] = {sequence_ + 1, sequence_ + 10};
    entries_[last_id_] = 1 + random_.Uniform(3);
    sequence_ += 10;
  }

  void MarkSomething() {
    if (!scheduler_.BeginMarks(true)) return;
    bool any = false;
    for (const TableRef& table : tables_) {
      const bool mark = random_.OneIn(3);
      table->payload()[0].extent->evacuate.store(mark);
      any = any || mark;
    }
    scheduler_.EndMarks(any);
  }

  void Take(Running running) {
    for (const Running& other : running_) {
      for (uint64_t input : running.inputs) {
        EXPECT_EQ(0, std::count(other.inputs.begin(), other.inputs.end(), input)) << "run " << input << " in two jobs";
      }
      for (uint64_t table : running.tables) {
        EXPECT_EQ(0, std::count(other.tables.begin(), other.tables.end(), table)) << "table " << table << " twice";
      }
    }
    starts_++;
    running_.push_back(std::move(running));
  }

  bool StartMerge() {
    PickerInput input;
    input.version = MakeItsVersion();
    input.level_trigger = trigger_;
    input.quiet_bytes = UINT64_MAX;
    std::optional<MergeJob> job = scheduler_.NextMerge(input);
    if (!job.has_value()) {
      scheduler_.quiet().FoundNothing();
      return false;
    }
    if (job->kind == MergeKind::kQuiet) {
      EXPECT_TRUE(running_.empty() && settling_ == 0) << "nothing runs beside it, and nobody waits";
      EXPECT_GE(now_ - written_at_, scheduler_.quiet().WaitMicros());
      disturbed_ = false;
    }
    Running running;
    running.hold = scheduler_.BeginMerge(*job);
    running.inputs = Ids(job->inputs);
    running.tables = job->kind == MergeKind::kCollect ? Numbers(job->collect) : std::vector<uint64_t>();
    // A merge into the repository takes all of its tables.
    if (job->output_level == repository_ && job->kind != MergeKind::kCollect) running.tables = Numbers(tables_);
    running.merge = std::move(*job);
    Take(std::move(running));
    return true;
  }

  bool StartDrain() {
    if (!scheduler_.MayDrain(BufferEmpty()) || levels_.back().empty() || drains_wanted_ == 0) return false;
    for (const TableRef& table : tables_) {
      if (scheduler_.busy_tables().count(table->number()) > 0) continue;
      Running running;
      running.ssd.tables = {table};
      running.hold = scheduler_.BeginDrain(running.ssd);
      running.tables = {table->number()};
      Take(std::move(running));
      drains_wanted_--;
      return true;
    }
    return false;
  }

  void FinishAny() {
    if (flushing_ && (running_.empty() || random_.OneIn(3))) {
      EndFlush();
    } else if (!running_.empty()) {
      Finish(random_.Uniform(running_.size()));
    }
  }

  void Finish(size_t i) {
    const Running running = running_[i];
    running_.erase(running_.begin() + static_cast<ptrdiff_t>(i));
    Outcome outcome = Draw();
    // A write may come too late to end it.
    if (running.hold.kind == MergeKind::kQuiet && disturbed_ && !random_.OneIn(4)) outcome = Outcome::kGivenUp;
    if (running.ssd.is_drain()) {
      scheduler_.EndDrain(running.hold);
      scheduler_.EndSsd(outcome);
      return;
    }
    if (outcome == Outcome::kInstalled) InstallMerge(running);
    scheduler_.EndMerge(running.hold, outcome, random_.Uniform(100) < failures_);
  }

  void InstallMerge(const Running& running) {
    if (running.merge.kind == MergeKind::kCollect) {
      for (const TableRef& table : running.merge.collect) table->payload()[0].extent->evacuate.store(false);
      return;
    }
    const size_t output = static_cast<size_t>(running.merge.output_level);
    const uint64_t id = output == levels_.size() - 1 ? 0 : ++last_id_;
    Span span{UINT64_MAX, 0};
    uint64_t entries = 0;
    for (uint64_t input : running.inputs) {
      span.first = std::min(span.first, spans_[input].first);
      span.last = std::max(span.last, spans_[input].last);
      entries += entries_[input];
      run_tables_.erase(input);
      for (auto& level : levels_) level.erase(std::remove(level.begin(), level.end(), input), level.end());
    }
    levels_[output].insert(levels_[output].begin(), id);
    spans_[id] = span;
    entries_[id] = entries;
  }

  Random random_;
  const int trigger_;
  const int repository_;
  std::vector<std::vector<uint64_t>> levels_;
  std::map<uint64_t, Span> spans_;
  std::map<uint64_t, uint64_t> entries_;  // of runs
  const uint64_t growth_;
  Scheduler scheduler_;
  TestPool pool_;
  TableMaker maker_;
  std::vector<TableRef> tables_;
  std::map<uint64_t, TableRef> run_tables_;
  std::vector<Running> running_;
  uint64_t now_ = uint64_t{1} << 40;
  uint64_t written_ = 0;     // writes
  uint64_t written_at_ = 0;  // the last of them
  bool disturbed_ = false;   // one came since a quiet merge began
  bool flushing_ = false;
  int settling_ = 0;
  uint64_t settles_before_ = 0;
  uint64_t unflushed_ = 0;
  uint64_t drains_wanted_ = 40;
  uint64_t failures_ = 0;
  uint64_t starts_ = 0;
  uint64_t last_id_ = 0;
  uint64_t sequence_ = 0;
};

class SchedulerModelTest : public testing::Test {
 protected:
  // A world with a history. failures: of a hundred jobs.
  static std::unique_ptr<World> After(uint64_t seed, uint64_t failures) {
    auto world = std::make_unique<World>(seed, static_cast<int>(2 + seed % 6), static_cast<int>(2 + seed % 3));
    world->SetFailures(failures);
    for (int i = 0; i < 300 && !HasFailure(); i++) {
      world->Step();
      world->CheckAges();
    }
    return world;
  }
};

TEST_F(SchedulerModelTest, NoTwoJobsShareAnInputAndRunsStayInTheOrderOfAge) {
  for (uint64_t seed : Seeds(ByScale(100, 300, 10000))) {
    SCOPED_TRACE(Repeat(seed));
    After(seed, seed % 3 * 30);
    if (HasFailure()) return;
  }
}

TEST_F(SchedulerModelTest, WhateverWaitsGoesOnWhenSpaceComes) {
  for (uint64_t seed : Seeds(ByScale(100, 300, 10000))) {
    SCOPED_TRACE(Repeat(seed));
    const auto world = After(seed, 30 + seed % 71);
    if (world->settling()) world->EndSettle();
    world->SetFailures(0);
    world->scheduler().SpaceAdded();
    EXPECT_FALSE(world->scheduler().anything_blocked() || world->scheduler().flush_blocked());
    for (int i = 0; i < 1000 && world->Work(); i++) continue;
    world->CheckAges();
    ASSERT_FALSE(world->Work()) << "there is no end";
    const auto& levels = world->levels();
    EXPECT_EQ(0u, world->unflushed());
    EXPECT_TRUE(levels[levels.size() - 2].empty()) << "the last buffer level drains";
    EXPECT_LE(levels.back().size(), 1u);
    for (size_t level = 0; level + 2 < levels.size(); level++) {
      EXPECT_LT(levels[level].size(), 2 + seed % 3) << "level " << level;
    }
    if (HasFailure()) return;
  }
}

TEST_F(SchedulerModelTest, WithoutSpaceEverythingComesToRest) {
  for (uint64_t seed : Seeds(ByScale(100, 300, 10000))) {
    SCOPED_TRACE(Repeat(seed));
    const auto world = After(seed, 50);
    if (world->settling()) world->EndSettle();
    world->SetFailures(100);
    const uint64_t before = world->starts();
    // Merges with copies, without, and all attempts of a collection, before each of the drains that were still wanted.
    const uint64_t most = 200 + 2 * static_cast<uint64_t>(SchedulePolicy().collection_attempts);
    while (world->Work() && world->starts() - before <= most) continue;
    EXPECT_LE(world->starts() - before, most) << "jobs that all fail keep each other going";
    if (HasFailure()) return;
  }
}

TEST_F(SchedulerModelTest, ADatabaseThatIsLeftAloneSettlesAndThenRests) {
  for (uint64_t seed : Seeds(ByScale(100, 300, 10000))) {
    SCOPED_TRACE(Repeat(seed));
    const auto world = After(seed, seed % 101);
    if (world->settling()) world->EndSettle();
    world->SetFailures(0);
    world->scheduler().SpaceAdded();
    for (int i = 0; i < 1000 && world->Work(); i++) continue;
    for (int i = 0; i < 20; i++) {
      world->Pass(world->scheduler().quiet().WaitMicros());
      for (int j = 0; j < 100 && world->Work(); j++) world->CheckAges();
    }
    EXPECT_FALSE(world->WorthSettling());
    EXPECT_EQ(0u, world->unflushed());
    const uint64_t starts = world->starts();
    for (int i = 0; i < 100; i++) {
      world->Pass(world->scheduler().quiet().WaitMicros());
      ASSERT_FALSE(world->scheduler().quiet().MaySettle()) << "nobody is to look at the runs again and again";
      ASSERT_FALSE(world->Work());
    }
    EXPECT_EQ(starts, world->starts());
    if (HasFailure()) return;
  }
}

TEST_F(SchedulerModelTest, AWriteNowAndThenHasFewJobsGivenUp) {
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

TEST_F(SchedulerModelTest, EveryRequestToSettleEnds) {
  for (uint64_t seed : Seeds(ByScale(100, 300, 10000))) {
    SCOPED_TRACE(Repeat(seed));
    const auto world = After(seed, seed % 101);
    if (world->settling()) world->EndSettle();
    world->SetFailures(seed % 2 == 0 ? 0 : 40);
    world->BeginSettle();
    int steps = 0;
    while (world->Wanting() && steps++ < 1000) {
      ASSERT_TRUE(world->Work()) << "somebody waits, and nothing is at work";
    }
    ASSERT_FALSE(world->Wanting());
    const Scheduler& scheduler = world->scheduler();
    EXPECT_TRUE(scheduler.merges_blocked() || world->BufferEmpty() || scheduler.settles_finished() > 0);
    world->EndSettle();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace miodb::test
