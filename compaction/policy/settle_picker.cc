// Merges towards the settled state, in which all is in the repository: because somebody waits for that, or because
// nobody writes.

#include <algorithm>

#include "compaction/policy/expired_tables.h"
#include "compaction/policy/parts.h"
#include "compaction/policy/picker.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// Whether the repository still has a table that a look at an earlier version found; null: it has not.
bool Has(const Run& repository, const TableRef& table) {
  if (table == nullptr) return false;
  const size_t at = repository.FindTable(table->order(), table->smallest());
  return at < repository.tables.size() && repository.tables[at] == table;
}

// The first table of the repository of which a merge by itself would drop something, now that no snapshot needs it.
TableRef FirstWithHidden(const PickerInput& input, const Run& repository) {
  const Version& version = *input.version;
  DCHECK_EQ(&repository, version.levels.back()[0].get());
  if (Has(repository, input.droppable)) return input.droppable;
  // Expired values count as tombstones. Values that had expired before the clock was set back do not count.
  const uint64_t date_micros = std::min(input.settle_date_micros, input.date_micros);
  const auto ends_here = [&](uint64_t first_tombstone) {
    return TombstonesEndInPool(version) && first_tombstone <= date_micros;
  };
  TableRef first;
  repository.tables.Search(
      [&](const TableSummary& part) { return first == nullptr && (part.hidden || ends_here(part.first_tombstone)); },
      [&](const TableRef& table) {
        if (first == nullptr && (HoldsHidden(*table) || ends_here(FirstTombstone(*table)))) first = table;
      });
  return first;
}

// The repository alone, or the part of it that begins with this table.
std::optional<MergeJob> SettleRepository(const PickerInput& input, MergeKind kind, const PMTable& first) {
  const Version& version = *input.version;
  CHECK_EQ(version.levels.back().size(), 1u);
  const RunRef& repository = version.levels.back()[0];
  if (!IsTakenInParts(version, input.partition_bytes)) {
    if (input.jobs_running) return std::nullopt;
    return MergeJob{kind, 0, version.repository(), {repository}, {}};
  }
  MergeJob job{kind, version.repository(), version.repository(), {repository}, {}};
  if (!TakePart(input, repository->FindTable(first.order(), first.largest()), &job)) return std::nullopt;
  return job;
}

// The runs of the buffer, newest first.
std::vector<RunRef> BufferRuns(const Version& version) {
  CHECK_GT(version.repository(), 0);
  std::vector<RunRef> runs;
  for (int level = 0; level < version.repository(); level++) {
    const std::vector<RunRef>& of_level = version.levels[static_cast<size_t>(level)];
    runs.insert(runs.end(), of_level.begin(), of_level.end());
  }
  return runs;
}

// Whether one merge of these runs and the repository would be too much.
bool GoesInParts(const PickerInput& input, const std::vector<RunRef>& buffer) {
  size_t tables = 0;
  uint64_t bytes = 0;
  for (const RunRef& run : buffer) {
    tables += run->tables.size();
    bytes += run->payload_bytes();
  }
  return tables > kMaxPartTables || bytes / kMaxJobTables > input.partition_bytes ||
         IsTakenInParts(*input.version, input.partition_bytes);
}

// All runs of the buffer become one first, so that each part of the repository is rewritten once. The one run lies in
// the last level, and newer runs wait until it is gone. A single level has no place for it behind newer runs.
std::optional<MergeJob> NextPart(const PickerInput& input, MergeKind kind, std::vector<RunRef> buffer) {
  const Version& version = *input.version;
  const int last = version.repository() - 1;
  CHECK(GoesInParts(input, buffer) && !buffer.empty());
  const bool gathered = !version.levels[static_cast<size_t>(last)].empty();
  if (gathered || last == 0 || buffer.size() == 1 || HasBegun(input)) {
    int level = last;
    while (version.levels[static_cast<size_t>(level)].empty()) level--;
    if (input.busy_levels->count(level) > 0) return std::nullopt;
    return IntoRepository(input, kind, level, 1);
  }
  if (input.jobs_running) return std::nullopt;
  MergeJob job{kind, 0, last, std::move(buffer), {}};
  EndPart(job.inputs.size(), kMaxPartTables, &job);
  return job;
}

// Whether the pool has space for another index of all that the job merges, so that nobody else has to wait for it.
bool HasRoom(const PickerInput& input, const MergeJob& job) {
  CHECK(job.kind == MergeKind::kQuiet && !job.inputs.empty());
  uint64_t index_bytes = 0;
  for (const TableRef& table : job.tables) index_bytes += table->index()->size();
  for (const RunRef& run : job.inputs) {
    if (!job.takes_part() || run->id > 0) index_bytes += run->tables.Total().index_bytes;
  }
  return index_bytes <= input.quiet_bytes;
}

