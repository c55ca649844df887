// The scheduler over random histories of flushes, jobs, failures and requests: no two jobs share an input, runs stay in
// the order of age, nothing waits for ever, and every request ends.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "compaction/policy/scheduler.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/compaction/versions.h"
#include "tests/pmtable/table_maker.h"

namespace miodb::test {
namespace {

// A tree of runs, of which the repository's has tables. A model of a database, the events for it and for the scheduler,
// and the rules that have to hold.
class World {
 public:
  World(uint64_t seed, int levels, int trigger)
      : random_(seed),
        trigger_(trigger),
        repository_(levels - 1),
        takes_parts_(seed % 2 == 0),
        levels_(static_cast<size_t>(levels)),
        growth_(1 + seed % 9),
        scheduler_(repository_, MakePolicy(growth_)),
        maker_(&pool_, BytewiseComparator()) {
    // Runs of the buffer have keys from 1000 to 1002. A lazy copy into a large repository takes some of its tables.
    for (uint64_t i = 0; i < 20; i++) {
      tables_.push_back(
          maker_.Make(SortedVersions(maker_.order(), {{std::to_string(90 + i), i + 1, kTypeValue, "v"}})));
    }
    std::sort(tables_.begin(), tables_.end(), [this](const TableRef& a, const TableRef& b) {
      return maker_.order().Compare(a->smallest(), b->smallest()) < 0;
    });
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
    settled_up_to_ = sequence_;
  }
  void EndSettle() {
    scheduler_.EndSettle();
    settling_ = 0;
  }

  // As a caller who wants all that there was at the call in the repository.
  bool Wanting() const { return !(Settled() || scheduler_.merges_blocked()); }
  bool Settled() const {
    for (size_t level = 0; level + 1 < levels_.size(); level++) {
      for (const uint64_t id : levels_[level]) {
        if (spans_.at(id).first <= settled_up_to_) return false;
      }
    }
    return true;
  }

  bool settling() const { return settling_ > 0; }
  bool BufferEmpty() const {
    return std::all_of(levels_.begin(), levels_.end() - 1, [](const auto& level) { return level.empty(); });
  }

  // Does a single step of background threads. False if there is nothing.
  bool Work() {
    space_varies_ = false;
    scheduler_.Check();
    if (running_.empty() && !flushing_ && !StartMerge() && !StartDrain()) {
      if (unflushed_ == 0 || scheduler_.flushing() || scheduler_.flush_blocked()) return false;
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

  // A table for each run of the buffer, with as many entries as the run has.
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
    version->ListRuns();
    return version;
  }

  void BeginFlush() {
    if (unflushed_ == 0 || scheduler_.flushing() || scheduler_.flush_blocked()) return;
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
    SpaceFigures figures;
    figures.payload = figures.capacity = figures.free = 1000;
    figures.live = 1 + random_.Uniform(1000);
    const std::optional<MarkRequest> request = scheduler_.WantsMarks(figures, now_);
    if (!request.has_value()) return;
    scheduler_.WantMarks(*request);
    EXPECT_FALSE(scheduler_.WantsMarks(figures, now_).has_value());
    scheduler_.BeginMarks();
    EXPECT_TRUE(scheduler_.marks_are_fresh()) << "nothing is marked while a thread looks for tables";
    bool any = false;
    for (const TableRef& table : tables_) {
      const bool mark = random_.OneIn(3);
      table->marked.store(mark, std::memory_order_relaxed);
      any = any || mark;
    }
    scheduler_.marks().On(any ? MarkEvent::kFound : MarkEvent::kNone);
    EXPECT_FALSE(scheduler_.WantsMarks(figures, now_).has_value()) << "nothing has ended";
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
    MarkedTables marked;
    for (const TableRef& table : tables_) {
      if (!levels_.back().empty() && table->marked.load(std::memory_order_relaxed))
        marked.emplace(std::pair(levels_.back()[0], table->number()), table);
    }
    input.marked = &marked;
    input.level_trigger = trigger_;
    if (takes_parts_) input.partition_bytes = 1;
    input.settle = space_varies_ && random_.OneIn(16);
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
    running.tables = Numbers(job->tables);
    if (!job->range.unbounded()) running.inputs.pop_back();
    // Else a merge into the repository takes all of its tables.
    if (job->output_level == repository_ && job->tables.empty()) running.tables = Numbers(tables_);
    running.merge = std::move(*job);
    Take(std::move(running));
    return true;
  }

  bool StartDrain() {
    if (!scheduler_.MayDrain(BufferEmpty()) || levels_.back().empty() || drains_wanted_ == 0) return false;
    for (const TableRef& table : tables_) {
      if (scheduler_.busy(Busy::kTables).count(table->number()) > 0) continue;
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
      for (const TableRef& table : running.merge.tables) table->marked.store(false, std::memory_order_relaxed);
      return;
    }
    const size_t output = static_cast<size_t>(running.merge.output_level);
    std::vector<uint64_t> inputs = running.inputs;
    if (!running.merge.range.unbounded()) inputs.push_back(levels_.back()[0]);
    const uint64_t id = output == levels_.size() - 1 ? 0 : ++last_id_;
    Span span{UINT64_MAX, 0};
    uint64_t entries = 0;
    for (uint64_t input : inputs) {
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
  const bool takes_parts_;
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
  bool space_varies_ = true;  // it may be short at any moment of a history, so that all is to be settled
  int settling_ = 0;
  uint64_t settled_up_to_ = 0;
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
    EXPECT_TRUE(scheduler.merges_blocked() || world->Settled());
    world->EndSettle();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace miodb::test
