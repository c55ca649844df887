#include "compaction/policy/picker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compaction/filter/range_work.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/compaction/merge_world.h"
#include "tests/compaction/versions.h"
#include "tests/pmtable/table_maker.h"

namespace miodb::test {
namespace {

class PickerTest : public testing::Test {
 protected:
  // The job picked for these runs: "kind from->to: inputs", or "none".
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
  EXPECT_EQ("zero-copy merge 0->1: 5 4", Pick({{5, 4}, {}, {3}, {}, {0}}));
  EXPECT_EQ("zero-copy merge 1->2: 4 3", Pick({{5}, {4, 3}, {}, {}, {0}}));
}

TEST_F(PickerTest, LevelsThatBecomeDueGoWithThem) {
  EXPECT_EQ("zero-copy merge 0->2: 5 4 3", Pick({{5, 4}, {3}, {}, {}, {0}}));
  EXPECT_EQ("zero-copy merge 0->3: 5 4 3 2", Pick({{5, 4}, {3}, {2}, {}, {1}, {0}}));
  EXPECT_EQ("zero-copy merge 0->2: 5 4 3", Pick({{5, 4}, {3}, {2}, {0}})) << "the last level goes into the repository";
  EXPECT_EQ("zero-copy merge 0->4: 9 8 7 6 5", Pick({{9, 8}, {7}, {6}, {5}, {4}, {}, {}, {0}})) << "four levels";
  EXPECT_EQ("zero-copy merge 0->2: 9 8 7 6 5 4 3 2", Pick({{9, 8, 7, 6}, {5, 4, 3, 2}, {1}, {}, {}}));
  EXPECT_EQ("zero-copy merge 0->1: 9 8 7 6 5", Pick({{9, 8, 7, 6, 5}, {4, 3, 2, 1}, {}, {}})) << "too many runs";
  trigger_ = 3;
  EXPECT_EQ("zero-copy merge 0->1: 5 4 3", Pick({{5, 4, 3}, {2}, {}, {}, {0}})) << "one is not enough";
  EXPECT_EQ("zero-copy merge 0->2: 5 4 3 2 1", Pick({{5, 4, 3}, {2, 1}, {}, {}, {0}}));
}

TEST_F(PickerTest, ALongLevelGivesItsOldestRuns) {
  EXPECT_EQ("zero-copy merge 0->1: 18 17 16 15 14 13 12 11",
            Pick({{20, 19, 18, 17, 16, 15, 14, 13, 12, 11}, {}, {}, {}}));
}

TEST_F(PickerTest, AllThatWaitsInTheLastBufferLevelGoesIntoTheRepository) {
  EXPECT_EQ("lazy copy 1->2: 3", Pick({{}, {3}, {}}));
  EXPECT_EQ("lazy copy 1->2: 4 3 0", Pick({{}, {4, 3}, {0}}));
  EXPECT_EQ("lazy copy 0->1: 5 4 3 0", Pick({{5, 4, 3}, {0}}));
}

TEST_F(PickerTest, TheMostOverdueLevelComesFirst) {
  EXPECT_EQ("zero-copy merge 1->2: 6 5 4 3", Pick({{9, 8}, {6, 5, 4, 3}, {}, {}}));
  EXPECT_EQ("zero-copy merge 0->2: 9 8 7 6 5", Pick({{9, 8, 7}, {6, 5}, {}, {}}));
  EXPECT_EQ("zero-copy merge 0->2: 9 8 6 5", Pick({{9, 8}, {6, 5}, {}, {}})) << "of equal ones the newest";
  EXPECT_EQ("lazy copy 1->2: 7 6 5 4 3", Pick({{9, 8}, {7, 6, 5, 4, 3}, {}}));
}

TEST_F(PickerTest, BusyLevelsAndRunsWait) {
  busy_levels_ = {0};
  EXPECT_EQ("none", Pick({{5, 4}, {}, {}, {}}));
  EXPECT_EQ("zero-copy merge 1->2: 3 2", Pick({{5, 4}, {3, 2}, {}, {}}));
  busy_levels_ = {};
  busy_levels_ = {1};
  EXPECT_EQ("zero-copy merge 0->1: 5 4", Pick({{5, 4}, {3}, {}, {}})) << "the output comes in front of what is taken";
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

// ---- Collection of garbage.

// Versions that have a run for each number, of so many entries.
class PickBySizeTest : public testing::Test {
 protected:
  std::shared_ptr<Version> MakeSizes(const std::vector<std::vector<uint64_t>>& entries) {
    auto version = MakeVersion(entries);
    uint64_t id = 100;
    for (auto& level : version->levels) {
      for (RunRef& old : level) {
        std::vector<TestVersion> versions;
        for (uint64_t i = 0; i < old->id; i++) {
          versions.push_back({std::to_string(1000 + i), i + 1, kTypeValue, "v"});
        }
        auto run = std::make_shared<miodb::Run>();
        run->id = id--;
        run->tables = std::vector<TableRef>{maker_.Make(SortedVersions(maker_.order(), versions))};
        old = std::move(run);
      }
    }
    version->ListRuns();
    return version;
  }

  PickerInput MakeInput(const std::vector<std::vector<uint64_t>>& entries) {
    PickerInput input;
    input.version = MakeSizes(entries);
    input.busy_runs = &no_runs_;
    input.busy_levels = &no_levels_;
    return input;
  }

  // "from->to, runs" of what is picked, or "none".
  static std::string Told(const PickerInput& input, const std::optional<MergeJob>& job) {
    if (!job.has_value()) return "none";
    CheckJob(input, *job);
    return std::to_string(job->level) + "->" + std::to_string(job->output_level) + ", " +
           std::to_string(job->inputs.size());
  }

 private:
  const std::set<uint64_t> no_runs_{};
  const std::set<int> no_levels_{};
  TestPool pool_;
  TableMaker maker_{&pool_, BytewiseComparator()};
};

// The buffer may end at level 2 where the repository has at most four times as many entries.
class PickDepthTest : public PickBySizeTest {
 protected:
  std::string Pick(const std::vector<std::vector<uint64_t>>& entries) {
    PickerInput input = MakeInput(entries);
    input.policy = &policy_;
    return Told(input, PickMerge(input));
  }

 private:
  const ScoredPolicy policy_{2, 4};
};

TEST_F(PickDepthTest, ARunGoesIntoTheRepositoryOnceItHasItsShareOfTheEntries) {
  EXPECT_EQ("2->5, 1", Pick({{}, {}, {5}, {}, {}, {}})) << "the repository has to begin";
  EXPECT_EQ("2->5, 2", Pick({{}, {}, {5}, {}, {}, {20}}));
  EXPECT_EQ("none", Pick({{}, {}, {5}, {}, {}, {24}})) << "it waits for another";
  EXPECT_EQ("2->3, 2", Pick({{}, {}, {3, 2}, {}, {}, {24}}));
  EXPECT_EQ("2->5, 3", Pick({{}, {}, {3, 3}, {}, {}, {24}})) << "all of the level together";
  EXPECT_EQ("3->5, 2", Pick({{}, {}, {1}, {6}, {}, {24}}));
}

TEST_F(PickDepthTest, OnlyRunsOfTheDeepestLevelMayGo) {
  EXPECT_EQ("none", Pick({{}, {}, {9}, {1}, {}, {24}})) << "older runs lie below it";
  EXPECT_EQ("none", Pick({{}, {9}, {}, {}, {}, {24}})) << "the level is not deep enough";
  EXPECT_EQ("4->5, 2", Pick({{}, {}, {}, {}, {1}, {24}})) << "the buffer has no deeper level";
}

class PickQuietTest : public PickBySizeTest {
 protected:
  std::string Pick(const std::vector<std::vector<uint64_t>>& entries) {
    PickerInput input = MakeInput(entries);
    input.quiet_bytes = quiet_bytes_;
    return Told(input, PickQuiet(input, 8));
  }

  uint64_t quiet_bytes_ = UINT64_MAX;
};

TEST_F(PickQuietTest, TakesAllUpToTheOldestRunThatIsWorthIt) {
  EXPECT_EQ("0->3, 3", Pick({{1}, {2}, {}, {24}}));
  EXPECT_EQ("0->1, 2", Pick({{1}, {2}, {}, {25}})) << "the repository is too large for what is new";
  EXPECT_EQ("0->2, 3", Pick({{1}, {2}, {24}, {217}}));
  EXPECT_EQ("none", Pick({{1}, {9}, {}, {81}})) << "nothing is worth it";
  EXPECT_EQ("0->3, 3", Pick({{1}, {9}, {}, {80}})) << "though the first two alone would not be";
  EXPECT_EQ("0->3, 2", Pick({{1}, {9}, {}, {}})) << "the repository has to begin";
  EXPECT_EQ("1->3, 1", Pick({{}, {9}, {}, {}}));
}

TEST_F(PickQuietTest, OfOneLevelAloneTheTriggerDecides) { EXPECT_EQ("none", Pick({{2, 2, 2}, {}, {99}})); }

TEST_F(PickQuietTest, ASettledDatabaseHasNothing) {
  EXPECT_EQ("none", Pick({{}, {}, {}, {9}}));
  EXPECT_EQ("none", Pick({{}, {}, {}, {}}));
}

TEST_F(PickQuietTest, TakesNoSpaceThatOthersMayNeed) {
  quiet_bytes_ = 0;
  EXPECT_EQ("none", Pick({{1}, {2}, {}, {3}}));
}

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
  version->ListRuns();
  const std::set<uint64_t> no_runs, this_run{7};
  const std::set<int> no_levels, this_level{1};
  PickerInput input;
  input.version = version;
  input.busy_runs = &no_runs;
  input.busy_levels = &no_levels;
  EXPECT_FALSE(PickMerge(input).has_value());
  MarkedTables marked;
  for (uint64_t i = 3; i < 15; i++) marked.emplace(std::pair(run->id, run->tables[i]->number()), run->tables[i]);
  input.marked = &marked;
  std::optional<MergeJob> job = PickMerge(input);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(MergeKind::kCollect, job->kind);
  EXPECT_EQ(1, job->level);
  EXPECT_EQ(1, job->output_level);
  EXPECT_EQ(std::vector<uint64_t>({7}), Ids(job->inputs));
  ASSERT_FALSE(job->tables.empty());
  EXPECT_LE(job->tables.size(), 12u);
  for (size_t i = 0; i < job->tables.size(); i++) EXPECT_EQ(run->tables[3 + i], job->tables[i]);
  input.settle = true;
  EXPECT_TRUE(PickMerge(input).has_value()) << "settling goes first, and there is something to settle";
  EXPECT_EQ(MergeKind::kSettle, PickMerge(input)->kind);
  input.merges_blocked = MergesBlocked::kWriting;
  EXPECT_EQ(MergeKind::kCollect, PickMerge(input)->kind) << "it may free what the merge needs";
  input.collection_blocked = true;
  EXPECT_FALSE(PickMerge(input).has_value());
  input.merges_blocked = MergesBlocked::kNone;
  EXPECT_EQ(MergeKind::kSettle, PickMerge(input)->kind);
  input.settle = false;
  EXPECT_FALSE(PickMerge(input).has_value());
  input.collection_blocked = false;
  input.busy_runs = &this_run;
  EXPECT_FALSE(PickMerge(input).has_value());
  input.busy_runs = &no_runs;
  input.busy_levels = &this_level;
  EXPECT_FALSE(PickMerge(input).has_value());
  input.busy_levels = &no_levels;
  EXPECT_TRUE(PickMerge(input).has_value());
  input.marked = nullptr;
  EXPECT_FALSE(PickMerge(input).has_value()) << "nobody has marked anything, so no table is looked at";
}

TEST(PickerSettleTest, ADeletionThatNoMergeReachesIsNoReasonToSettleAgain) {
  TestPool pool;
  TableMaker maker(&pool, BytewiseComparator());
  auto run = std::make_shared<miodb::Run>();
  run->id = 7;
  run->tables.push_back(
      maker.Make(SortedVersions(maker.order(), {{"b", 1, kTypeValue, "v"}, {"c", 9, kTypeValue, "v"}})));
  auto version = std::make_shared<Version>(*MakeVersion({{}, {}}));
  version->levels.back() = {run};
  version->ListRuns();
  version->ranges = RangeSet::Make(maker.order(), {{"a", "d", 5}}, nullptr);
  const std::set<uint64_t> no_runs;
  const std::set<int> no_levels;
  PickerInput input;
  input.version = version;
  input.busy_runs = &no_runs;
  input.busy_levels = &no_levels;
  input.settle = true;
  const auto look = [&](uint64_t reach) {
    const auto nobody = [](const miodb::Run&, const PMTable&) { return false; };
    input.droppable = FindRangeWork(*version, maker.order(), {}, reach, nobody).droppable;
  };
  look(kMaxSequence);
  ASSERT_TRUE(PickMerge(input).has_value());
  EXPECT_EQ(MergeKind::kSettle, PickMerge(input)->kind);
  look(run->tables[0]->ranges_applied());
  EXPECT_FALSE(PickMerge(input).has_value()) << "a merge would write the same table anew, for ever";
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
    std::vector<ExtentUse> picked = extents_;
    picked.resize(PickEvacuation({start_, goal_, slack_, budget_}, &picked));
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
    for (const ExtentUse& use : picked) {
      Extent* const extent = use.extent;
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
      return item.second.live < item.second.payload && copied + item.second.live <= budget_;
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
