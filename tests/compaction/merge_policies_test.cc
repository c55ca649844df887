// Proposals of merge policies: what is refused, whatever a policy wants; and how policies are found.

#include "compaction/policy/merge_policies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compaction/policy/buffer_plan.h"
#include "tests/common/status_asserts.h"
#include "tests/compaction/versions.h"

namespace miodb::test {
namespace {

class BufferPlanTest : public testing::Test {
 protected:
  BufferPlanTest() {
    input_.busy_runs = &busy_runs_;
    input_.busy_levels = &busy_levels_;
    input_.begun = &begun_;
    SetRuns({{9, 8, 7}, {6}, {5, 4}, {}, {0}});
  }

  void SetRuns(const std::vector<std::vector<uint64_t>>& ids) { input_.version = MakeVersion(ids); }

  // The job that one proposal makes: "from->to: inputs", or "none".
  template <typename Proposal>
  std::string Job(const Proposal& proposal) {
    BufferPlan plan(&input_);
    if (!proposal(&plan)) return "none";
    const std::optional<MergeJob> job = plan.Job();
    if (!job.has_value()) return "a proposal that was taken made no job";
    CheckJob(input_, *job);
    std::string text = std::to_string(job->level) + "->" + std::to_string(job->output_level) + ":";
    for (const uint64_t id : Ids(job->inputs)) text += " " + std::to_string(id);
    return text;
  }
  std::string Merge(int level, int runs, int below = 0) {
    return Job([&](MergePlan* plan) { return plan->Merge(level, runs, below); });
  }
  std::string MergeInto(int level, int runs) {
    return Job([&](MergePlan* plan) { return plan->MergeInto(level, runs); });
  }
  std::string Copy(int level, int runs) {
    return Job([&](MergePlan* plan) { return plan->Copy(level, runs); });
  }

