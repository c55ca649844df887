// Choosing merges. Levels are asked for runs that no job holds; of each level the oldest are taken, so that the output
// comes in the place of its inputs in the order of age.

#include "compaction/policy/picker.h"

#include <algorithm>

#include "compaction/filter/range_work.h"
#include "compaction/policy/parts.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/check/visits.h"

namespace miodb {

namespace {

// More runs than this are not merged in one job, so that its inputs' indexes stay within reach of the caches.
constexpr size_t kMaxMergeWidth = 8;

// Levels whose runs one merge takes. A job has at most 2^levels times the entries of a run of its first level, so this
// bounds how many such runs come while it runs, whatever the level is.
constexpr int kMaxMergeLevels = 4;

// The buffer level whose runs are due for the repository, if any: the deepest that has runs, if it is the last one, or
// if they have enough entries for the repository to be worth rewriting. So the depth of the buffer follows the
// repository: while its entries double, it is rewritten a bounded number of times.
std::optional<int> LevelForRepository(const PickerInput& input) {
  const Version& version = *input.version;
  const int last_buffer = version.repository() - 1;
  CHECK(last_buffer >= 0 && input.growth > 0);
  int level = last_buffer;
  while (level >= 0 && version.levels[static_cast<size_t>(level)].empty()) level--;
  if (level < 0) return std::nullopt;
  if (level == last_buffer) return level;
  if (level < input.least_depth) return std::nullopt;
  if (HasBegun(input)) return level;
  uint64_t entries = 0;
  for (const RunRef& run : version.levels[static_cast<size_t>(level)]) entries += run->entries();
  const std::vector<RunRef>& repository = version.levels.back();
  if (!repository.empty() && entries < repository[0]->entries() / input.growth) return std::nullopt;
  return level;
}

// Whether a job has one of the runs, or a merge that has begun waits for its next part with it.
bool AnyTaken(const PickerInput& input, const std::vector<RunRef>& runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const RunRef& run) { return IsBusy(input, *run) || IsHeld(input, *run); });
}

// Adds the levels below that the output would make due, so that their entries and those of the levels above are written
// once and not once for each level. While the job runs none of its levels gives runs away, which bounds their number.
void TakeLevelsBelow(const PickerInput& input, int lazy, MergeJob* job) {
  const Version& version = *input.version;
  for (;;) {
    const int level = job->output_level;
    CHECK_GT(level, job->level);
    if (level == lazy || level >= version.repository() - 1 || level - job->level >= kMaxMergeLevels) return;
    const std::vector<RunRef>& runs = version.levels[static_cast<size_t>(level)];
    if (runs.empty() || runs.size() + 1 < static_cast<size_t>(input.level_trigger)) return;
    if (job->inputs.size() + runs.size() > kMaxMergeWidth || input.busy_levels->count(level) > 0) return;
    if (AnyTaken(input, runs)) return;
    job->inputs.insert(job->inputs.end(), runs.begin(), runs.end());
    job->output_level++;
  }
}

// The merge of this level that is due: the next part of one that has begun, told at its upper level, or the oldest
// runs.
std::optional<MergeJob> PickOfLevel(const PickerInput& input, int lazy, int level) {
  const std::vector<RunRef>& runs = input.version->levels[static_cast<size_t>(level)];
  CHECK(!runs.empty());
  if (const BegunMerge* const begun = BegunWith(input, *runs.back())) {
    std::optional<MergeJob> part = GoOn(input, *begun);
    return part.has_value() && part->level == level ? std::move(part) : std::nullopt;
  }
  if (runs.size() < static_cast<size_t>(input.level_trigger) || AnyTaken(input, runs)) return std::nullopt;
  MergeJob job{MergeKind::kZeroCopy, level, level + 1, {}, {}};
  const size_t width = std::min(runs.size(), kMaxMergeWidth);
  // The oldest: newer runs of the level stay in front of the output, wherever that is put.
  job.inputs.assign(runs.end() - static_cast<ptrdiff_t>(width), runs.end());
  if (width == runs.size()) TakeLevelsBelow(input, lazy, &job);
  return job;
}

// A level is scored by its runs for each run that makes it due. The level that is due for the repository is so with one
// run, but scores as if two were needed, so that it gives way to levels that are as full. A run that is busy holds its
// whole level back.
std::optional<MergeJob> PickBufferMerge(const PickerInput& input) {
  const Version& version = *input.version;
  CHECK_GT(input.level_trigger, 0);
  const int lazy = LevelForRepository(input).value_or(-1);
  // If levels are equally full, the upper level comes first.
  std::optional<MergeJob> best;
  double best_score = 0;
  for (int level = 0; level < version.repository(); level++) {
    const std::vector<RunRef>& runs = version.levels[static_cast<size_t>(level)];
    if (runs.empty() || input.busy_levels->count(level) > 0) continue;
    CHECK(lazy < 0 || level <= lazy);
    const int due_at = level == lazy ? 2 : input.level_trigger;
    const double score = static_cast<double>(runs.size()) / due_at;
    if (score <= best_score) continue;
    const bool copies = level == lazy && BegunWith(input, *runs.back()) == nullptr;
    std::optional<MergeJob> job =
        copies ? IntoRepository(input, MergeKind::kLazyCopy, level, kMaxMergeWidth) : PickOfLevel(input, lazy, level);
    if (!job.has_value()) continue;
    best = std::move(job);
    best_score = score;
  }
  if (best.has_value() && best->output_level < version.repository()) {
    EndPart(best->inputs.size(), kMaxPartTables, &*best);
  }
  return best;
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
// to that of the last level above its output.
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
    by_age.insert(by_age.end(), runs.begin(), runs.end());
  }
  const auto first = std::find(by_age.begin(), by_age.end(), job.inputs.front());
  CHECK_LE(static_cast<ptrdiff_t>(job.inputs.size()), by_age.end() - first);
  CHECK(std::equal(job.inputs.begin(), job.inputs.end(), first));
  const size_t newer = static_cast<size_t>(first - by_age.begin());
  CHECK(TakesSomeTables(job.kind) || newer + job.inputs.size() >= levels[static_cast<size_t>(job.level)].size());
  if (job.kind == MergeKind::kZeroCopy) {
    CHECK_EQ(newer + job.inputs.size() + levels[static_cast<size_t>(job.output_level)].size(), by_age.size());
  }
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
  if (!input.drops_blocked) expired = PickExpired(input);
  if (expired.has_value()) return expired;
  // Merges before collections: a merge drops garbage on its way, and what it leaves is cheaper to collect.
  if (!input.merges_blocked) {
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
