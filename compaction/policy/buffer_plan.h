// BufferPlan: the levels of the buffer as a merge policy sees them, and the job that the policy proposes.

#ifndef MIODB_COMPACTION_POLICY_BUFFER_PLAN_H_
#define MIODB_COMPACTION_POLICY_BUFFER_PLAN_H_

#include <cstdint>
#include <optional>

#include "compaction/policy/picker.h"
#include "miodb/merge_policy.h"

namespace miodb {

class BufferPlan final : public MergePlan {
 public:
  // REQUIRES: *input outlives the plan.
  explicit BufferPlan(const PickerInput* input);

  int Levels() const override;
  int Runs(int level) const override { return static_cast<int>(RunsOf(level).size()); }
  MergeRun Run(int level, int run) const override;
  uint64_t RepositoryEntries() const override;
  bool IsFree(int level) const override;
  bool HasBegun(int level) const override;
  bool HasBegunToCopy() const override;
  int Trigger() const override { return input_.level_trigger; }
  uint64_t MemTableBytes() const override { return input_.memtable_bytes; }

  bool Merge(int level, int runs, int levels_below) override;
  bool MergeInto(int level, int runs) override;
  bool Copy(int level, int runs) override;
  bool GoOn(int level) override;

  // The proposal, or the next part of a merge that the policy did not go on with.
  std::optional<MergeJob> Job();

 private:
  const std::vector<RunRef>& RunsOf(int level) const;
  bool MayTake(int level, int runs) const;
  bool Propose(std::optional<MergeJob> job);

  const PickerInput& input_;
  std::optional<MergeJob> job_;
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_POLICY_BUFFER_PLAN_H_
