#include "compaction/picker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "src/util/random.h"
#include "tests/common/environment.h"
#include "tests/compaction/merge_world.h"

namespace miodb::test {
namespace {

// A version of runs without tables. ids[level]: newest first.
VersionRef MakeVersion(const std::vector<std::vector<uint64_t>>& ids) {
  auto version = std::make_shared<Version>();
  for (const std::vector<uint64_t>& level : ids) {
    auto& runs = version->levels.emplace_back();
    for (uint64_t id : level) {
      auto run = std::make_shared<miodb::Run>();
      run->id = id;
      runs.push_back(std::move(run));
    }
  }
  return version;
}

std::vector<uint64_t> Ids(const std::vector<RunRef>& runs) {
  std::vector<uint64_t> ids;
  for (const RunRef& run : runs) ids.push_back(run->id);
  return ids;
}

class PickerTest : public testing::Test {
 protected:
  // What is picked for these runs: "kind from->to: inputs", or "none".
  std::string Pick(const std::vector<std::vector<uint64_t>>& ids) {
    PickerInput input;
    input.version = MakeVersion(ids);
    input.level_trigger = trigger_;
    input.busy_runs = &busy_runs_;
    input.busy_levels = &busy_levels_;
    input.jobs_running = jobs_running_;
    input.settle = settle_;
    const std::optional<MergeJob> job = PickMerge(input);
    if (!job.has_value()) return "none";
    std::string text = std::string(MergeKindName(job->kind)) + " " + std::to_string(job->level) + "->" +
                       std::to_string(job->output_level) + ":";
    for (uint64_t id : Ids(job->inputs)) text += " " + std::to_string(id);
    return text;
  }

  int trigger_ = 2;
  std::set<uint64_t> busy_runs_;
  std::set<int> busy_levels_;
  bool jobs_running_ = false;
  bool settle_ = false;
};

TEST_F(PickerTest, NothingIsDueBelowTheTrigger) {
  EXPECT_EQ("none", Pick({{}, {}, {}, {}}));
  EXPECT_EQ("none", Pick({{5}, {4}, {}, {0}}));
  trigger_ = 4;
  EXPECT_EQ("none", Pick({{9, 8, 7}, {6, 5, 4}, {}, {}}));
  EXPECT_EQ("zero-copy merge 0->1: 9 8 7 6", Pick({{9, 8, 7, 6}, {}, {}, {}}));
}

TEST_F(PickerTest, ALevelsRunsGoOneLevelDown) {
  EXPECT_EQ("zero-copy merge 0->1: 5 4", Pick({{5, 4}, {3}, {}, {0}}));
  EXPECT_EQ("zero-copy merge 1->2: 4 3", Pick({{5}, {4, 3}, {}, {}, {0}}));
}

TEST_F(PickerTest, ALongLevelGivesItsOldestRuns) {
  EXPECT_EQ("zero-copy merge 0->1: 18 17 16 15 14 13 12 11",
            Pick({{20, 19, 18, 17, 16, 15, 14, 13, 12, 11}, {}, {}, {}}));
}

TEST_F(PickerTest, TheLastBufferLevelGoesIntoTheRepositoryRunByRun) {
  EXPECT_EQ("lazy copy 1->2: 3", Pick({{}, {3}, {}}));
  EXPECT_EQ("lazy copy 1->2: 3 0", Pick({{}, {4, 3}, {0}}));
  EXPECT_EQ("lazy copy 0->1: 3 0", Pick({{5, 4, 3}, {0}}));
}

TEST_F(PickerTest, TheMostOverdueLevelComesFirst) {
  EXPECT_EQ("zero-copy merge 1->2: 6 5 4 3", Pick({{9, 8}, {6, 5, 4, 3}, {}, {}}));
  EXPECT_EQ("zero-copy merge 0->1: 9 8 7", Pick({{9, 8, 7}, {6, 5}, {}, {}}));
  EXPECT_EQ("zero-copy merge 0->1: 9 8", Pick({{9, 8}, {6, 5}, {}, {}})) << "of equal ones the newest";
  EXPECT_EQ("lazy copy 1->2: 3", Pick({{9, 8}, {7, 6, 5, 4, 3}, {}}));
}

TEST_F(PickerTest, BusyLevelsAndRunsWait) {
  busy_levels_ = {0};
  EXPECT_EQ("none", Pick({{5, 4}, {}, {}, {}}));
  EXPECT_EQ("zero-copy merge 1->2: 3 2", Pick({{5, 4}, {3, 2}, {}, {}}));
  busy_levels_ = {};
  busy_runs_ = {3};
  EXPECT_EQ("zero-copy merge 0->1: 5 4", Pick({{5, 4}, {6, 3, 2}, {}, {}}));
  busy_runs_ = {};
  busy_levels_ = {2};  // the repository
  EXPECT_EQ("none", Pick({{}, {3}, {0}}));
}

TEST_F(PickerTest, ASettleTakesTheWholeBufferOnceNothingRuns) {
  settle_ = true;
  EXPECT_EQ("settling merge 0->3: 9 8 7 6 0", Pick({{9, 8}, {7}, {6}, {0}}));
  EXPECT_EQ("settling merge 0->3: 9", Pick({{9}, {}, {}, {}}));
  EXPECT_EQ("none", Pick({{}, {}, {}, {0}}));
  jobs_running_ = true;
  EXPECT_EQ("none", Pick({{9, 8, 7}, {}, {}, {0}}));
}

// ---- The order of age, over random histories of flushes and of jobs that run side by side.

class AgeModel {
 public:
  AgeModel(uint64_t seed, int levels, int trigger)
      : random_(seed), trigger_(trigger), levels_(static_cast<size_t>(levels)) {}