// The output of a merge of several levels lies in the place of its oldest run, so that has to be the deepest. The
// oldest run that is worth it is looked for from the repository up; a run that has begun to go into the repository is.
std::optional<MergeJob> PickQuietRuns(const PickerInput& input, uint64_t growth) {
  CHECK(!input.jobs_running && growth > 0);
  const Version& version = *input.version;
  std::vector<RunRef> buffer = BufferRuns(version), runs = buffer;
  if (buffer.empty()) return std::nullopt;
  if (std::optional<MergeJob> part = GoOn(input, MergeKind::kQuiet)) {
    return HasRoom(input, *part) ? std::move(part) : std::nullopt;
  }
  std::vector<int> levels;
  std::vector<uint64_t> newer;  // entries of all runs before this one
  uint64_t entries = 0;
  runs.insert(runs.end(), version.levels.back().begin(), version.levels.back().end());
  for (int level = 0; level <= version.repository(); level++) {
    for (const RunRef& run : version.levels[static_cast<size_t>(level)]) {
      levels.push_back(level);
      newer.push_back(entries);
      entries += run->entries();
    }
  }
  CHECK(runs.size() == levels.size() && runs.size() == newer.size());
  size_t count = runs.size();
  MergeJob job{MergeKind::kQuiet, levels[0], version.repository(), {}, {}};
  // Without a repository the oldest run of the buffer becomes it.
  if (levels.back() == version.repository()) {
    const bool begun = HasBegun(input);
    while (count > 1 && !begun && newer[count - 1] * growth < runs[count - 1]->entries()) count--;
    job.output_level = levels[count - 1];
  }
  if (job.output_level == job.level) return std::nullopt;
  if (job.output_level == version.repository() && GoesInParts(input, buffer)) {
    std::optional<MergeJob> part = NextPart(input, MergeKind::kQuiet, std::move(buffer));
    if (!part.has_value()) return std::nullopt;
    job = std::move(*part);
  } else {
    job.inputs.assign(runs.begin(), runs.begin() + static_cast<ptrdiff_t>(count));
  }
  if (!HasRoom(input, job)) return std::nullopt;
  return job;
}

// The part of the repository in which much has expired, if it can go. Newer runs have no say in that.
std::optional<MergeJob> PickExpiredPart(const PickerInput& input) {
  const Version& version = *input.version;
  const std::vector<RunRef>& repository = version.levels.back();
  if (repository.empty() || !Has(*repository[0], input.expired) || input.snapshots || HasBegun(input)) {
    return std::nullopt;
  }
  if (!TombstonesEndInPool(version) || MuchExpiredAt(*input.expired) > input.date_micros) return std::nullopt;
  std::optional<MergeJob> job = SettleRepository(input, MergeKind::kQuiet, *input.expired);
  return job.has_value() && HasRoom(input, *job) ? job : std::nullopt;
}

}  // namespace

// A merge of everything reads each entry once; merges level by level would read it once for each level. Runs of the
// buffer that are old enough go first, then hidden versions in the repository: where others write all the time, neither
// new runs nor newly hidden versions end. The repository alone is taken only if a merge of it would drop something, so
// that settling what is settled ends.
std::optional<MergeJob> PickSettle(const PickerInput& input) {
  const Version& version = *input.version;
  const std::vector<RunRef>& repository = version.levels.back();
  std::vector<RunRef> buffer = BufferRuns(version);
  const bool parts = GoesInParts(input, buffer);
  if (input.jobs_running && !parts) return std::nullopt;
  CHECK_LE(repository.size(), 1u);
  if (std::optional<MergeJob> part = GoOn(input, MergeKind::kSettle)) {
    return input.jobs_running ? std::nullopt : std::move(part);
  }
  const bool old = std::any_of(buffer.begin(), buffer.end(), [&](const RunRef& run) {
    return run->tables.Total().oldest_sequence <= input.settle_sequence;
  });
  if ((buffer.empty() || (parts && !old)) && !input.snapshots && !repository.empty()) {
    const TableRef first = FirstWithHidden(input, *repository[0]);
    if (first != nullptr) return SettleRepository(input, MergeKind::kSettle, *first);
  }
  if (buffer.empty()) return std::nullopt;
  if (parts) return NextPart(input, MergeKind::kSettle, std::move(buffer));
  MergeJob job{MergeKind::kSettle, 0, version.repository(), std::move(buffer), {}};
  job.inputs.insert(job.inputs.end(), repository.begin(), repository.end());
  return job;
}

std::optional<MergeJob> PickQuiet(const PickerInput& input, uint64_t growth) {
  std::optional<MergeJob> job = PickQuietRuns(input, growth);
  return job.has_value() ? job : PickExpiredPart(input);
}

}  // namespace miodb
