// Choosing merges. Levels are asked for runs that no job holds; of each level the oldest are taken, so that the output
// comes in the place of its inputs in the order of age.

#include "compaction/policy/picker.h"

#include <algorithm>

#include "compaction/filter/range_work.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

namespace {

// More runs than this are not merged in one job, so that its inputs' indexes stay within reach of the caches.
constexpr size_t kMaxMergeWidth = 8;

// Levels whose runs one merge takes. A job has at most 2^levels times the entries of a run of its first level, so this
// bounds how many such runs come while it runs, whatever the level is.
constexpr int kMaxMergeLevels = 4;

// Tables that one job removes, so that its edit stays small.
constexpr size_t kMaxDropTables = 1024;

bool IsBusy(const PickerInput& input, const Run& run) { return input.busy_runs->count(run.id) > 0; }

// For tables of the repository, of which jobs may take some.
bool IsBusy(const PickerInput& input, const PMTable& table) {
  return input.busy_tables != nullptr && input.busy_tables->count(table.number()) > 0;
}

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
  if (input.begun_run > 0 && version.levels[static_cast<size_t>(level)].back()->id == input.begun_run) return level;
  uint64_t entries = 0;
  for (const RunRef& run : version.levels[static_cast<size_t>(level)]) entries += run->entries();
  const std::vector<RunRef>& repository = version.levels.back();
  if (!repository.empty() && entries < repository[0]->entries() / input.growth) return std::nullopt;
  return level;
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
    if (std::any_of(runs.begin(), runs.end(), [&](const RunRef& run) { return IsBusy(input, *run); })) return;
    job->inputs.insert(job->inputs.end(), runs.begin(), runs.end());
    job->output_level++;
  }
}

// Makes of a job for all of the repository one for a part of it, in the order of the keys: it begins where the oldest
// run of the buffer does, of which earlier jobs have taken what comes before. False: the tables there are busy. A small
// repository is taken as a whole.
bool TakeRange(const PickerInput& input, MergeJob* job) {
  const Version& version = *input.version;
  const std::vector<RunRef>& repository = version.levels.back();
  const bool small = repository.empty() || repository[0]->tables.size() <= kMaxJobTables;
  if (small) return input.busy_levels->count(version.repository()) == 0;
  if (input.busy_levels->count(version.repository()) > 0 && !input.repository_shared) return false;
  CHECK(job->inputs.size() >= 2 && job->inputs.back() == repository[0]);
  const TableList& tables = repository[0]->tables;
  const PMTable& oldest = *job->inputs[job->inputs.size() - 2]->tables[0];
  const KeyOrder& order = oldest.order();
  // Keys between two tables go with the first.
  const size_t above = tables.CountBefore(
      [&](const TableRef& table) { return order.Compare(table->smallest(), oldest.smallest()) <= 0; });
  const size_t begin = above - std::min<size_t>(above, 1);
  size_t end = begin;
  while (end < tables.size() && end - begin < kMaxJobTables && !IsBusy(input, *tables[end])) {
    job->tables.push_back(tables[end++]);
  }
  if (begin > 0) job->range.from = tables[begin]->smallest().ToString();
  if (end < tables.size()) job->range.to = tables[end]->smallest().ToString();
  return end > begin;
}

// The lazy copy of the oldest runs of the level, at most width; nothing where it has to wait.
std::optional<MergeJob> LazyCopyOf(const PickerInput& input, int level, size_t width) {
  const Version& version = *input.version;
  const std::vector<RunRef>& runs = version.levels[static_cast<size_t>(level)];
  if (std::any_of(runs.begin(), runs.end(), [&](const RunRef& run) { return IsBusy(input, *run); }))
    return std::nullopt;
  MergeJob job{MergeKind::kLazyCopy, level, version.repository(), {}, {}};
  job.inputs.assign(runs.end() - static_cast<ptrdiff_t>(std::min(width, runs.size())), runs.end());
  const std::vector<RunRef>& repository = version.levels.back();
  CHECK(!job.inputs.empty() && repository.size() <= 1);
  job.inputs.insert(job.inputs.end(), repository.begin(), repository.end());
  if (!TakeRange(input, &job)) return std::nullopt;
  return job;
}