  void Step() {
    const uint64_t dice = random_.Uniform(10);
    if (dice < 4) {
      Flush();
    } else if (dice < 7) {
      Start(random_.OneIn(20));
    } else if (!running_.empty()) {
      Finish(random_.Uniform(running_.size()));
    }
  }

  // Lets everything that is due happen.
  void Drain() {
    while (!running_.empty() || Start(false)) {
      if (!running_.empty()) Finish(0);
    }
  }

  const std::vector<std::vector<uint64_t>>& levels() const { return levels_; }

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

 private:
  struct Span {
    uint64_t first;
    uint64_t last;
  };
  struct Running {
    MergeJob job;
    std::vector<uint64_t> inputs;
  };

  void Flush() {
    levels_[0].insert(levels_[0].begin(), ++last_id_);
    spans_[last_id_] = {sequence_ + 1, sequence_ + 10};
    sequence_ += 10;
  }

  bool Start(bool settle) {
    PickerInput input;
    input.version = MakeVersion(levels_);
    input.level_trigger = trigger_;
    input.busy_runs = &busy_runs_;
    input.busy_levels = &busy_levels_;
    input.jobs_running = !running_.empty();
    input.settle = settle;
    std::optional<MergeJob> job = PickMerge(input);
    if (!job.has_value()) return false;
    for (const RunRef& run : job->inputs) EXPECT_TRUE(busy_runs_.insert(run->id).second) << "a run in two jobs";
    if (job->kind == MergeKind::kSettle) {
      for (size_t level = 0; level < levels_.size(); level++) busy_levels_.insert(static_cast<int>(level));
    } else {
      busy_levels_.insert(job->level);
      if (job->kind == MergeKind::kLazyCopy) busy_levels_.insert(job->output_level);
    }
    running_.push_back({*job, Ids(job->inputs)});
    return true;
  }

