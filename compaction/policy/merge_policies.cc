#include "compaction/policy/merge_policies.h"

#include <algorithm>
#include <utility>

#include "src/util/check/check.h"
#include "src/util/files/policy_registry.h"

namespace miodb {

namespace {

// More runs than this are not merged in one job, so that its inputs' indexes stay within reach of the caches.
constexpr int kMaxMergeWidth = 8;

// Levels whose runs one merge takes. Where no level is behind, a job has some 2^levels times the entries of a run of
// its first level, so this bounds how many such runs come while it runs, whatever the level is.
constexpr int kMaxMergeLevels = 4;

// Runs above this level are too small to be worth a table of the repository each.
constexpr int kLeastDepth = 6;

// The repository is rewritten when it has at most so many times the entries of the runs that go into it.
constexpr uint64_t kRepositoryGrowth = 2;

// The deepest level of the buffer that has runs; -1: none has.
int Deepest(const MergePlan& plan) {
  DCHECK_GT(plan.Levels(), 0);
  int level = plan.Levels() - 1;
  while (level >= 0 && plan.Runs(level) == 0) level--;
  return level;
}

MergeRun Sum(const MergePlan& plan, int level) {
  DCHECK(level >= 0 && level < plan.Levels());
  MergeRun sum = {};
  for (int i = 0; i < plan.Runs(level); i++) {
    const MergeRun run = plan.Run(level, i);
    sum.entries += run.entries;
    sum.payload_bytes += run.payload_bytes;
  }
  return sum;
}

// The level whose runs are due for the repository: the deepest that has runs, if it is the last one, or if they have
// enough entries for the repository to be worth rewriting; -1: none is. So the depth of the buffer follows the
// repository: while its entries double, it is rewritten a bounded number of times.
int LevelForRepository(const MergePlan& plan, int least_depth, uint64_t growth) {
  DCHECK(least_depth > 0 && growth > 0);
  const int level = Deepest(plan);
  if (level < 0 || level == plan.Levels() - 1) return level;
  if (level < least_depth) return -1;
  return plan.HasBegunToCopy() || Sum(plan, level).entries >= plan.RepositoryEntries() / growth ? level : -1;
}

// The levels below that the output would make due. While the job runs none of its levels gives runs away, which bounds
// their number.
int LevelsBelow(const MergePlan& plan, int lazy, int level) {
  int below = 0, inputs = plan.Runs(level);
  DCHECK(inputs > 0 && inputs <= kMaxMergeWidth && lazy < plan.Levels());
  for (; below + 1 < kMaxMergeLevels; below++) {
    const int next = level + 1 + below;
    if (next == lazy || next >= plan.Levels() - 1) break;
    const int runs = plan.Runs(next);
    if (runs == 0 || runs + 1 < plan.Trigger() || inputs + runs > kMaxMergeWidth || !plan.IsFree(next)) break;
    inputs += runs;
  }
  return below;
}

// Levels that are due, by how much they are, and of equals the upper one first.
class DueLevels {
 public:
  void Add(int level, double score) {
    DCHECK(level >= 0 && score >= 0);
    levels_.emplace_back(-score, level);
  }

  // Has propose(level) make a proposal for one level after the other, until one is taken.
  template <typename Propose>
  void Visit(const Propose& propose) {
    std::sort(levels_.begin(), levels_.end());
    for (const auto& [score, level] : levels_) {
      if (propose(level)) return;
    }
  }

 private:
  std::vector<std::pair<double, int>> levels_;
};

PolicyRegistry<MergePolicy>& Registry() {
  static auto& registry =
      *new PolicyRegistry<MergePolicy>(PolicyWords{"merge policy", "merge_policy", "miodb_merge_policy_1"},
                                       {DefaultMergePolicy(), new LevelledPolicy, new TieredPolicy});
  return registry;
}

}  // namespace

ScoredPolicy::ScoredPolicy(int least_depth, uint64_t growth) : least_depth_(least_depth), growth_(growth) {
  CHECK(least_depth > 0 && growth > 0);
}

// A level is scored by its runs for each run that makes it due. The level that is due for the repository is so with one
// run, but scores as if two were needed, so that it gives way to levels that are as full.
void ScoredPolicy::Propose(MergePlan* plan) const {
  const int lazy = LevelForRepository(*plan, least_depth_, growth_);
  DueLevels due;
  for (int level = 0; level < plan->Levels(); level++) {
    const int runs = plan->Runs(level);
    if (runs > 0) due.Add(level, static_cast<double>(runs) / (level == lazy ? 2 : plan->Trigger()));
  }
  due.Visit([&](int level) {
    const int runs = plan->Runs(level);
    if (plan->HasBegun(level)) return plan->GoOn(level);
    if (level == lazy) return plan->Copy(level, std::min(runs, kMaxMergeWidth));
    if (runs < plan->Trigger() || !plan->IsFree(level)) return false;
    if (runs > kMaxMergeWidth) return plan->Merge(level, kMaxMergeWidth);
    return plan->Merge(level, runs, LevelsBelow(*plan, lazy, level));
  });
}

void TieredPolicy::Propose(MergePlan* plan) const {
  DCHECK_GT(plan->Trigger(), 1);
  const int lazy = LevelForRepository(*plan, kLeastDepth, kRepositoryGrowth);
  for (int level = 0; level < plan->Levels(); level++) {
    const int runs = plan->Runs(level);
    if (plan->HasBegun(level)) {
      if (plan->GoOn(level)) return;
    } else if (level == lazy && (runs >= plan->Trigger() || plan->HasBegunToCopy())) {
      if (plan->Copy(level, runs)) return;
    } else if (level != lazy && runs >= plan->Trigger()) {
      if (plan->Merge(level, plan->Trigger())) return;
    }
  }
}

// The first level is scored by its runs, any other by its payload for what it may have, so that none grows for ever
// while another is merged. Nothing is merged into the level of which a part is in the repository.
void LevelledPolicy::Propose(MergePlan* plan) const {
  const int lazy = LevelForRepository(*plan, kLeastDepth, kRepositoryGrowth);
  const int copying = plan->HasBegunToCopy() ? lazy : -1;
  DCHECK(lazy < plan->Levels() && plan->Trigger() > 1);
  DueLevels due;
  double limit = static_cast<double>(std::max<uint64_t>(plan->MemTableBytes(), 1));
  for (int level = 0; level < plan->Levels(); level++, limit *= plan->Trigger()) {
    const double score = level == 0 ? static_cast<double>(plan->Runs(0)) / plan->Trigger()
                                    : static_cast<double>(Sum(*plan, level).payload_bytes) / limit;
    if (score >= 1 || plan->HasBegun(level) || level == copying) due.Add(level, score);
  }
  due.Visit([&](int level) {
    if (plan->HasBegun(level)) return plan->GoOn(level);
    if (level == lazy) return plan->Copy(level, plan->Runs(level));
    return level + 1 != copying && plan->MergeInto(level, plan->Runs(level));
  });
}

const MergePolicy* DefaultMergePolicy() {
  static const ScoredPolicy& policy = *new ScoredPolicy(kLeastDepth, kRepositoryGrowth);
  return &policy;
}

std::vector<std::string> MergePolicyNames() { return Registry().Names(); }

Status RegisterMergePolicy(const MergePolicy* policy) { return Registry().Add(policy); }

Status FindMergePolicy(const std::string& name, const MergePolicy** policy) { return Registry().Find(name, policy); }

}  // namespace miodb