// A level is scored by its runs for each run that makes it due. The level that is due for the repository is so with one
// run, but scores as if two were needed, so that it gives way to levels that are as full. A run that is busy holds its
// whole level back.
std::optional<MergeJob> PickBufferMerge(const PickerInput& input) {
  const Version& version = *input.version;
  CHECK_GT(input.level_trigger, 0);
  const size_t trigger = static_cast<size_t>(input.level_trigger);
  const int lazy = LevelForRepository(input).value_or(-1);
  std::optional<MergeJob> copy;
  if (lazy >= 0 && input.busy_levels->count(lazy) == 0) copy = LazyCopyOf(input, lazy, kMaxMergeWidth);
  // If levels are equally full, the upper level comes first.
  int best = -1;
  double best_score = 0;
  for (int level = 0; level < version.repository(); level++) {
    if (input.busy_levels->count(level) > 0) continue;
    const std::vector<RunRef>& runs = version.levels[static_cast<size_t>(level)];
    const size_t due_at = level == lazy ? 1 : trigger;
    if (runs.size() < due_at) continue;
    if (std::any_of(runs.begin(), runs.end(), [&](const RunRef& run) { return IsBusy(input, *run); })) continue;
    if (level == lazy && !copy.has_value()) continue;
    const double score = static_cast<double>(runs.size()) / static_cast<double>(due_at + (level == lazy));
    if (score > best_score) {
      best = level;
      best_score = score;
    }
  }
  if (best < 0) return std::nullopt;
  if (best == lazy) return copy;
  const std::vector<RunRef>& runs = version.levels[static_cast<size_t>(best)];
  MergeJob job{MergeKind::kZeroCopy, best, best + 1, {}, {}};
  const size_t width = std::min(runs.size(), kMaxMergeWidth);
  // The oldest: newer runs of the level stay in front of the output, wherever that is put.
  job.inputs.assign(runs.end() - static_cast<ptrdiff_t>(width), runs.end());
  if (width == runs.size()) TakeLevelsBelow(input, lazy, &job);
  return job;
}

// The oldest run of the deepest buffer level that has one, into the repository. Only one run at a time: its space is
// free before the next needs some.
std::optional<MergeJob> PickPushDown(const PickerInput& input) {
  const Version& version = *input.version;
  for (int level = version.repository() - 1; level >= 0; level--) {
    if (input.busy_levels->count(level) > 0) return std::nullopt;  // may be putting a run below
    if (!version.levels[static_cast<size_t>(level)].empty()) return LazyCopyOf(input, level, 1);
  }
  return std::nullopt;
}

// From the repository up. Only tables that refer to marked extents are rewritten; their run stays, with others in it. A
// mark may come or go meanwhile: then the job copies a little less or more.
std::optional<MergeJob> PickCollection(const PickerInput& input) {
  const Version& version = *input.version;
  for (int level = version.repository(); level >= 0; level--) {
    const bool shared = input.repository_shared && level == version.repository();
    if (!shared && input.busy_levels->count(level) > 0) continue;
    for (const RunRef& run : version.levels[static_cast<size_t>(level)]) {
      if (IsBusy(input, *run)) continue;
      MergeJob job{MergeKind::kCollect, level, level, {run}, {}};
      for (const TableRef& table : run->tables) {
        if (job.tables.size() == kMaxJobTables) break;
        const bool marked = table->marked.load(std::memory_order_relaxed);  // relaxed: policy only
        if (marked && !IsBusy(input, *table)) job.tables.push_back(table);
      }
      CHECK_LE(job.tables.size(), kMaxJobTables);
      if (!job.tables.empty()) return job;
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
        return whole_expiry <= input.date_micros && job.tables.size() < kMaxDropTables;
      };
      runs[i]->tables.Search([&](const TableSummary& part) { return wanted(part.whole_expiry); },
                             [&](const TableRef& table) {
                               if (!wanted(table->expiry().whole) || IsBusy(input, *table)) return;
                               const bool hides = OverlapsOlder(version, level, *runs[i], *table);
                               if (!hides || MIODB_MUTATED(kExpiredHidesNothing)) job.tables.push_back(table);
                             });
      CHECK_LE(job.tables.size(), kMaxDropTables);
      if (!job.tables.empty()) return job;
    }
  }
  return std::nullopt;
}

// Whether a merge of the repository alone would drop something, now that no snapshot needs it.
bool HoldsHidden(const PickerInput& input, const Run& repository) {
  const Version& version = *input.version;
  if (version.ranges != nullptr) {
    const VersionFilter none({});
    // A deletion above the reach, which only a manifest with forged numbers has, would make a table due again as soon
    // as it was written.
    for (const TableRef& table : repository.tables) {
      if (table->ranges_applied() < input.ranges_reach && MayDropRanges(*version.ranges, none, *table)) return true;
    }
  }
  const bool tombstones_end_here = version.ssd == nullptr || version.ssd->file_count() == 0;
  // Expired values count as tombstones. Values that had expired before the clock was set back do not count.
  const uint64_t date_micros = std::min(input.settle_date_micros, input.date_micros);
  const auto ends_here = [&](uint64_t first_tombstone) {
    return tombstones_end_here && first_tombstone <= date_micros;
  };
  bool holds = false;
  repository.tables.Search(
      [&](const TableSummary& part) { return !holds && (part.hidden || ends_here(part.first_tombstone)); },
      [&](const TableRef& table) { holds = holds || HoldsHidden(*table) || ends_here(FirstTombstone(*table)); });
  return holds;
}

