#include "compaction/policy/picker.h"

#include <algorithm>
#include <iterator>

#include "compaction/filter/range_work.h"
#include "compaction/policy/buffer_plan.h"
#include "compaction/policy/parts.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/check/visits.h"

namespace miodb {

namespace {

// Without a proposal a merge that has begun goes on.
std::optional<MergeJob> PickBufferMerge(const PickerInput& input) {
  CHECK(input.policy != nullptr);
  BufferPlan plan(&input);
  input.policy->Propose(&plan);
  return plan.Job();
}

// The oldest run of the deepest buffer level that has one, into the repository. Only one run at a time: its space is
// free before the next needs some.
std::optional<MergeJob> PickPushDown(const PickerInput& input) {
  const Version& version = *input.version;
  for (int level = version.repository() - 1; level >= 0; level--) {
    if (input.busy_levels->count(level) > 0) return std::nullopt;  // may be putting a run below
    if (!version.levels[static_cast<size_t>(level)].empty())
      return IntoRepository(input, MergeKind::kLazyCopy, level, 1);
  }
  return std::nullopt;
}

// From the repository up. Only tables that refer to marked extents are rewritten; their run stays, with others in it.
// Few are passed by: jobs that hold some tables of a run hold few.
std::optional<MergeJob> PickCollection(const PickerInput& input) {
  const Version& version = *input.version;
  for (int level = version.repository(); level >= 0; level--) {
    const bool shared = input.repository_shared && level == version.repository();
    if (!shared && input.busy_levels->count(level) > 0) continue;
    for (const RunRef& run : version.levels[static_cast<size_t>(level)]) {
      if (IsBusy(input, *run)) continue;
      MergeJob job{MergeKind::kCollect, level, level, {run}, {}};
      for (auto mark = input.marked->lower_bound({run->id, 0});
           mark != input.marked->end() && mark->first.first == run->id && job.tables.size() < kMaxJobTables; ++mark) {
        Visits::Add(1);
        if (!IsBusy(input, *mark->second)) job.tables.push_back(mark->second);
      }
      CHECK_LE(job.tables.size(), kMaxJobTables);
      if (job.tables.empty()) continue;
      std::sort(job.tables.begin(), job.tables.end(), [](const TableRef& a, const TableRef& b) {
        return a->order().Compare(a->smallest(), b->smallest()) < 0;
      });
      return job;
    }
  }
  return std::nullopt;
}

// Whether a run older than this one, down to the SSD tier, has a table around these keys.
bool OverlapsOlder(const Version& version, int level, const Run& run, const PMTable& table) {
  CHECK(level >= 0 && level <= version.repository());
  bool older = false;  // what comes in the walk is
  for (; level <= version.repository(); level++) {
    for (const RunRef& other : version.levels[static_cast<size_t>(level)]) {
      if (older && other->Overlaps(table.order(), table.smallest(), table.largest())) return true;
      older = older || other.get() == &run;
    }
  }
  CHECK(older);
  return version.ssd != nullptr && version.ssd->OverlapsFrom(0, table.smallest(), table.largest());
}

// Tables of which everything has expired and that hide nothing, of one run. The oldest first: then the next ones may
// have nothing left that they hide. Tables that have not expired are passed by in parts of their run.
std::optional<MergeJob> PickExpired(const PickerInput& input) {
  const Version& version = *input.version;
  for (int level = version.repository(); level >= 0; level--) {
    const bool shared = input.repository_shared && level == version.repository();
    if (!shared && input.busy_levels->count(level) > 0) continue;
    const std::vector<RunRef>& runs = version.levels[static_cast<size_t>(level)];
    for (size_t i = runs.size(); i-- > 0;) {
      if (IsBusy(input, *runs[i])) continue;
      MergeJob job{MergeKind::kDrop, level, level, {runs[i]}, {}};
      const auto wanted = [&](uint64_t whole_expiry) {
        return whole_expiry <= input.date_micros && job.tables.size() < kMostDroppedTables;
      };
      runs[i]->tables.Search([&](const TableSummary& part) { return wanted(part.whole_expiry); },
                             [&](const TableRef& table) {
                               if (!wanted(table->expiry().whole) || IsBusy(input, *table)) return;
                               const bool hides = OverlapsOlder(version, level, *runs[i], *table);
                               if (!hides || MIODB_MUTATED(kExpiredHidesNothing)) job.tables.push_back(table);
                             });
      CHECK_LE(job.tables.size(), kMostDroppedTables);
      if (!job.tables.empty()) return job;
    }
  }
  return std::nullopt;
}

}  // namespace

// For the info log and for errors.
const char* MergeKindName(MergeKind kind) {
  switch (kind) {
    case MergeKind::kZeroCopy:
      return "zero-copy merge";
    case MergeKind::kLazyCopy:
      return "lazy copy";
    case MergeKind::kInPlace:
      return "merge in place";
    case MergeKind::kSettle:
      return "settling merge";
    case MergeKind::kQuiet:
      return "quiet merge";
    case MergeKind::kCollect:
      return "garbage collection";
    case MergeKind::kDrop:
      return "removal of what expired";
  }
  return "";
}

// Neighbours in age are inputs that follow each other in the list of all runs of the levels from the job's own to its
// output, newest first; and but in a collection they reach to the oldest run of the job's level, in a zero-copy merge
// to that of the last level above its output, in a merge in place to that of its output's level. The run of earlier
// parts has none of the keys that the inputs still have, so its place among them has no effect.
void CheckJob(const PickerInput& input, const MergeJob& job) {
  const Visits::Pause pause;
  const auto& levels = input.version->levels;
  CHECK(job.level >= 0 && job.level <= job.output_level && job.output_level <= input.version->repository());
  CHECK(!job.inputs.empty());
  const bool takes_part = job.takes_part();
  CHECK(!TakesSomeTables(job.kind) || (!job.tables.empty() && job.range.unbounded()));
  CHECK(job.level < job.output_level || job.is_part() || TakesSomeTables(job.kind));
  CHECK(takes_part || !job.range.from.has_value());
  CHECK(job.output_run == 0 || job.output_level < input.version->repository());
  CHECK(job.kind != MergeKind::kQuiet || !input.jobs_running);
  CHECK(job.kind != MergeKind::kSettle || takes_part || !input.jobs_running);
  // All runs from the job's level to its output, newest first.
  std::vector<RunRef> by_age;
  for (int level = job.level; level <= job.output_level; level++) {
    const auto& runs = levels[static_cast<size_t>(level)];
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(by_age),
                 [&](const RunRef& run) { return job.kind != MergeKind::kInPlace || run->id != job.output_run; });
  }
  const auto first = std::find(by_age.begin(), by_age.end(), job.inputs.front());
  CHECK_LE(static_cast<ptrdiff_t>(job.inputs.size()), by_age.end() - first);
  CHECK(std::equal(job.inputs.begin(), job.inputs.end(), first));
  const size_t newer = static_cast<size_t>(first - by_age.begin());
  CHECK(TakesSomeTables(job.kind) || job.kind == MergeKind::kInPlace ||
        newer + job.inputs.size() >= levels[static_cast<size_t>(job.level)].size());
  if (job.kind == MergeKind::kZeroCopy) {
    CHECK_EQ(newer + job.inputs.size() + levels[static_cast<size_t>(job.output_level)].size(), by_age.size());
  }
  if (job.kind == MergeKind::kInPlace) CHECK_EQ(newer + job.inputs.size(), by_age.size());
  // A job that takes some of the repository's tables does not ask for its run.
  CHECK(std::none_of(job.inputs.begin(), job.inputs.end() - takes_part,
                     [&](const RunRef& run) { return IsBusy(input, *run); }));
  const auto& tables = (takes_part ? job.inputs.back() : job.inputs.front())->tables;
  for (const TableRef& table : job.tables) {
    CHECK(!IsBusy(input, *table));
    CHECK(std::find(tables.begin(), tables.end(), table) != tables.end());
  }
}

