// Picks the next merge to run: pure functions of a version and of the running jobs.
//
// Order: tables of which everything has expired, which one edit removes; if somebody waits for a settled database, one
// merge of the whole buffer into the repository, once running jobs are done, or of the repository alone if it holds
// versions that only a snapshot needed which is gone; else the merge of the buffer that the policy proposes; then
// garbage collection. Merges of many tables, and merges into a large repository, go part by part (parts.h).

#ifndef MIODB_COMPACTION_POLICY_PICKER_H_
#define MIODB_COMPACTION_POLICY_PICKER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "compaction/policy/merge_policies.h"
#include "src/util/bytes/key_range.h"
#include "src/version/version.h"

namespace miodb {

enum class MergeKind {
  kZeroCopy,  // two or more runs of one buffer level, and of those below that become due by it, into one run below
  kInPlace,   // runs of a buffer level and all of the next level, into one run there
  kLazyCopy,  // the oldest runs of the buffer into the repository
  kSettle,    // all buffer levels into the repository or towards it, or that alone
  kQuiet,     // the newest runs, and the one before them, into one in its place: nobody waits for it
  kCollect,   // tables of one run, rewritten without what lies in extents marked for evacuation
  kDrop,      // tables of one run that have expired as a whole and hide nothing: they go, and nothing is written
};

// Whether jobs of this kind take some tables of a run and leave it where it is.
inline bool TakesSomeTables(MergeKind kind) { return kind == MergeKind::kCollect || kind == MergeKind::kDrop; }

// Whether a merge of this kind leaves its runs in the buffer, and gives way to no other until its last part.
inline bool StaysInBuffer(MergeKind kind) { return kind == MergeKind::kZeroCopy || kind == MergeKind::kInPlace; }

const char* MergeKindName(MergeKind kind);

struct MergeJob {
  MergeKind kind;
  int level;  // where the newest input comes from
  int output_level;
  std::vector<RunRef> inputs;    // newest first; a job into the repository ends with its run if there is one
  std::vector<TableRef> tables;  // kCollect: of inputs[0], to rewrite; kDrop: to remove; else the repository's in range
  KeyRange range = {};           // of the inputs, that is merged; unbounded: all of them
  uint64_t output_run = 0;       // id of the run that parts before this one have made; 0: a new run, or the repository

  // Whether the job is a merge of a part of the repository (parts.h).
  bool takes_part() const { return !TakesSomeTables(kind) && !tables.empty(); }

  // Whether the job is one part of a merge.
  bool is_part() const { return takes_part() || !range.unbounded() || output_run > 0; }
};

// A merge that goes part by part. Each part takes from the inputs the entries that it adds to the output. So inputs and
// output are like any other runs after a crash, or if the merge never goes on.
struct BegunMerge {
  MergeKind kind;
  int output_level;
  uint64_t output_run;           // id; 0: the repository
  std::vector<uint64_t> inputs;  // ids; into the repository only that of the oldest
};

inline const std::vector<BegunMerge> kNothingBegun;

// The merges that wait until there is space again.
enum class MergesBlocked : uint8_t {
  kNone,
  kWriting,  // those that write; what has expired may still be dropped
  kAll,
};

// Whether a tombstone of the repository hides nothing: there are no table files, which are older.
inline bool TombstonesEndInPool(const Version& version) {
  return version.ssd == nullptr || version.ssd->file_count() == 0;
}

struct PickerInput {
  VersionRef version;
  const MergePolicy* policy = DefaultMergePolicy();
  int level_trigger = 2;
  uint64_t memtable_bytes = 0;            // payload of a run that was just flushed
  uint64_t partition_bytes = UINT64_MAX;  // payload of a table of the repository
  const std::vector<BegunMerge>* begun = &kNothingBegun;
  const std::set<uint64_t>* busy_runs = nullptr;
  const std::set<int>* busy_levels = nullptr;
  const std::set<uint64_t>* busy_tables = nullptr;  // null: none; tables of the repository in jobs that take only some
  bool repository_shared = false;                   // the level is busy, but only with such jobs
  bool jobs_running = false;
  bool settle = false;                      // everything into the repository: the owner's wish, or the scheduler's own
  uint64_t settle_date_micros = 0;          // what had expired then is to be gone
  uint64_t settle_sequence = kMaxSequence;  // runs with something as old as this go before hidden versions
  uint64_t date_micros = 0;                 // what has expired by now; 0: nothing
  TableRef droppable;                       // RangeWork::droppable of the last look; null: none
  TableRef expired;                         // of the repository, of which much has; null: none
  bool snapshots = false;                   // there are some, whose versions merges keep
  MergesBlocked merges_blocked = MergesBlocked::kNone;
  bool collection_blocked = false;
  const MarkedTables* marked = nullptr;  // in the version; null: none
  uint64_t quiet_bytes = 0;              // of the pool, that a quiet merge may take for its index
  bool push_down = false;  // the pool is to shrink: the oldest run of the buffer goes to the repository, however few
};

// A merge for somebody who waits for a settled database, as PickMerge makes it.
std::optional<MergeJob> PickSettle(const PickerInput& input);

// The next job, or nothing if none is due or all that are due have to wait for running ones.
std::optional<MergeJob> PickMerge(const PickerInput& input);

// The merge that brings a database whose writers are quiet nearest to the settled state: of all runs, newest first, as
// many as are worth it, because no run has more than growth times the entries of those before it. Returns nullopt if no
// merge is worth its cost. REQUIRES: no job runs.
std::optional<MergeJob> PickQuiet(const PickerInput& input, uint64_t growth);

// Checks a job that was picked: its inputs are free and are neighbours in the order of age, and its output comes where
// the oldest input was.
void CheckJob(const PickerInput& input, const MergeJob& job);

// The request for a choice of extents to evacuate.
struct MarkRequest {
  uint64_t start_percent = 100;  // nothing is picked unless used bytes are more, in percent of live ones
  uint64_t goal_percent = 100;   // to which they are to come down
  uint64_t slack = 0;            // bytes of garbage that are borne whatever their part is
  uint64_t budget = 0;           // bytes that may be copied

  // Whether all that the other one asks for was asked for here.
  bool Covers(const MarkRequest& other) const {
    DCHECK_LE(goal_percent, start_percent);
    return start_percent <= other.start_percent && goal_percent <= other.goal_percent && slack <= other.slack &&
           budget >= other.budget;
  }
};

// Chooses the extents to evacuate of these payload extents (each once), and puts them in front, the emptiest first.
// Returns how many.
struct ExtentUse {
  Extent* extent;
  uint64_t payload;
  uint64_t live;
};
size_t PickEvacuation(const MarkRequest& request, std::vector<ExtentUse>* extents);

}  // namespace miodb

#endif  // MIODB_COMPACTION_POLICY_PICKER_H_
