// Lazy copies into a large repository take a part of it after the other.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "compaction/policy/parts.h"
#include "compaction/policy/scheduler.h"
#include "tests/compaction/versions.h"
#include "tests/pmtable/table_maker.h"

namespace miodb::test {
namespace {

// A database of three levels. Keys are numbers of three digits; a table has one entry.
class PickRangeTest : public testing::Test {
 protected:
  static constexpr uint64_t kFirst = 100;
  static constexpr uint64_t kTables = 30;

  PickRangeTest() {
    input_.version = version_ = MakeVersion({{}, {}, {}});
    SetRun(2, 0, Keys(kFirst, kFirst + 10 * kTables, 10));
    input_.partition_bytes = 1;
    input_.busy_runs = &busy_runs_;
    input_.busy_levels = &busy_levels_;
    input_.busy_tables = &busy_tables_;
  }

  static std::vector<uint64_t> Keys(uint64_t first, uint64_t end, uint64_t step) {
    std::vector<uint64_t> keys;
    for (uint64_t key = first; key < end; key += step) keys.push_back(key);
    return keys;
  }

  // The level gets this run, in front of its others, or in its place; without keys the run goes.
  void SetRun(size_t level, uint64_t id, const std::vector<uint64_t>& keys) {
    auto& runs = version_->levels[level];
    auto run = std::make_shared<miodb::Run>();
    run->id = id;
    for (const uint64_t key : keys) {
      run->tables.push_back(maker_.Make(SortedVersions(maker_.order(), {{std::to_string(key), key, kTypeValue, "v"}})));
    }
    const auto old = std::find_if(runs.begin(), runs.end(), [&](const RunRef& other) { return other->id == id; });
    if (old == runs.end()) {
      runs.insert(runs.begin(), std::move(run));
    } else if (keys.empty()) {
      runs.erase(old);
    } else {
      *old = std::move(run);
    }
    version_->ListRuns();
  }

  // The buffer runs without what the job takes.
  void Install(const MergeJob& job) {
    for (const RunRef& run : std::vector<RunRef>(version_->levels[1])) {
      std::vector<uint64_t> left;
      for (const TableRef& table : run->tables) {
        if (!job.range.Contains(maker_.order(), table->smallest()))
          left.push_back(std::stoull(table->smallest().ToString()));
      }
      SetRun(1, run->id, left);
    }
  }

  // The range of the next job, "from..to", or "none".
  std::string Pick() {
    job_ = PickMerge(input_);
    if (!job_.has_value()) return "none";
    CheckJob(input_, *job_);
    EXPECT_EQ(MergeKind::kLazyCopy, job_->kind);
    EXPECT_LE(job_->tables.size(), kMaxJobTables);
    return job_->range.from.value_or("") + ".." + job_->range.to.value_or("");
  }

