// Merges that go part by part: histories of flushes and jobs, side by side, that end in any order, fail or are left.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "compaction/policy/parts.h"
#include "compaction/policy/scheduler.h"
#include "tests/common/environment.h"
#include "tests/common/random/merge_policies.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/compaction/versions.h"
#include "tests/pmtable/table_maker.h"

namespace miodb::test {
namespace {

// A tree of levels. Tables have one version each, so a small run has many tables.
class Tree {
 public:
  Tree(int levels, uint64_t partition_bytes, int trigger = 2, const MergePolicy* policy = DefaultMergePolicy())
      : repository_(levels - 1), scheduler_(repository_, SchedulePolicy{.merges = policy}) {
    input_.memtable_bytes = 100;
    input_.level_trigger = trigger;
    input_.partition_bytes = partition_bytes;
    input_.quiet_bytes = UINT64_MAX;
    version_ = MakeVersion(std::vector<std::vector<uint64_t>>(static_cast<size_t>(levels)));
  }

  // A run of these keys in front of level 0.
  void Flush(const std::set<uint64_t>& keys) {
    std::vector<TableRef> tables;
    sequence_++;
    for (const uint64_t key : keys) {
      const SortedVersions version(maker_.order(), {{std::to_string(1000 + key), sequence_, kTypeValue, "v"}});
      tables.push_back(maker_.Make(version, {.extent_bytes = 4096}));
      newest_[1000 + key] = sequence_;
    }
    auto version = Copy();
    Put(version.get(), 0, ++last_id_, tables);
    Become(version);
  }

  // Begins the next job; false: there is none.
  bool Begin() {
    input_.version = version_;
    std::optional<MergeJob> job = scheduler_.NextMerge(input_);
    if (!job.has_value()) return false;
    if (job->range.to.has_value() && job->output_level < repository_ && job->output_run == 0) {
      job->output_run = ++last_id_;
    }
    size_t tables = 0;
    for (const RunRef& run : job->inputs) {
      if (run->id > 0) tables += run->TablesIn(maker_.order(), job->range).size();
    }
    EXPECT_LE(tables, kMaxPartTables + job->inputs.size());
    most_tables_ = std::max(most_tables_, tables);
    parts_ += job->is_part();
    jobs_++;
    running_.push_back({*job, scheduler_.BeginMerge(*job)});
    scheduler_.Check();
    return true;
  }

  // Ends a job.
  void End(size_t i, Outcome outcome) {
    const Running running = running_[i];
    running_.erase(running_.begin() + static_cast<ptrdiff_t>(i));
    if (outcome == Outcome::kInstalled) Install(running.job);
    scheduler_.EndMerge(running.hold, outcome, false);
    scheduler_.Check();
  }

  // Runs a job alone and returns it.
  MergeJob Step() {
    if (!Begin()) return {};
    const MergeJob job = running_.back().job;
    End(running_.size() - 1, Outcome::kInstalled);
    return job;
  }

  // The versions of each key in the order of age, of which the first is the newest.
  void Check() const {
    std::map<uint64_t, uint64_t> seen;
    std::map<uint64_t, uint64_t> first;
    for (const Run* run : version_->runs) {
      for (const TableRef& table : run->tables) {
        const uint64_t key = std::stoull(table->smallest().ToString());
        const auto [last, fresh] = seen.emplace(key, table->max_sequence());
        if (fresh) {
          first[key] = table->max_sequence();
        } else {
          ASSERT_LT(table->max_sequence(), last->second) << "key " << key << " in run " << run->id;
          last->second = table->max_sequence();
        }
      }
    }
    ASSERT_EQ(newest_, first);
  }

