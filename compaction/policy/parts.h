// A large repository is taken in parts: a job rewrites some of its tables that lie side by side, and takes what the
// runs of the buffer have in their range of keys. Small repositories are taken as a whole.
//
// Threads: any; nothing is changed.

#ifndef MIODB_COMPACTION_POLICY_PARTS_H_
#define MIODB_COMPACTION_POLICY_PARTS_H_

#include <cstdint>
#include <optional>

#include "compaction/policy/picker.h"

namespace miodb {

// The most tables of the repository that one job rewrites, so that the space of these is freed before the next begins.
inline constexpr size_t kMaxJobTables = 8;

// Whether the repository has more payload than so many tables of this size.
bool IsTakenInParts(const Version& version, uint64_t partition_bytes);

// Entries that jobs beside each other write at most before the space of what they replace is free.
uint64_t MostEntriesAtOnce(const Version& version, uint64_t partition_bytes);

// Whether a part of the oldest run of the buffer has gone into the repository.
bool HasBegun(const PickerInput& input);

// Whether a job holds the run, or takes this table of a run that others may take other tables of.
inline bool IsBusy(const PickerInput& input, const Run& run) { return input.busy_runs->count(run.id) > 0; }
inline bool IsBusy(const PickerInput& input, const PMTable& table) {
  return input.busy_tables != nullptr && input.busy_tables->count(table.number()) > 0;
}

// Adds to the job the repository's table at this index and those behind it, and the range of keys that these stand for.
// False: that table is busy, or a job has all of the repository. REQUIRES: the repository is taken in parts, and is the
// job's last input.
bool TakePart(const PickerInput& input, size_t begin, MergeJob* job);

// The job of this kind that moves the oldest runs of the level into the repository, at most width; of a repository that
// is taken in parts, the part where the oldest run begins. Nothing: it has to wait.
std::optional<MergeJob> IntoRepository(const PickerInput& input, MergeKind kind, int level, size_t width);

}  // namespace miodb

#endif  // MIODB_COMPACTION_POLICY_PARTS_H_
