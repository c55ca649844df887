// A merge policy in a library of its own: the buffer is tiered by a factor that grows with depth, so that young runs
// are merged early, while they are small, and old ones seldom.
//
// Build it with nothing but MioDB's headers, and run it in any program of MioDB's:
//
//   c++ -std=c++20 -O2 -shared -fPIC -I include examples/merge_policy.cc -o /tmp/lazy_levels.so
//   build/db_bench --merge_policy=/tmp/lazy_levels.so --db=/dev/shm/db --benchmarks=fillrandom,readrandom
//   build/crash_explorer --merge_policy=/tmp/lazy_levels.so --images=10000
//
// docs/tuning.md has this policy's figures beside those of the default.

#include "miodb/merge_policy.h"

namespace {

class LazyLevels final : public miodb::MergePolicy {
 public:
  const char* Name() const override { return "lazy levels"; }

  void Propose(miodb::MergePlan* plan) const override {
    const int last = Deepest(*plan);
    for (int level = 0; level <= last; level++) {
      // A merge of many tables goes part by part.
      if (plan->HasBegun(level)) {
        if (plan->GoOn(level)) return;
        continue;
      }
      if (level == last && IsDueForRepository(*plan, level)) {
        if (plan->Copy(level, plan->Runs(level))) return;
        continue;
      }
      const int factor = Factor(*plan, level);
      if (plan->Runs(level) >= factor && level + 1 < plan->Levels() && plan->Merge(level, factor)) return;
    }
  }

 private:
  // Runs of a level that are merged together: two in the first levels, then one more for each two levels.
  static int Factor(const miodb::MergePlan& plan, int level) { return plan.Trigger() + level / 2; }

  // The deepest level that has runs; -1: there is none.
  static int Deepest(const miodb::MergePlan& plan) {
    int level = plan.Levels() - 1;
    while (level >= 0 && plan.Runs(level) == 0) level--;
    return level;
  }

  // Each lazy copy rewrites a part of the repository, so the runs have to be worth it: they have half of its entries,
  // or a copy of the oldest has begun, or there is no deeper level.
  static bool IsDueForRepository(const miodb::MergePlan& plan, int level) {
    if (plan.HasBegunToCopy() || level == plan.Levels() - 1) return true;
    if (level < kLeastDepth) return false;
    uint64_t entries = 0;
    for (int run = 0; run < plan.Runs(level); run++) entries += plan.Run(level, run).entries;
    return entries >= plan.RepositoryEntries() / 2;
  }

  // Runs above this level are too small for the repository.
  static constexpr int kLeastDepth = 4;
};

}  // namespace

extern "C" MIODB_EXPORT const miodb::MergePolicy* miodb_merge_policy_1() {
  return new LazyLevels;  // never deleted: databases may ask it while the process ends
}
