#include "compaction/policy/parts.h"

#include <algorithm>

#include "src/util/check/check.h"

namespace miodb {

// Payload tells, and not the number of tables: where free space is scattered, tables are small and many, and a merge
// makes few of them again.
bool IsTakenInParts(const Version& version, uint64_t partition_bytes) {
  DCHECK_GT(partition_bytes, 0u);
  return !version.levels.back().empty() && version.levels.back()[0]->payload_bytes() / kMaxJobTables > partition_bytes;
}

// Merges that run beside each other have different inputs: of each run of the buffer one takes so many tables, and of a
// repository that is taken in parts one part is merged beside a collection.
uint64_t MostEntriesAtOnce(const Version& version, uint64_t partition_bytes) {
  const bool parts = IsTakenInParts(version, partition_bytes);
  uint64_t entries = 0;
  for (const Run* run : version.runs) {
    const TableSummary total = run->tables.Total();
    CHECK(total.most_entries > 0 && total.most_entries <= total.entries);
    const bool repository = !version.levels.back().empty() && run == version.levels.back()[0].get();
    const size_t most = !repository ? kMaxPartTables + 1 : parts ? 2 * kMaxJobTables : run->tables.size();
    entries += std::min(total.entries, most * total.most_entries);
  }
  return entries;
}

namespace {

bool Has(const BegunMerge& begun, const Run& run) {
  DCHECK(!begun.inputs.empty());
  return std::find(begun.inputs.begin(), begun.inputs.end(), run.id) != begun.inputs.end();
}

template <typename Condition>
const BegunMerge* Find(const PickerInput& input, const Condition& condition) {
  const auto at = std::find_if(input.begun->begin(), input.begun->end(), condition);
  return at == input.begun->end() ? nullptr : &*at;
}

}  // namespace

bool HasBegun(const PickerInput& input) {
  const Version& version = *input.version;
  CHECK(version.repository() > 0 && version.runs.size() >= version.levels.back().size());
  const size_t buffer = version.runs.size() - version.levels.back().size();
  return buffer > 0 && Find(input, [&](const BegunMerge& begun) {
                         return begun.output_level == version.repository() && Has(begun, *version.runs[buffer - 1]);
                       }) != nullptr;
}

const BegunMerge* BegunWith(const PickerInput& input, const Run& run) {
  DCHECK_GT(run.id, 0u);
  return Find(input, [&](const BegunMerge& begun) { return StaysInBuffer(begun.kind) && Has(begun, run); });
}

bool IsHeld(const PickerInput& input, const Run& run) {
  const auto is_output = [&](const BegunMerge& begun) {
    const std::vector<const Run*>& runs = input.version->runs;
    return StaysInBuffer(begun.kind) && begun.output_run == run.id &&
           std::any_of(runs.begin(), runs.end(), [&](const Run* other) { return Has(begun, *other); });
  };
  return BegunWith(input, run) != nullptr || Find(input, is_output) != nullptr;
}

std::optional<MergeJob> GoOn(const PickerInput& input, const BegunMerge& begun) {
  const Version& version = *input.version;
  CHECK_GT(begun.output_run, 0u);
  MergeJob job{begun.kind, 0, begun.output_level, {}, {}};
  job.output_run = begun.output_run;
  for (int level = 0; level <= begun.output_level; level++) {
    for (const RunRef& run : version.levels[static_cast<size_t>(level)]) {
      if (!Has(begun, *run)) continue;
      if (IsBusy(input, *run)) return std::nullopt;
      if (job.inputs.empty()) job.level = level;
      job.inputs.push_back(run);
    }
    const bool taken = level < begun.output_level || begun.kind == MergeKind::kInPlace;
    if (!job.inputs.empty() && taken && input.busy_levels->count(level) > 0) return std::nullopt;
  }
  if (job.inputs.empty()) return std::nullopt;
  CHECK(job.inputs.size() <= begun.inputs.size() && job.level <= begun.output_level);
  return job;
}

std::optional<MergeJob> GoOn(const PickerInput& input, MergeKind kind) {
  for (const BegunMerge& begun : *input.begun) {
    if (begun.kind != kind || begun.output_run == 0) continue;
    std::optional<MergeJob> job = GoOn(input, begun);
    if (!job.has_value()) continue;
    EndPart(job->inputs.size(), kMaxPartTables, &*job);
    return job;
  }
  return std::nullopt;
}

// When another merge takes a run of a merge that has begun, the latter ends early, and its runs are like any others.
void NoteBegun(const MergeJob& job, std::vector<BegunMerge>* begun) {
  CHECK(!TakesSomeTables(job.kind));
  const auto goes_on = [&](const BegunMerge& other) { return other.output_run == job.output_run; };
  if (job.output_run > 0 && std::any_of(begun->begin(), begun->end(), goes_on)) return;
  BegunMerge fresh{job.kind, job.output_level, job.output_run, {}};
  for (const RunRef& run : job.inputs) {
    if (run->id > 0) fresh.inputs.push_back(run->id);
  }
  const auto takes = [&](uint64_t id) {
    return std::find(fresh.inputs.begin(), fresh.inputs.end(), id) != fresh.inputs.end();
  };
  const bool begins = !fresh.inputs.empty() && (job.takes_part() || job.range.to.has_value());
  std::erase_if(*begun, [&](const BegunMerge& other) {
    return (begins && other.output_level == job.output_level) || takes(other.output_run) ||
           std::any_of(other.inputs.begin(), other.inputs.end(), takes);
  });
  if (!begins) return;
  // Into the repository the oldest run alone tells whether the merge goes on.
  if (job.output_run == 0) fresh.inputs.erase(fresh.inputs.begin(), fresh.inputs.end() - 1);
  CHECK(!fresh.inputs.empty() && fresh.output_level > 0);
  begun->push_back(std::move(fresh));
}

// Tables are counted in the order of their smallest keys over all runs, but for the first of each run: however many
// runs there are, a part goes so many tables on.
void EndPart(size_t runs, size_t most, MergeJob* job) {
  CHECK_LE(runs, job->inputs.size());
  std::vector<size_t> begin(runs, 0), next;
  std::vector<const PMTable*> heads(runs);  // of each run the table at next
  const std::optional<std::string>& from = job->range.from;
  for (size_t i = 0; i < runs; i++) {
    const Run& run = *job->inputs[i];
    DCHECK(!from.has_value() || !run.tables.empty());
    if (from.has_value()) begin[i] = run.FindTable(run.tables[0]->order(), *from);
    heads[i] = begin[i] < run.tables.size() ? run.tables[begin[i]].get() : nullptr;
  }
  next = begin;
  const auto less = [](const PMTable* a, const PMTable* b) {
    return a != nullptr && (b == nullptr || a->order().Compare(a->smallest(), b->smallest()) < 0);
  };
  const PMTable* first = nullptr;  // of those not counted
  for (size_t count = 0; count <= most;) {
    const size_t i = static_cast<size_t>(std::min_element(heads.begin(), heads.end(), less) - heads.begin());
    first = i < runs ? heads[i] : nullptr;
    if (first == nullptr || job->range.IsBefore(first->order(), first->smallest())) return;
    count += next[i]++ > begin[i];
    heads[i] = next[i] < job->inputs[i]->tables.size() ? job->inputs[i]->tables[next[i]].get() : nullptr;
  }
  CHECK(!job->range.IsBehind(first->order(), first->smallest()));
  job->range.to = first->smallest().ToString();
  CHECK(!job->range.unbounded());
  std::erase_if(job->tables,
                [&](const TableRef& table) { return job->range.IsBefore(table->order(), table->smallest()); });
}

// A run that stays one table is as large as half of a part at most, and is not what a settle makes on its way. The last
// part of a merge takes few tables, but its output lies in one run with that of the others.
bool CutsTables(const MergeJob& job, uint64_t partition_bytes) {
  DCHECK_GT(partition_bytes, 0u);
  CHECK(!job.inputs.empty());
  uint64_t bytes = 0;
  for (const RunRef& run : job.inputs) bytes += run->payload_bytes();
  return job.is_part() || job.kind == MergeKind::kSettle || bytes / (kMaxPartTables / 2) > partition_bytes;
}

bool TakePart(const PickerInput& input, size_t begin, MergeJob* job) {
  CHECK(IsTakenInParts(*input.version, input.partition_bytes) && job->inputs.back() == input.version->levels.back()[0]);
  if (input.busy_levels->count(input.version->repository()) > 0 && !input.repository_shared) return false;
  const TableList& tables = job->inputs.back()->tables;
  size_t end = begin;
  while (end < tables.size() && end - begin < kMaxJobTables && !IsBusy(input, *tables[end])) {
    job->tables.push_back(tables[end++]);
  }
  CHECK_LE(job->tables.size(), kMaxJobTables);
  // Keys between two tables go with the first of them.
  if (begin > 0) job->range.from = tables[begin]->smallest().ToString();
  if (end < tables.size()) job->range.to = tables[end]->smallest().ToString();
  return end > begin;
}

// Earlier jobs have taken what of the oldest run comes before its first key.
std::optional<MergeJob> IntoRepository(const PickerInput& input, MergeKind kind, int level, size_t width) {
  const Version& version = *input.version;
  const std::vector<RunRef>&runs = version.levels[static_cast<size_t>(level)], &repository = version.levels.back();
  CHECK(!runs.empty() && repository.size() <= 1 && level < version.repository());
  if (std::any_of(runs.begin(), runs.end(), [&](const RunRef& run) { return IsBusy(input, *run); })) {
    return std::nullopt;
  }
  MergeJob job{kind, level, version.repository(), {}, {}};
  width = std::min(width, runs.size());
  // The runs that are older than an output which waits for its next part. A job of everything does not ask.
  const auto is_held = [&](const RunRef& run) { return kind == MergeKind::kLazyCopy && IsHeld(input, *run); };
  width = std::min<size_t>(width, std::find_if(runs.rbegin(), runs.rend(), is_held) - runs.rbegin());
  if (width == 0) return std::nullopt;
  job.inputs.assign(runs.end() - static_cast<ptrdiff_t>(width), runs.end());
  job.inputs.insert(job.inputs.end(), repository.begin(), repository.end());
  if (IsTakenInParts(version, input.partition_bytes)) {
    const PMTable& oldest = *runs.back()->tables[0];
    const size_t above = repository[0]->tables.CountBefore(
        [&](const TableRef& table) { return oldest.order().Compare(table->smallest(), oldest.smallest()) <= 0; });
    if (!TakePart(input, above - std::min<size_t>(above, 1), &job)) return std::nullopt;
  }
  // Where no table of the repository ends the part, it is as large as one of so many tables.
  EndPart(width, job.range.to.has_value() ? kMaxPartTables : kMaxJobTables, &job);
  // Without a table of the repository the job holds all of it, and a settle everything.
  const bool waits =
      input.busy_levels->count(version.repository()) > 0 || (kind == MergeKind::kSettle && input.jobs_running);
  if (job.tables.empty() && waits) return std::nullopt;
  return job;
}

}  // namespace miodb