  bool Settled() const { return version_->BufferEmpty(); }
  size_t Runs(int level) const { return version_->levels[static_cast<size_t>(level)].size(); }
  uint64_t IdOf(int level, size_t i) const { return version_->levels[static_cast<size_t>(level)][i]->id; }
  size_t running() const { return running_.size(); }
  size_t jobs() const { return jobs_; }
  size_t parts() const { return parts_; }
  size_t most_tables() const { return most_tables_; }
  uint64_t sequence() const { return sequence_; }
  Scheduler& scheduler() { return scheduler_; }

 private:
  struct Running {
    MergeJob job;
    JobHold hold;
  };

  std::shared_ptr<Version> Copy() const {
    auto version = std::make_shared<Version>();
    version->levels = version_->levels;
    return version;
  }
  void Become(const std::shared_ptr<Version>& version) {
    version->ListRuns();
    version_ = version;
  }

  // The run of the level gets these tables: by its id, newest first; without tables the run goes.
  static void Put(Version* version, int level, uint64_t id, const std::vector<TableRef>& tables) {
    auto& runs = version->levels[static_cast<size_t>(level)];
    const auto at = std::find_if(runs.begin(), runs.end(), [&](const RunRef& run) { return run->id <= id; });
    const bool there = at != runs.end() && (*at)->id == id;
    if (tables.empty()) {
      if (there) runs.erase(at);
      return;
    }
    auto run = std::make_shared<miodb::Run>();
    run->id = id;
    run->tables = tables;
    if (there) {
      *at = std::move(run);
    } else {
      runs.insert(at, std::move(run));
    }
  }

  // The newest version of each key in the range of the job goes to its output.
  void Install(const MergeJob& job) {
    std::map<std::string, TableRef> merged;
    auto version = Copy();
    const uint64_t id = job.output_level == repository_ ? 0 : job.output_run > 0 ? job.output_run : ++last_id_;
    for (const RunRef& input : job.inputs) {
      std::vector<TableRef> rest;
      for (int level = job.level; level <= job.output_level; level++) {
        for (const RunRef& run : std::vector<RunRef>(version->levels[static_cast<size_t>(level)])) {
          if (run->id != input->id) continue;
          for (const TableRef& table : run->tables) {
            if (job.range.Contains(maker_.order(), table->smallest())) {
              merged.emplace(table->smallest().ToString(), table);
            } else {
              rest.push_back(table);
            }
          }
          Put(version.get(), level, run->id, rest);
        }
      }
    }
    for (const RunRef& run : version->levels[static_cast<size_t>(job.output_level)]) {
      if (run->id != id) continue;
      for (const TableRef& table : run->tables) {
        EXPECT_TRUE(merged.emplace(table->smallest().ToString(), table).second) << "a key twice in run " << id;
      }
    }
    std::vector<TableRef> tables;
    for (const auto& [key, table] : merged) tables.push_back(table);
    Put(version.get(), job.output_level, id, tables);
    Become(version);
  }

