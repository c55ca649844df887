// The merge policies that come with the library, and all that were registered.
//
// Threads: any.

#ifndef MIODB_COMPACTION_POLICY_MERGE_POLICIES_H_
#define MIODB_COMPACTION_POLICY_MERGE_POLICIES_H_

#include <cstdint>
#include <string>

#include "miodb/merge_policy.h"

namespace miodb {

// Levels of runs of like sizes, of which the fullest is merged first. Levels below that a merge would make due go with
// it, so that entries are written once and not once for each level. The depth of the buffer follows the repository: the
// deepest level goes into it once the repository has at most growth times its entries, so each entry is rewritten a
// bounded number of times while the repository doubles.
class ScoredPolicy final : public MergePolicy {
 public:
  // No run above least_depth goes into the repository.
  ScoredPolicy(int least_depth, uint64_t growth);

  const char* Name() const override { return "default"; }
  void Propose(MergePlan* plan) const override;

 private:
  const int least_depth_;
  const uint64_t growth_;
};

// Levels of runs, of which each is merged into one run of the next when it has Trigger() of them: fewest writes, and
// most runs that a get asks. The upper levels come first. Runs go into the repository as by the default.
class TieredPolicy final : public MergePolicy {
 public:
  const char* Name() const override { return "tiered"; }
  void Propose(MergePlan* plan) const override;
};

// Each level but the first has one run, of at most Trigger() times the payload of that of the level before:
// fewest runs that a get asks, and most writes. Runs go into the repository as by the default.
class LevelledPolicy final : public MergePolicy {
 public:
  const char* Name() const override { return "levelled"; }
  void Propose(MergePlan* plan) const override;
};

const MergePolicy* DefaultMergePolicy();

// The policy of this name, or of the library with this path, which is loaded and stays so. InvalidArgument: there is
// none.
Status FindMergePolicy(const std::string& name, const MergePolicy** policy);

}  // namespace miodb

#endif  // MIODB_COMPACTION_POLICY_MERGE_POLICIES_H_