  TestPool pool_;
  TableMaker maker_{&pool_, BytewiseComparator()};
  std::shared_ptr<Version> version_;
  std::set<uint64_t> busy_runs_, busy_tables_;
  std::set<int> busy_levels_;
  PickerInput input_;
  std::optional<MergeJob> job_;
};

TEST_F(PickRangeTest, JobsTakeThePartsInTheOrderOfTheKeys) {
  SetRun(1, 5, Keys(105, 400, 10));
  for (const char* range : {"..180", "180..260", "260..340", "340.."}) {
    ASSERT_EQ(range, Pick());
    Install(*job_);
  }
  EXPECT_EQ("none", Pick());
}

TEST_F(PickRangeTest, ANewerRunGoesWithTheOlderAndThenByItself) {
  SetRun(1, 5, Keys(101, 400, 10));
  ASSERT_EQ("..180", Pick());
  Install(*job_);
  SetRun(1, 6, Keys(105, 400, 10));
  for (const char* range : {"180..260", "260..340", "340..391", "390..", "..180", "none"}) {
    ASSERT_EQ(range, Pick());
    if (job_.has_value()) Install(*job_);
  }
}

TEST_F(PickRangeTest, ARunOfFewKeysTakesWhatTheseLieIn) {
  SetRun(1, 5, {205, 390});
  ASSERT_EQ("200..280", Pick());
  Install(*job_);
  ASSERT_EQ("390..", Pick());
}

TEST_F(PickRangeTest, JobsEndWhereOthersHaveTables) {
  SetRun(1, 5, Keys(105, 400, 10));
  busy_levels_ = {2};
  EXPECT_EQ("none", Pick()) << "all of the repository is taken";
  input_.repository_shared = true;
  busy_tables_ = {version_->levels[2][0]->tables[3]->number()};
  EXPECT_EQ("..130", Pick());
  busy_tables_ = {version_->levels[2][0]->tables[0]->number()};
  EXPECT_EQ("none", Pick());
}

TEST_F(PickRangeTest, ASmallRepositoryIsTakenAsAWhole) {
  input_.partition_bytes = 1000;
  SetRun(1, 5, {105});
  EXPECT_EQ("..", Pick());
  EXPECT_TRUE(job_->tables.empty());
  busy_levels_ = {2};
  input_.repository_shared = true;
  EXPECT_EQ("none", Pick()) << "some of it is taken";
}

// All of the database may be held by a merge that makes one run of the buffer.
TEST_F(PickRangeTest, WhatIsHiddenInTheRepositoryWaitsForWhoHoldsIt) {
  auto run = std::make_shared<miodb::Run>(*version_->levels[2][0]);
  run->tables.push_back(maker_.Make(SortedVersions(maker_.order(), {{"999", 999, kTypeDeletion, ""}})));
  version_->levels[2][0] = run;
  version_->ListRuns();
  input_.settle = true;
  busy_levels_ = {0, 1, 2};
  input_.jobs_running = true;
  EXPECT_FALSE(PickMerge(input_).has_value());
  input_.repository_shared = true;
  const std::optional<MergeJob> job = PickMerge(input_);
  ASSERT_TRUE(job.has_value());
  CheckJob(input_, *job);
  EXPECT_EQ(MergeKind::kSettle, job->kind);
  EXPECT_EQ(std::vector<TableRef>{run->tables.back()}, job->tables);
}

// Runs that came while the buffer became one run wait until that run is gone.
TEST_F(PickRangeTest, ARunOfTheLastLevelIsNotGatheredAgain) {
  SetRun(1, 5, Keys(105, 400, 10));
  SetRun(0, 7, {105});
  input_.settle = true;
  const std::optional<MergeJob> job = PickMerge(input_);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(MergeKind::kSettle, job->kind);
  EXPECT_EQ("180", job->range.to.value_or(""));
  EXPECT_EQ(5u, job->inputs[0]->id);
}

// A run that has lost a part may have too few entries to be due by itself.
TEST_F(PickRangeTest, ACopyThatHasBegunGoesOn) {
  version_ = MakeVersion({{}, {}, {}, {}, {}});
  input_.version = version_;
  SetRun(4, 0, Keys(kFirst, kFirst + 10 * kTables, 10));
  SetRun(1, 5, Keys(295, 400, 10));
  const ScoredPolicy policy(1, 2);
  input_.policy = &policy;
  EXPECT_EQ("none", Pick());
  const std::vector<BegunMerge> begun = {{MergeKind::kLazyCopy, 4, 0, {5}}};
  input_.begun = &begun;
  EXPECT_EQ("290..370", Pick());
}

// The job holds its runs, and of the repository its tables alone.
TEST_F(PickRangeTest, TheSchedulerSharesTheRepository) {
  Scheduler scheduler(2);
  SetRun(1, 5, Keys(105, 400, 10));
  const std::optional<MergeJob> job = scheduler.NextMerge(input_);
  ASSERT_TRUE(job.has_value());
  ASSERT_EQ(MergeKind::kLazyCopy, job->kind);
  const JobHold hold = scheduler.BeginMerge(*job);
  scheduler.Check();
  EXPECT_EQ(std::vector<uint64_t>{5}, hold.runs);
  const TableList& repository = version_->levels[2][0]->tables;
  for (size_t i = 0; i < repository.size(); i++) {
    EXPECT_EQ(i < kMaxJobTables ? 1u : 0u, scheduler.busy(Busy::kTables).count(repository[i]->number()));
  }
  EXPECT_TRUE(scheduler.MayDrain(false));
  MarkedTables marked;
  for (const size_t i : {2, 20})
    marked.emplace(std::pair(version_->levels[2][0]->id, repository[i]->number()), repository[i]);
  input_.marked = &marked;
  SetRun(0, 7, {105});
  SetRun(0, 8, {106});
  const std::optional<MergeJob> beside = scheduler.NextMerge(input_);
  ASSERT_TRUE(beside.has_value());
  EXPECT_EQ(MergeKind::kZeroCopy, beside->kind) << "its output comes in front of the run";
  const JobHold second = scheduler.BeginMerge(*beside);
  scheduler.WantMarks(MarkRequest());
  scheduler.BeginMarks();
  scheduler.marks().On(MarkEvent::kFound);
  const std::optional<MergeJob> third = scheduler.NextMerge(input_);
  ASSERT_TRUE(third.has_value());
  EXPECT_EQ(MergeKind::kCollect, third->kind);
  EXPECT_EQ(std::vector<TableRef>{repository[20]}, third->tables);
  const JobHold collection = scheduler.BeginMerge(*third);
  scheduler.EndMerge(hold, Outcome::kInstalled, false);
  scheduler.EndMerge(collection, Outcome::kInstalled, false);
  scheduler.EndMerge(second, Outcome::kInstalled, false);
  scheduler.Check();
  EXPECT_EQ(0, scheduler.running());
}

}  // namespace
}  // namespace miodb::test