  const int repository_;
  TestPool pool_;
  TableMaker maker_{&pool_, BytewiseComparator()};
  Scheduler scheduler_;
  PickerInput input_;
  std::shared_ptr<Version> version_;
  std::map<uint64_t, uint64_t> newest_;
  std::vector<Running> running_;
  uint64_t sequence_ = 0, last_id_ = 0;
  size_t jobs_ = 0, parts_ = 0, most_tables_ = 0;
};

std::set<uint64_t> Every(uint64_t step, uint64_t end) {
  std::set<uint64_t> keys;
  for (uint64_t key = 0; key < end; key += step) keys.insert(key);
  return keys;
}

TEST(BegunMergeTest, AMergeOfManyTablesGoesPartByPartIntoOneRun) {
  Tree tree(5, UINT64_MAX);
  tree.Flush(Every(1, 100));
  tree.Flush(Every(1, 100));
  MergeJob job = tree.Step();
  EXPECT_EQ(MergeKind::kZeroCopy, job.kind);
  EXPECT_EQ("1033", job.range.to.value_or(""));
  const uint64_t output = tree.IdOf(1, 0);
  // Newer runs wait in front.
  tree.Flush(Every(1, 10));
  for (const char* to : {"1066", "1099", ""}) {
    job = tree.Step();
    EXPECT_EQ(to, job.range.to.value_or(""));
    EXPECT_EQ(2u, job.inputs.size());
    tree.Check();
  }
  EXPECT_EQ(1u, tree.Runs(0));
  EXPECT_EQ(1u, tree.Runs(1));
  EXPECT_EQ(output, tree.IdOf(1, 0));
  EXPECT_FALSE(tree.Begin()) << "one run in a level is not due";
}

TEST(BegunMergeTest, TheOutputWaitsForItsLastPart) {
  Tree tree(5, UINT64_MAX);
  for (int i = 0; i < 2; i++) {
    tree.Flush(Every(1, 20));
    tree.Flush(Every(1, 20));
    tree.Step();
  }
  EXPECT_EQ(1u, tree.Runs(2)) << "the second merge has taken the level below with it";
  tree.Flush(Every(1, 50));
  tree.Flush(Every(1, 50));
  tree.Step();
  ASSERT_EQ(1u, tree.Runs(1));
  tree.Flush(Every(1, 5));
  tree.Flush(Every(1, 5));
  // Level 0 has the two inputs and two newer runs, and goes on with the inputs.
  const MergeJob job = tree.Step();
  EXPECT_EQ(1, job.output_level);
  EXPECT_EQ("", job.range.to.value_or(""));
  EXPECT_EQ(2u, tree.Runs(0));
  const MergeJob next = tree.Step();
  EXPECT_EQ(4u, next.inputs.size()) << "the newer runs, what was made of the others, and the level below";
  EXPECT_EQ(3, next.output_level);
  tree.Check();
}

TEST(BegunMergeTest, AMergeThatTakesAllEndsTheOthers) {
  Tree tree(5, UINT64_MAX);
  tree.Flush(Every(1, 100));
  tree.Flush(Every(1, 100));
  tree.Step();
  tree.scheduler().BeginSettle();
  MergeJob job = tree.Step();
  EXPECT_EQ(MergeKind::kSettle, job.kind);
  EXPECT_EQ(3, job.output_level);
  EXPECT_EQ(3u, job.inputs.size()) << "the two inputs, and what became of a part of them";
  tree.Flush(Every(1, 10));
  while (tree.Runs(3) + tree.Runs(1) > 0 || tree.Runs(0) > 1) {
    ASSERT_EQ(MergeKind::kSettle, tree.Step().kind);
    tree.Check();
  }
  tree.scheduler().EndSettle();
}

// However many runs there are, each part goes on by as many tables.
TEST(BegunMergeTest, ManyRunsAreGatheredInFewParts) {
  for (const uint64_t tables : {1, 8}) {
    Tree tree(5, UINT64_MAX, 64);
    for (uint64_t i = 0; i < 63; i++) tree.Flush(Every(1, tables));
    tree.Flush(Every(1, 200));
    tree.scheduler().BeginSettle();
    MergeJob job = tree.Step();
    EXPECT_EQ(64u, job.inputs.size());
    const uint64_t before = tree.jobs();
    while (tree.Runs(0) > 0) tree.Step();
    EXPECT_LE(tree.jobs() - before, (200 + 64 * tables) / kMaxPartTables);
    tree.Check();
  }
}

// Hidden versions would be made without end where others delete ranges all the time.
TEST(BegunMergeTest, WhatIsOldEnoughGoesBeforeWhatIsHidden) {
  TestPool pool;
  TableMaker maker(&pool, BytewiseComparator());
  auto version = MakeVersion({{}, {}, {}});
  const auto put = [&](size_t level, uint64_t id, uint64_t sequence, ValueType type) {
    auto run = std::make_shared<miodb::Run>();
    run->id = id;
    TableRef table;
    EXPECT_OK(maker.Reopen(maker.Make(SortedVersions(maker.order(), {{std::string(100, 'k'), sequence, type, ""}})),
                           Checksums::kVerify, &table));
    run->tables.push_back(table);
    version->levels[level].push_back(std::move(run));
    version->ListRuns();
  };
  put(1, 20, 7, kTypeValue);
  put(2, 0, 3, kTypeDeletion);
  PickerInput input;
  const std::set<uint64_t> runs;
  const std::set<int> levels;
  input.version = version;
  input.busy_runs = &runs;
  input.busy_levels = &levels;
  input.partition_bytes = 1;
  input.settle = true;
  input.settle_sequence = 7;
  std::optional<MergeJob> job = PickSettle(input);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(20u, job->inputs[0]->id);
  input.settle_sequence = 6;
  job = PickSettle(input);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(0u, job->inputs[0]->id) << "the run came after the request";
  // A small repository is taken as a whole, by a job that runs alone.
  input.partition_bytes = 30;
  ASSERT_FALSE(IsTakenInParts(*version, input.partition_bytes));
  while (version->levels[1].size() < 9) put(1, 20 - version->levels[1].size(), 7, kTypeValue);
  input.jobs_running = true;
  EXPECT_FALSE(PickSettle(input).has_value());
  input.jobs_running = false;
  EXPECT_TRUE(PickSettle(input).has_value());
}

class MergePoliciesTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, MergePoliciesTest, testing::Values("default", "levelled", "tiered", "wild"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(MergePoliciesTest, EachKeyKeepsItsOrderOfAgeInAnyHistory) {
  size_t parts = 0;
  for (const uint64_t seed : Seeds(ByScale(60, 200, 5000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    const MergePolicy* policy = nullptr;
    RegisterWildPolicy();
    ASSERT_OK(FindMergePolicy(GetParam(), &policy));
    Tree tree(static_cast<int>(3 + seed % 4), seed % 2 == 0 ? 1 : uint64_t{1} << 40, static_cast<int>(2 + seed % 3),
              policy);
    bool settling = false;
    for (int i = 0; i < 200; i++) {
      const uint64_t dice = random.Uniform(12);
      if (dice < 3) {
        std::set<uint64_t> keys;
        const uint64_t from = random.OneIn(3) ? random.Uniform(200) : 0, span = 20 + random.Uniform(200);
        for (uint64_t n = random.Uniform(60); n-- > 0;) keys.insert(from + random.Uniform(span));
        keys.insert(from);
        tree.Flush(keys);
      } else if (dice < 8) {
        if (tree.running() < 3) tree.Begin();
      } else if (dice < 11) {
        if (tree.running() == 0) continue;
        tree.End(random.Uniform(tree.running()), random.OneIn(5) ? Outcome::kGivenUp : Outcome::kInstalled);
      } else if (settling || random.OneIn(4)) {
        if (settling) tree.scheduler().EndSettle();
        if (!settling) tree.scheduler().BeginSettle(0, tree.sequence());
        settling = !settling;
      }
      tree.Check();
      if (HasFatalFailure()) return;
    }
    // Left alone, it comes to rest, and a settle then ends.
    while (tree.running() > 0) tree.End(0, Outcome::kInstalled);
    if (settling) tree.scheduler().EndSettle();
    size_t before = tree.jobs();
    while (tree.Begin()) tree.End(0, Outcome::kInstalled);
    EXPECT_LT(tree.jobs() - before, 400u);
    tree.scheduler().BeginSettle();
    before = tree.jobs();
    while (tree.Begin()) tree.End(0, Outcome::kInstalled);
    EXPECT_LT(tree.jobs() - before, 400u);
    EXPECT_TRUE(tree.Settled());
    tree.Check();
    parts += tree.parts();
    if (HasFailure()) return;
  }
  EXPECT_GT(parts, 100u) << "the histories have too few parts";
}

}  // namespace
}  // namespace miodb::test
