// Merging runs: zero-copy compaction, lazy-copy compaction and garbage collection are one procedure with different
// copy policies.
//
//   1 Group the inputs' tables into clusters whose key ranges overlap (clusters.h). A cluster of one table moves to the
//     output as it is, unless the policy wants it rewritten: joining runs that do not overlap costs nothing.
//   2 Merge each other cluster: walk the indexes side by side, newest input first among equal keys; drop versions and
//     tombstones that no read can need, and what deletions of ranges hide; stream out new indexes over the same
//     records.
//   3 Where the policy says so, copy a record into a new extent on the way and refer to the copy; there operands of a
//     key are folded into one record (merge_output.h).
//   4 Fence. The caller then writes one manifest edit: inputs removed, outputs placed.
//
// A large merge goes in shares to several threads (sharing.h): clusters that lie side by side, of which large ones are
// cut at keys that split their entries. Steps 2 to 4 are those of a share.
//
// After a crash: before that edit the inputs and free space, after it the outputs. Inputs stay readable for
// whoever has pinned them.
//
// Why a reader misses nothing: the output holds, for every registered snapshot and for "now", the same newest visible
// version of each key as the inputs did, and takes their place in the order of age.
//
// Threads: one per share; jobs on disjoint inputs run side by side. Filters, operators and functions of a request are
// called by the threads of all shares.

#ifndef MIODB_COMPACTION_MERGE_MERGE_H_
#define MIODB_COMPACTION_MERGE_MERGE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "compaction/filter/version_filter.h"
#include "compaction/merge/sharing.h"
#include "miodb/compaction_filter.h"
#include "miodb/merge_operator.h"
#include "pmtable/run.h"
#include "src/iterator/range_set.h"
#include "src/nvm/pool/extent_list.h"
#include "src/ssd/ssd_levels.h"
#include "src/util/bytes/key_range.h"

namespace miodb {

// How many entries go by between looks at whether to stop, in merges of the SSD tier too.
inline constexpr uint64_t kStopInterval = 1024;

// Extents for copies.
struct CopyExtents {
  uint64_t bytes = 0;  // of one
  uint64_t least = 0;  // how small they may be where free space is scattered
  // Told what copies of marked records take: the bytes of an extent at once, and what they did not use of it at its end
  // as a negative number.
  std::function<void(int64_t)> took = nullptr;
};

// The clusters of one table that a merge rewrites; it moves the others.
enum class Rewrites : uint8_t {
  kWorthwhile,  // where much of the table goes, or the policy of copies wants its records moved
  kAnyExpired,  // the same, and where little has expired
  kAll,
};

struct MergeRequest {
  Pool* pool;
  KeyOrder order;
  Purpose purpose;  // what index bytes are counted as
  const VersionFilter* filter;
  const ExtentList* payload;                  // of the version that has the inputs
  std::vector<std::vector<TableRef>> inputs;  // of each input run, newest run first
  std::vector<const Run*> older;              // than all inputs: a tombstone over one of their tables has to stay
  std::shared_ptr<const SsdLevels> on_ssd = nullptr;  // the same of files; null without an SSD tier
  bool may_copy = true;                               // false: no record is copied, whatever else asks for it
  size_t settle_limit = 0;                            // copy records of log chunks up to this size; 0: none
  Rewrites rewrites = Rewrites::kWorthwhile;
  KeyRange range = {};  // of the inputs, that is merged; the rest of them stays
  // Copying stops when the pool would have less free than leave_free and what is left of index_reserve: space for the
  // indexes of all jobs, of which this one takes its share as it goes.
  uint64_t leave_free = 0;
  uint64_t index_reserve = 0;
  CopyExtents copy_extents = {};
  uint64_t payload_limit = UINT64_MAX;  // cut a table at this many live bytes
  int filter_bits = 0;
  int place_level = 0;                            // where tables and copies go, as PlacementRequest has it
  uint64_t now_micros = 0;                        // what expired by then is as a tombstone; 0: nothing has
  const MergeOperator* merge_operator = nullptr;  // folds operands where records are copied; null: nothing is folded
  const CompactionFilter* compaction_filter = nullptr;  // asked about records that are copied; null: all are kept
  int filter_level = 0;                                 // where they go, as it is told
  bool versions_once = true;                            // see VersionJudge; else operands are folded into values only
  RangeSetRef ranges = nullptr;                         // that were deleted, of the inputs' version; null: none
  uint64_t ranges_applied = 0;                          // the newest write that the ranges may be of
  std::function<uint64_t()> new_table_number = nullptr;
  std::function<bool()> stop = nullptr;  // asked now and then; give up when it says so
  Sharing sharing = {};
};

// A table with the entries of an input that lie outside of the range, to be in its place.
struct MergeRest {
  TableRef table;
  uint64_t input;  // its number
};

struct MergeResult {
  std::vector<TableRef> moved;    // inputs that go to the output unchanged
  std::vector<TableRef> removed;  // inputs that were merged
  std::vector<TableRef> added;    // new tables
  std::vector<MergeRest> rests;   // the same, of those removed; only where the request has a range
  PayloadChange payload;
  uint64_t entries_read = 0;
  uint64_t entries_dropped = 0;
  uint64_t range_dropped = 0;  // of them, because a range was deleted
  uint64_t range_reads = 0;    // records that were read to find that out
  uint64_t bytes_copied = 0;
  uint64_t record_bytes_read = 0;  // for keys that heads do not tell apart, for sequences, copies and folds
  bool given_up = false;           // because stop said so
  bool copies_refused = false;     // some record that the policy wants copied stayed where it was for lack of space
  std::vector<uint64_t> shares;    // entries read of each
};

Status MergeRuns(const MergeRequest& request, MergeResult* result);

}  // namespace miodb

#endif  // MIODB_COMPACTION_MERGE_MERGE_H_