  std::set<uint64_t> busy_runs_;
  std::set<int> busy_levels_;
  std::vector<BegunMerge> begun_;
  PickerInput input_;
};

TEST_F(BufferPlanTest, TellsTheLevels) {
  const BufferPlan plan(&input_);
  EXPECT_EQ(4, plan.Levels());
  EXPECT_EQ(3, plan.Runs(0));
  EXPECT_EQ(0, plan.Runs(3));
  EXPECT_TRUE(plan.IsFree(0));
  EXPECT_FALSE(plan.HasBegun(0));
  EXPECT_FALSE(plan.HasBegunToCopy());
  for (const int none : {-1, 4}) EXPECT_FALSE(plan.IsFree(none) || plan.HasBegun(none));
}

TEST_F(BufferPlanTest, MergesTakeTheOldestRuns) {
  EXPECT_EQ("0->1: 8 7", Merge(0, 2));
  EXPECT_EQ("0->2: 9 8 7 6", Merge(0, 3, 1));
  EXPECT_EQ("0->3: 9 8 7 6 5 4", Merge(0, 3, 2));
  EXPECT_EQ("0->1: 7 6", MergeInto(0, 1));
  EXPECT_EQ("2->3: 5 4", MergeInto(2, 2)) << "the next level is empty";
  EXPECT_EQ("2->4: 5 4 0", Copy(2, 2));
  EXPECT_EQ("2->4: 4 0", Copy(2, 1));
}

TEST_F(BufferPlanTest, ProposalsThatWouldBreakTheOrderOfAgeAreRefused) {
  EXPECT_EQ("none", Merge(0, 2, 1)) << "a newer run would stay behind an older one";
  EXPECT_EQ("none", Merge(1, 1)) << "a run alone";
  EXPECT_EQ("none", Merge(2, 2, 1)) << "the output would lie in the repository";
  EXPECT_EQ("none", MergeInto(3, 1));
  EXPECT_EQ("none", Copy(1, 1)) << "an older run lies below";
  for (const int wrong : {-1, 0, 4, 100}) EXPECT_EQ("none", Merge(0, wrong)) << wrong;
  for (const int wrong : {-1, 4, 100}) {
    EXPECT_EQ("none", Merge(wrong, 2)) << wrong;
    EXPECT_EQ("none", Merge(0, 3, wrong)) << wrong;
    EXPECT_EQ("none", MergeInto(wrong, 1)) << wrong;
    EXPECT_EQ("none", Copy(wrong, 1)) << wrong;
    EXPECT_EQ("none", Job([&](MergePlan* plan) { return plan->GoOn(wrong); })) << wrong;
  }
}

TEST_F(BufferPlanTest, OnlyOneProposalIsTaken) {
  BufferPlan plan(&input_);
  EXPECT_TRUE(plan.Merge(0, 2, 0));
  EXPECT_FALSE(plan.Merge(2, 2, 0));
  EXPECT_FALSE(plan.MergeInto(2, 2));
  EXPECT_FALSE(plan.Copy(2, 2));
  EXPECT_FALSE(plan.GoOn(0));
  EXPECT_EQ(0, plan.Job()->level);
}

TEST_F(BufferPlanTest, RunsOfOthersAreRefused) {
  busy_levels_ = {1};
  EXPECT_EQ("0->1: 8 7", Merge(0, 2)) << "the output comes in front of what is taken";
  EXPECT_EQ("none", Merge(0, 3, 1));
  EXPECT_EQ("none", MergeInto(0, 1));
  busy_levels_ = {};
  busy_runs_ = {4};
  EXPECT_EQ("none", Copy(2, 1));
  EXPECT_EQ("none", Merge(2, 2));
  busy_runs_ = {};
  begun_ = {{MergeKind::kInPlace, 2, 5, {6, 4}}};
  EXPECT_EQ("none", Merge(1, 1, 1));
  EXPECT_EQ("none", MergeInto(0, 1)) << "run 6 waits for the next part of its merge";
  EXPECT_EQ("none", Copy(2, 2));
  EXPECT_EQ("1->2: 6 4", Job([](MergePlan* plan) { return plan->GoOn(1); }));
}

// Nobody proposes anything.
TEST_F(BufferPlanTest, AMergeThatHasBegunGoesOnByItself) {
  begun_ = {{MergeKind::kInPlace, 2, 5, {6, 4}}};
  BufferPlan plan(&input_);
  const std::optional<MergeJob> job = plan.Job();
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(5u, job->output_run);
}

// A buffer of runs with so many bytes, of which each entry has one. The first proposal is taken.
class FakePlan final : public MergePlan {
 public:
  FakePlan(std::vector<std::vector<uint64_t>> levels, uint64_t repository)
      : levels_(std::move(levels)), repository_(repository) {}

  int Levels() const override { return static_cast<int>(levels_.size()); }
  int Runs(int level) const override { return static_cast<int>(levels_[static_cast<size_t>(level)].size()); }
  MergeRun Run(int level, int run) const override {
    const uint64_t bytes = levels_[static_cast<size_t>(level)][static_cast<size_t>(run)];
    return {bytes, bytes};
  }
  uint64_t RepositoryEntries() const override { return repository_; }
  bool IsFree(int) const override { return true; }
  bool HasBegun(int) const override { return false; }
  bool HasBegunToCopy() const override { return copying; }
  int Trigger() const override { return 2; }
  uint64_t MemTableBytes() const override { return 10; }
  bool Merge(int level, int runs, int below) override { return Take("merge", level, runs, below); }
  bool MergeInto(int level, int runs) override { return Take("into", level, runs, 0); }
  bool Copy(int level, int runs) override { return Take("copy", level, runs, 0); }
  bool GoOn(int) override { return false; }

  // The proposal: kind, level, runs, levels below. "none": there was none.
  std::string Of(const MergePolicy& policy) {
    proposal_ = "none";
    policy.Propose(this);
    return proposal_;
  }

  bool copying = false;

 private:
  bool Take(const char* kind, int level, int runs, int below) {
    proposal_ =
        std::string(kind) + " " + std::to_string(level) + " " + std::to_string(runs) + " " + std::to_string(below);
    return true;
  }