std::optional<MergeJob> PickMerge(const PickerInput& input) {
  CHECK(input.busy_runs != nullptr && input.busy_levels != nullptr);
  // Jobs that cost nothing come first, and need no space.
  std::optional<MergeJob> expired;
  if (input.merges_blocked != MergesBlocked::kAll) expired = PickExpired(input);
  if (expired.has_value()) return expired;
  // Merges before collections: a merge drops garbage on its way, and what it leaves is cheaper to collect.
  if (input.merges_blocked == MergesBlocked::kNone) {
    std::optional<MergeJob> job;
    if (input.settle) job = PickSettle(input);  // at once; smaller merges before it would be work done twice
    // While the buffer that was found goes into the repository in parts, what is new is merged as ever.
    if (!input.settle || HasBegun(input)) {
      if (!job.has_value() && input.push_down) job = PickPushDown(input);
      if (!job.has_value()) job = PickBufferMerge(input);
    }
    if (job.has_value()) return job;
  }
  if (input.marked == nullptr || input.collection_blocked || (input.settle && input.jobs_running)) return std::nullopt;
  return PickCollection(input);
}

// Emptiest first frees most for each byte copied. Live bytes may exceed payload bytes a little, since sizes of large
// records are rounded up in words; such an extent has no garbage.
size_t PickEvacuation(const MarkRequest& request, std::vector<ExtentUse>* extents) {
  CHECK_LE(request.goal_percent, request.start_percent);
  uint64_t used = 0, live = 0, copied = 0;
  for (const ExtentUse& e : *extents) {
    CHECK(e.extent != nullptr);
    used += e.payload;
    live += std::min(e.live, e.payload);
  }
  // Below the slack the garbage is not worth a job, however large its part is.
  if (used - live <= request.slack || used * 100 <= live * request.start_percent) return 0;
  // Each extent that is picked takes its garbage out of what is used, until the goal is reached or the budget is spent.
  std::sort(extents->begin(), extents->end(), [](const ExtentUse& a, const ExtentUse& b) {
    // a.live / a.payload < b.live / b.payload, without division
    return a.live * b.payload < b.live * a.payload;
  });
  size_t picked = 0;
  for (const ExtentUse& e : *extents) {
    if (used * 100 <= live * request.goal_percent || e.live >= e.payload || e.live > request.budget - copied) break;
    CHECK_GE(used, live);
    copied += e.live;
    used -= e.payload - e.live;
    picked++;
  }
  return picked;
}

}  // namespace miodb