// A merge of everything reads each entry once; merges level by level would read it once for each level. The repository
// alone is taken only if a merge of it would drop something, so that settling what is settled ends.
std::optional<MergeJob> PickSettle(const PickerInput& input) {
  if (input.jobs_running) return std::nullopt;
  const Version& version = *input.version;
  MergeJob job{MergeKind::kSettle, 0, version.repository(), {}, {}};
  for (int level = 0; level < version.repository(); level++) {
    const std::vector<RunRef>& runs = version.levels[static_cast<size_t>(level)];
    job.inputs.insert(job.inputs.end(), runs.begin(), runs.end());
  }
  const std::vector<RunRef>& repository = version.levels.back();
  CHECK_LE(repository.size(), 1u);
  if (job.inputs.empty() && (input.snapshots || repository.empty() || !HoldsHidden(input, *repository[0]))) {
    return std::nullopt;
  }
  job.inputs.insert(job.inputs.end(), repository.begin(), repository.end());
  return job;
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

// The output of a merge of several levels lies in the place of its oldest run, so that has to be the deepest. The
// oldest run that is worth it is looked for from the repository up.
std::optional<MergeJob> PickQuiet(const PickerInput& input, uint64_t growth) {
  CHECK(!input.jobs_running && growth > 0);
  const Version& version = *input.version;
  struct Item {
    int level;
    RunRef run;
  };
  std::vector<Item> by_age;
  std::vector<uint64_t> newer;  // entries of all runs before this one
  uint64_t entries = 0;
  for (int level = 0; level <= version.repository(); level++) {
    for (const RunRef& run : version.levels[static_cast<size_t>(level)]) {
      by_age.push_back({level, run});
      newer.push_back(entries);
      entries += run->entries();
    }
  }
  if (by_age.empty() || by_age[0].level == version.repository()) return std::nullopt;
  CHECK_EQ(by_age.size(), newer.size());
  MergeJob job{MergeKind::kQuiet, by_age[0].level, version.repository(), {}, {}};
  size_t count = by_age.size();
  // Without a repository the oldest run of the buffer becomes it.
  if (by_age.back().level == version.repository()) {
    while (count > 1 && newer[count - 1] * growth < by_age[count - 1].run->entries()) count--;
    job.output_level = by_age[count - 1].level;
  }
  if (job.output_level == job.level) return std::nullopt;
  uint64_t index_bytes = 0;
  for (size_t i = 0; i < count; i++) {
    job.inputs.push_back(by_age[i].run);
    for (const TableRef& table : by_age[i].run->tables) index_bytes += table->index()->size();
  }
  if (index_bytes > input.quiet_bytes) return std::nullopt;
  return job;
}

// Neighbours in age are inputs that follow each other in the list of all runs of the levels from the job's own to its
// output, newest first; and but in a collection they reach to the oldest run of the job's level, in a zero-copy merge
// to that of the last level above its output.
void CheckJob(const PickerInput& input, const MergeJob& job) {
  const auto& levels = input.version->levels;
  CHECK(job.level >= 0 && job.level <= job.output_level && job.output_level <= input.version->repository());
  CHECK(!job.inputs.empty());
  CHECK_EQ(TakesSomeTables(job.kind), job.level == job.output_level);
  CHECK(!TakesSomeTables(job.kind) || !job.tables.empty());
  CHECK(job.range.unbounded() || (job.kind == MergeKind::kLazyCopy && !job.tables.empty()));
  CHECK((job.kind != MergeKind::kSettle && job.kind != MergeKind::kQuiet) || !input.jobs_running);
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
  const bool takes_part = job.kind == MergeKind::kLazyCopy && !job.tables.empty();
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
    if (input.settle) {
      job = PickSettle(input);  // at once; smaller merges before it would be work done twice
    } else {
      if (input.push_down) job = PickPushDown(input);
      if (!job.has_value()) job = PickBufferMerge(input);
    }
    if (job.has_value()) return job;
  }
  if (!input.marked || input.collection_blocked || (input.settle && input.jobs_running)) return std::nullopt;
  return PickCollection(input);
}

// Emptiest first frees most for each byte copied. Live bytes may exceed payload bytes a little, since sizes of large
// records are rounded up in words; such an extent has no garbage.
std::vector<ExtentUse> PickEvacuation(std::vector<ExtentUse> extents, const MarkRequest& request) {
  CHECK_LE(request.goal_percent, request.start_percent);
  uint64_t used = 0, live = 0, copied = 0;
  for (const ExtentUse& e : extents) {
    CHECK(e.extent != nullptr);
    used += e.payload;
    live += std::min(e.live, e.payload);
  }
  std::vector<ExtentUse> result;
  // Below the slack the garbage is not worth a job, however large its part is.
  if (used - live <= request.slack || used * 100 <= live * request.start_percent) return result;
  // Each extent that is picked takes its garbage out of what is used, until the goal is reached or the budget is spent.
  std::sort(extents.begin(), extents.end(), [](const ExtentUse& a, const ExtentUse& b) {
    // a.live / a.payload < b.live / b.payload, without division
    return a.live * b.payload < b.live * a.payload;
  });
  for (const ExtentUse& e : extents) {
    if (used * 100 <= live * request.goal_percent || e.live >= e.payload || e.live > request.budget - copied) break;
    CHECK_GE(used, live);
    copied += e.live;
    used -= e.payload - e.live;
    result.push_back(e);
  }
  return result;
}

}  // namespace miodb
