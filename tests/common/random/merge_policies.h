// Merge policies for random tests: those of the library, and one that proposes anything.

#ifndef MIODB_TESTS_COMMON_RANDOM_MERGE_POLICIES_H_
#define MIODB_TESTS_COMMON_RANDOM_MERGE_POLICIES_H_

#include "miodb/merge_policy.h"
#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"
#include "tests/common/random/random.h"

namespace miodb::test {

// Proposes anything, of which most is refused. The proposals follow from the state of the buffer.
class WildPolicy final : public MergePolicy {
 public:
  const char* Name() const override { return "wild"; }

  void Propose(MergePlan* plan) const override {
    uint64_t state = plan->RepositoryEntries();
    for (int level = 0; level < plan->Levels(); level++) {
      for (int run = 0; run < plan->Runs(level); run++) {
        const uint64_t figures[] = {static_cast<uint64_t>(level), plan->Run(level, run).entries};
        state = Hash64(figures, sizeof(figures), state);
      }
    }
    Random random(state);
    // From -1 on.
    const auto any = [&](int most) { return static_cast<int>(random.Uniform(static_cast<uint64_t>(most) + 2)) - 1; };
    for (int attempt = 0; attempt < 8; attempt++) {
      const int level = any(plan->Levels()), runs = any(5), below = any(4);
      const uint64_t dice = random.Uniform(8);
      const bool taken = dice < 3    ? plan->Merge(level, runs, below)
                         : dice < 5  ? plan->MergeInto(level, runs)
                         : dice == 5 ? plan->Copy(level, runs)
                                     : dice == 6 && plan->GoOn(level);
      if (taken) return;
    }
  }
};

// So that opens know "wild".
inline void RegisterWildPolicy() {
  static const WildPolicy& policy = *new WildPolicy;
  CHECK(RegisterMergePolicy(&policy).ok());
}

// Options::merge_policy, of the library: the default in half of the draws.
inline const char* OwnMergePolicy(Random* random) {
  constexpr const char* kPolicies[] = {"default", "default", "levelled", "tiered"};
  return kPolicies[random->Uniform(4)];
}

// The same, or the one that proposes anything.
inline const char* AnyMergePolicy(Random* random) {
  RegisterWildPolicy();
  return random->OneIn(4) ? "wild" : OwnMergePolicy(random);
}

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_RANDOM_MERGE_POLICIES_H_
