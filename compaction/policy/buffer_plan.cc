// The proposals of a merge policy. Each one is refused here if the job would break an invariant that CheckJob states.

#include "compaction/policy/buffer_plan.h"

#include <algorithm>
#include <utility>

#include "compaction/policy/parts.h"
#include "src/util/check/check.h"

namespace miodb {

BufferPlan::BufferPlan(const PickerInput* input) : input_(*input) {
  CHECK(input_.busy_runs != nullptr && input_.busy_levels != nullptr);
  CHECK_GT(input_.level_trigger, 0);
}

int BufferPlan::Levels() const {
  DCHECK_GT(input_.version->repository(), 0);
  return input_.version->repository();
}

const std::vector<RunRef>& BufferPlan::RunsOf(int level) const {
  CHECK(level >= 0 && level < Levels());
  return input_.version->levels[static_cast<size_t>(level)];
}

MergeRun BufferPlan::Run(int level, int run) const {
  CHECK(run >= 0 && run < Runs(level));
  const miodb::Run& of_level = *RunsOf(level)[static_cast<size_t>(run)];
  return {of_level.entries(), of_level.payload_bytes()};
}

uint64_t BufferPlan::RepositoryEntries() const {
  const std::vector<RunRef>& repository = input_.version->levels.back();
  DCHECK_LE(repository.size(), 1u);
  return repository.empty() ? 0 : repository[0]->entries();
}

// A run that a job has, or a merge that has begun, holds its whole level back.
bool BufferPlan::IsFree(int level) const {
  if (level < 0 || level >= Levels()) return false;
  const std::vector<RunRef>& runs = RunsOf(level);
  DCHECK_LE(runs.size(), input_.version->runs.size());
  return input_.busy_levels->count(level) == 0 && std::none_of(runs.begin(), runs.end(), [&](const RunRef& run) {
           return IsBusy(input_, *run) || IsHeld(input_, *run);
         });
}

bool BufferPlan::HasBegun(int level) const {
  if (level < 0 || level >= Levels()) return false;
  const std::vector<RunRef>& runs = RunsOf(level);
  return !runs.empty() && BegunWith(input_, *runs.back()) != nullptr;
}

bool BufferPlan::HasBegunToCopy() const {
  DCHECK(input_.begun != nullptr);
  return miodb::HasBegun(input_);
}

bool BufferPlan::MayTake(int level, int runs) const {
  DCHECK(input_.busy_levels != nullptr && input_.busy_runs != nullptr);
  return !job_.has_value() && level >= 0 && level < Levels() && runs > 0 && runs <= Runs(level);
}

bool BufferPlan::Propose(std::optional<MergeJob> job) {
  CHECK(!job_.has_value());
  job_ = std::move(job);
  if (!job_.has_value()) return false;
  if (job_->output_level < Levels()) EndPart(job_->inputs.size(), kMaxPartTables, &*job_);
  return true;
}

// The oldest: newer runs of the level stay in front of the output, wherever that is put.
bool BufferPlan::Merge(int level, int runs, int levels_below) {
  if (!MayTake(level, runs) || levels_below < 0 || levels_below >= Levels() - 1 - level) return false;
  if (levels_below > 0 && runs < Runs(level)) return false;
  MergeJob job{MergeKind::kZeroCopy, level, level + 1 + levels_below, {}, {}};
  job.inputs.assign(RunsOf(level).end() - runs, RunsOf(level).end());
  for (int taken = level; taken < job.output_level; taken++) {
    if (!IsFree(taken)) return false;
    if (taken > level) job.inputs.insert(job.inputs.end(), RunsOf(taken).begin(), RunsOf(taken).end());
  }
  DCHECK(job.output_level > level && job.output_level < Levels());
  return job.inputs.size() > 1 && Propose(std::move(job));
}

bool BufferPlan::MergeInto(int level, int runs) {
  if (!MayTake(level, runs) || level + 1 >= Levels() || !IsFree(level) || !IsFree(level + 1)) return false;
  MergeJob job{MergeKind::kInPlace, level, level + 1, {}, {}};
  job.inputs.assign(RunsOf(level).end() - runs, RunsOf(level).end());
  job.inputs.insert(job.inputs.end(), RunsOf(level + 1).begin(), RunsOf(level + 1).end());
  DCHECK(!job.inputs.empty() && job.output_level < Levels());
  return Propose(std::move(job));
}

bool BufferPlan::Copy(int level, int runs) {
  if (!MayTake(level, runs) || input_.busy_levels->count(level) > 0 || HasBegun(level)) return false;
  for (int below = level + 1; below < Levels(); below++) {
    if (Runs(below) > 0) return false;
  }
  DCHECK(!RunsOf(level).empty());
  return Propose(IntoRepository(input_, MergeKind::kLazyCopy, level, static_cast<size_t>(runs)));
}

// A merge of several levels is told at its upper level alone.
bool BufferPlan::GoOn(int level) {
  if (job_.has_value() || !HasBegun(level) || input_.busy_levels->count(level) > 0) return false;
  std::optional<MergeJob> part = miodb::GoOn(input_, *BegunWith(input_, *RunsOf(level).back()));
  DCHECK(!part.has_value() || part->output_run > 0);
  return part.has_value() && part->level == level && Propose(std::move(part));
}

std::optional<MergeJob> BufferPlan::Job() {
  for (int level = 0; level < Levels() && !job_.has_value(); level++) GoOn(level);
  CHECK(!job_.has_value() || !job_->inputs.empty());
  return std::move(job_);
}

}  // namespace miodb
