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

// Merges that run beside each other have different inputs: each run of the buffer is in one of them, and of a
// repository that is taken in parts one part beside a collection.
uint64_t MostEntriesAtOnce(const Version& version, uint64_t partition_bytes) {
  uint64_t entries = 0;
  for (const Run* run : version.runs) entries += run->entries();
  if (!IsTakenInParts(version, partition_bytes)) return entries;
  const TableSummary repository = version.levels.back()[0]->tables.Total();
  CHECK(repository.most_entries <= repository.entries && repository.entries <= entries);
  return entries - repository.entries + std::min(repository.entries, 2 * kMaxJobTables * repository.most_entries);
}

bool HasBegun(const PickerInput& input) {
  const Version& version = *input.version;
  DCHECK_GT(version.repository(), 0);
  for (int level = version.repository() - 1; level >= 0; level--) {
    const std::vector<RunRef>& runs = version.levels[static_cast<size_t>(level)];
    if (!runs.empty()) return input.begun_run > 0 && runs.back()->id == input.begun_run;
  }
  return false;
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
  const bool parts = IsTakenInParts(version, input.partition_bytes);
  if (!parts && input.busy_levels->count(version.repository()) > 0) return std::nullopt;
  if (std::any_of(runs.begin(), runs.end(), [&](const RunRef& run) { return IsBusy(input, *run); })) {
    return std::nullopt;
  }
  MergeJob job{kind, level, version.repository(), {}, {}};
  job.inputs.assign(runs.end() - static_cast<ptrdiff_t>(std::min(width, runs.size())), runs.end());
  job.inputs.insert(job.inputs.end(), repository.begin(), repository.end());
  if (!parts) return job;
  const PMTable& oldest = *runs.back()->tables[0];
  const size_t above = repository[0]->tables.CountBefore(
      [&](const TableRef& table) { return oldest.order().Compare(table->smallest(), oldest.smallest()) <= 0; });
  if (!TakePart(input, above - std::min<size_t>(above, 1), &job)) return std::nullopt;
  return job;
}

}  // namespace miodb