  const std::vector<std::vector<uint64_t>> levels_;
  const uint64_t repository_;
  std::string proposal_;
};

TEST(LevelledPolicyTest, KeepsEachLevelWithinItsLimit) {
  const LevelledPolicy policy;
  EXPECT_EQ("none", FakePlan({{10}, {19}, {}, {}}, 0).Of(policy));
  EXPECT_EQ("into 0 2 0", FakePlan({{10, 10}, {19}, {}, {}}, 0).Of(policy));
  EXPECT_EQ("into 1 1 0", FakePlan({{10}, {20}, {}, {}}, 0).Of(policy));
  EXPECT_EQ("into 1 1 0", FakePlan({{10, 10, 10}, {40}, {}, {}}, 0).Of(policy)) << "the level that is fullest";
  EXPECT_EQ("into 0 5 0", FakePlan({{10, 10, 10, 10, 10}, {40}, {}, {}}, 0).Of(policy));
  EXPECT_EQ("copy 3 1 0", FakePlan({{}, {}, {}, {80}}, 1000).Of(policy)) << "the last level";
}

TEST(LevelledPolicyTest, EndsACopyBeforeItMergesIntoItsLevel) {
  const LevelledPolicy policy;
  FakePlan plan({{10, 10, 10, 10}, {1}}, 1000);
  EXPECT_EQ("into 0 4 0", plan.Of(policy));
  plan.copying = true;
  EXPECT_EQ("copy 1 1 0", plan.Of(policy));
}

TEST(TieredPolicyTest, MergesRunsOnceThereAreEnough) {
  const TieredPolicy policy;
  EXPECT_EQ("none", FakePlan({{10}, {20}, {}}, 0).Of(policy));
  EXPECT_EQ("merge 0 2 0", FakePlan({{10, 10, 10}, {20, 20}, {}}, 0).Of(policy)) << "the upper level first";
  EXPECT_EQ("merge 1 2 0", FakePlan({{10}, {20, 20}, {}}, 0).Of(policy));
  FakePlan last({{10}, {}, {40}}, 1000);
  EXPECT_EQ("none", last.Of(policy));
  last.copying = true;
  EXPECT_EQ("copy 2 1 0", last.Of(policy)) << "of which a part is in the repository";
  EXPECT_EQ("copy 2 2 0", FakePlan({{10}, {}, {40, 40}}, 1000).Of(policy));
}

class Nothing final : public MergePolicy {
 public:
  explicit Nothing(const char* name) : name_(name) {}
  const char* Name() const override { return name_; }
  void Propose(MergePlan*) const override {}

 private:
  const char* const name_;
};

TEST(MergePolicyNamesTest, PoliciesAreFoundByTheirNames) {
  const MergePolicy* policy = nullptr;
  for (const char* name : {"default", "levelled", "tiered"}) {
    ASSERT_OK(FindMergePolicy(name, &policy));
    EXPECT_STREQ(name, policy->Name());
  }
  EXPECT_EQ(DefaultMergePolicy(), (FindMergePolicy("default", &policy).IgnoreError(), policy));
  EXPECT_TRUE(RegisterMergePolicy(nullptr).IsInvalidArgument());
  static const Nothing mine("mine"), other("mine"), unnamed(""), path("./mine");
  Status s = FindMergePolicy("mine", &policy);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_EQ(nullptr, policy);
  EXPECT_OK(RegisterMergePolicy(&mine));
  EXPECT_OK(RegisterMergePolicy(&mine));  // again
  EXPECT_OK(FindMergePolicy("mine", &policy));
  EXPECT_EQ(&mine, policy);
  for (const Nothing* wrong : {&other, &unnamed, &path}) EXPECT_TRUE(RegisterMergePolicy(wrong).IsInvalidArgument());
  const std::vector<std::string> names = MergePolicyNames();
  EXPECT_EQ((std::vector<std::string>{"default", "levelled", "tiered", "mine"}), names);
}

}  // namespace
}  // namespace miodb::test
