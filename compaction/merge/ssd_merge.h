// The work of the SSD tier: partitions of the repository, or files of a level, merged into files of the level below.
//
//   1 Walk all inputs side by side in key order, newest version of a key first. Every record that is read is verified.
//   2 Drop versions that no read can need, what deletions of ranges hide, and tombstones with nothing older below. Fold
//   operands of a key, as
//     merge_output.h says.
//   3 Write the rest into new files, each cut at the target size and where it would overlap too much of the level
//     below; never inside of a key.
//   4 Sync each file; the first sync of a file takes the directory with it. The caller then writes one manifest edit:
//     inputs removed, outputs placed.
//
// After a crash: before that edit the inputs, and files that nobody names, which the next open removes; after it
// the outputs.
//
// Threads: one for each job.

#ifndef MIODB_COMPACTION_MERGE_SSD_MERGE_H_
#define MIODB_COMPACTION_MERGE_SSD_MERGE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "compaction/filter/version_filter.h"
#include "compaction/policy/ssd_picker.h"
#include "miodb/compaction_filter.h"
#include "miodb/merge_operator.h"
#include "src/version/version.h"

namespace miodb {

struct SsdMergeRequest {
  SsdStore* store;
  KeyOrder order;
  const SsdJob* job;
  const Version* version;  // the job was picked from
  const VersionFilter* filter;
  uint64_t file_bytes;  // target size
  std::function<uint64_t()> new_file_number;
  const std::atomic<bool>* stop;                        // give up when set
  const MergeOperator* merge_operator = nullptr;        // as in MergeRequest
  bool versions_once = true;                            // the same
  uint64_t ranges_applied = 0;                          // the same
  uint64_t now_micros = 0;                              // the same
  const CompactionFilter* compaction_filter = nullptr;  // the same
  int filter_level = 0;                                 // the same
};

struct SsdMergeResult {
  std::vector<SstRef> files;    // complete and synced
  bool inputs_damaged = false;  // the failure was in reading
  uint64_t entries_read = 0;
  uint64_t entries_dropped = 0;
  uint64_t range_dropped = 0;  // of them, because a range was deleted
  uint64_t bytes_read = 0;
  std::vector<DroppedPayload> dropped;  // of the pool's tables
};

// After a failure, which may be thrown for lack of memory, the caller marks result->files obsolete, so that they go
// away with the result.
Status RunSsdMerge(const SsdMergeRequest& request, SsdMergeResult* result);

}  // namespace miodb

#endif  // MIODB_COMPACTION_MERGE_SSD_MERGE_H_