  void Finish(size_t i) {
    const Running running = running_[i];
    running_.erase(running_.begin() + static_cast<ptrdiff_t>(i));
    const size_t output = static_cast<size_t>(running.job.output_level);
    const bool repository = output == levels_.size() - 1;
    const uint64_t id = repository ? 0 : ++last_id_;
    Span span{UINT64_MAX, 0};
    for (uint64_t input : running.inputs) {
      span.first = std::min(span.first, spans_[input].first);
      span.last = std::max(span.last, spans_[input].last);
      for (auto& level : levels_) level.erase(std::remove(level.begin(), level.end(), input), level.end());
      busy_runs_.erase(input);
    }
    levels_[output].insert(levels_[output].begin(), id);
    spans_[id] = span;
    if (running.job.kind == MergeKind::kSettle) {
      busy_levels_.clear();
    } else {
      busy_levels_.erase(running.job.level);
      if (running.job.kind == MergeKind::kLazyCopy) busy_levels_.erase(running.job.output_level);
    }
  }

  Random random_;
  const int trigger_;
  std::vector<std::vector<uint64_t>> levels_;
  std::map<uint64_t, Span> spans_;
  std::set<uint64_t> busy_runs_;
  std::set<int> busy_levels_;
  std::vector<Running> running_;
  uint64_t last_id_ = 0;
  uint64_t sequence_ = 0;
};

TEST(PickerAgeTest, ParallelJobsNeverBreakTheOrderOfAge) {
  for (uint64_t seed : Seeds(ByScale(100, 300, 10000))) {
    SCOPED_TRACE(Repeat(seed));
    AgeModel model(seed, static_cast<int>(2 + seed % 6), static_cast<int>(2 + seed % 3));
    for (int i = 0; i < 300; i++) {
      model.Step();
      model.CheckAges();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(PickerAgeTest, WhatIsDueGetsDone) {
  for (uint64_t seed : Seeds(ByScale(30, 100, 1000))) {
    SCOPED_TRACE(Repeat(seed));
    const int trigger = static_cast<int>(2 + seed % 3);
    AgeModel model(seed, static_cast<int>(2 + seed % 6), trigger);
    for (int i = 0; i < 200; i++) model.Step();
    model.Drain();
    model.CheckAges();
    const auto& levels = model.levels();
    EXPECT_TRUE(levels[levels.size() - 2].empty()) << "the last buffer level drains";
    EXPECT_LE(levels.back().size(), 1u);
    for (size_t level = 0; level + 2 < levels.size(); level++) {
      EXPECT_LT(levels[level].size(), static_cast<size_t>(trigger)) << "level " << level;
    }
  }
}

// ---- Collection of garbage.

TEST(PickerCollectTest, TablesOverMarkedExtentsAreRewrittenWhereTheyAre) {
  TestPool pool;
  TableMaker maker(&pool, BytewiseComparator());
  auto run = std::make_shared<miodb::Run>();
  run->id = 7;
  for (uint64_t i = 0; i < 20; i++) {
    run->tables.push_back(
        maker.Make(SortedVersions(maker.order(), {{std::to_string(100 + i), i + 1, kTypeValue, "v"}})));
  }
  auto version = std::make_shared<Version>(*MakeVersion({{}, {}, {}, {}}));
  version->levels[1] = {run};
  const std::set<uint64_t> no_runs, this_run{7};
  const std::set<int> no_levels, this_level{1};
  PickerInput input;
  input.version = version;
  input.busy_runs = &no_runs;
  input.busy_levels = &no_levels;
  EXPECT_FALSE(PickMerge(input).has_value());
  for (uint64_t i = 3; i < 15; i++) run->tables[i]->payload()[0].extent->evacuate.store(true);
  std::optional<MergeJob> job = PickMerge(input);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(MergeKind::kCollect, job->kind);
  EXPECT_EQ(1, job->level);
  EXPECT_EQ(1, job->output_level);
  EXPECT_EQ(std::vector<uint64_t>({7}), Ids(job->inputs));
  ASSERT_FALSE(job->collect.empty());
  EXPECT_LE(job->collect.size(), 12u);
  for (size_t i = 0; i < job->collect.size(); i++) EXPECT_EQ(run->tables[3 + i], job->collect[i]);
  input.settle = true;
  EXPECT_TRUE(PickMerge(input).has_value()) << "settling goes first, and there is something to settle";
  EXPECT_EQ(MergeKind::kSettle, PickMerge(input)->kind);
  input.merges_blocked = true;
  EXPECT_EQ(MergeKind::kCollect, PickMerge(input)->kind) << "it may free what the merge needs";
  input.collection_blocked = true;
  EXPECT_FALSE(PickMerge(input).has_value());
  input.merges_blocked = false;
  EXPECT_EQ(MergeKind::kSettle, PickMerge(input)->kind);
  input.settle = false;
  EXPECT_FALSE(PickMerge(input).has_value());
  input.collection_blocked = false;
  input.busy_runs = &this_run;
  EXPECT_FALSE(PickMerge(input).has_value());
  input.busy_runs = &no_runs;
  input.busy_levels = &this_level;
  EXPECT_FALSE(PickMerge(input).has_value());
}

class EvacuationModel {
 public:
  explicit EvacuationModel(uint64_t seed) : random_(seed) {
    for (uint64_t i = random_.Uniform(20); i > 0; i--) {
      Extent* const extent = reinterpret_cast<Extent*>(8 * i);  // never looked into
      const uint64_t payload = 1 + random_.Uniform(1000);
      // Live bytes are rounded up for large records, so they may exceed the payload.
      const uint64_t live = random_.OneIn(10) ? payload + random_.Uniform(50) : random_.Uniform(payload + 1);
      extents_.push_back({extent, payload, live});
    }
    start_ = 102 + random_.Uniform(200);
    goal_ = 101 + random_.Uniform(start_ - 101);
    slack_ = random_.OneIn(2) ? 0 : random_.Uniform(1000);
    budget_ = random_.OneIn(2) ? UINT64_MAX : random_.Uniform(3000);
  }

  void Check() {
    const std::vector<Extent*> picked = PickEvacuation(extents_, start_, goal_, slack_, budget_);
    uint64_t used = 0, live = 0;
    std::map<Extent*, ExtentUse> left;
    for (const ExtentUse& e : extents_) {
      used += e.payload;
      live += std::min(e.live, e.payload);
      left[e.extent] = e;
    }
    if (used - live <= slack_ || used * 100 <= live * start_) {
      EXPECT_TRUE(picked.empty()) << "nothing has to be done";
      return;
    }
    uint64_t copied = 0;
    double last = 0;
    for (Extent* extent : picked) {
      ASSERT_EQ(1u, left.count(extent)) << "picked twice";
      const ExtentUse e = left[extent];
      left.erase(extent);
      EXPECT_GT(used * 100, live * goal_) << "more than the goal asks for";
      EXPECT_LT(e.live, e.payload) << "nothing to gain";
      const double share = static_cast<double>(e.live) / static_cast<double>(e.payload);
      EXPECT_GE(share, last) << "emptiest first";
      last = share;
      copied += e.live;
      used -= e.payload - e.live;
    }
    EXPECT_LE(copied, budget_);
    if (used * 100 <= live * goal_) return;
    // Short of the goal only for lack of budget or of garbage.
    for (const auto& [extent, e] : left) {
      if (e.live >= e.payload) continue;
      EXPECT_GE(static_cast<double>(e.live) / static_cast<double>(e.payload), last);
    }
    const bool some_fits = std::any_of(left.begin(), left.end(), [&](const auto& item) {
      return item.second.live < item.second.payload && item.second.live <= budget_ - copied;
    });
    EXPECT_TRUE(!some_fits || budget_ != UINT64_MAX) << "stopped without a reason";
  }

 private:
  Random random_;
  std::vector<ExtentUse> extents_;
  uint64_t start_, goal_, slack_, budget_;
};

TEST(PickEvacuationTest, TakesTheEmptiestExtentsUntilTheGoalOrTheBudgetIsReached) {
  for (uint64_t seed : Seeds(ByScale(3000, 10000, 1000000))) {
    SCOPED_TRACE(Repeat(seed));
    EvacuationModel(seed).Check();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace miodb::test
