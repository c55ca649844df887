// Merges of many tables go part by part, in the order of keys: each part is a job of its own, which is short and frees
// the space of what it replaces. A part of the buffer takes what its runs have up to the smallest key of a table. A
// part of a large repository takes some of its tables that lie side by side, and what the runs have in their range of
// keys.
//
// The next part begins where the inputs begin, so a merge that has begun is known by the ids of its runs alone.
//
// Threads: any; nothing is changed.

#ifndef MIODB_COMPACTION_POLICY_PARTS_H_
#define MIODB_COMPACTION_POLICY_PARTS_H_

#include <cstdint>
#include <optional>

#include "compaction/policy/picker.h"

namespace miodb {

// The most tables of the repository that one job rewrites, or of the buffer that it moves into a small repository, so
// that their space is freed before the next begins.
inline constexpr size_t kMaxJobTables = 8;

// The most tables of the buffer that any job takes besides one of each run. Each border between two parts costs half a
// table of each run, whose index is written once more.
#ifdef MIODB_SIMULATOR
inline constexpr size_t kMaxPartTables = kMaxJobTables;  // a small database has parts too
#else
inline constexpr size_t kMaxPartTables = 8 * kMaxJobTables;
#endif

// Whether the repository has more payload than so many tables of this size.
bool IsTakenInParts(const Version& version, uint64_t partition_bytes);

// Entries that jobs beside each other write at most before the space of what they replace is free.
uint64_t MostEntriesAtOnce(const Version& version, uint64_t partition_bytes);

// Whether a part of the oldest run of the buffer has gone into the repository.
bool HasBegun(const PickerInput& input);

// The merge within the buffer that has begun and has this run as an input; null: none.
const BegunMerge* BegunWith(const PickerInput& input, const Run& run);

// Whether a merge within the buffer that has begun waits for its next part with this run: as an input, or as its
// output.
bool IsHeld(const PickerInput& input, const Run& run);

// A job for the rest of a merge of the buffer. Nothing: all is merged, or the rest has to wait.
std::optional<MergeJob> GoOn(const PickerInput& input, const BegunMerge& begun);

// The next part of a merge of this kind.
std::optional<MergeJob> GoOn(const PickerInput& input, MergeKind kind);

// Adds the merge of this job if parts will be left of it, and takes out merges that lose a run to it.
void NoteBegun(const MergeJob& job, std::vector<BegunMerge>* begun);

// Ends the range of a job that takes more tables of these runs, its first inputs, than one of each and so many besides.
void EndPart(size_t runs, size_t most, MergeJob* job);

// Whether the output is cut into tables of this payload, because merges will take parts of it.
bool CutsTables(const MergeJob& job, uint64_t partition_bytes);

// Whether a job holds the run, or takes this table of a run that others may take other tables of.
inline bool IsBusy(const PickerInput& input, const Run& run) { return input.busy_runs->count(run.id) > 0; }
inline bool IsBusy(const PickerInput& input, const PMTable& table) {
  return input.busy_tables != nullptr && input.busy_tables->count(table.number()) > 0;
}

// Adds to the job the repository's table at this index and those behind it, and the range of keys that these stand for.
// False: that table is busy, or a job has all of the repository. REQUIRES: the repository is taken in parts, and is the
// job's last input.
bool TakePart(const PickerInput& input, size_t begin, MergeJob* job);

// The job of this kind that moves the oldest runs of the level into the repository, at most width, or their next part;
// of a repository that is taken in parts, the part where the oldest run begins. Nothing: it has to wait.
std::optional<MergeJob> IntoRepository(const PickerInput& input, MergeKind kind, int level, size_t width);

}  // namespace miodb

#endif  // MIODB_COMPACTION_POLICY_PARTS_H_
