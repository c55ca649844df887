// Work that deletions of ranges leave in a version: tables whose entries are all hidden go unread; tables with some
// hidden entries are worth rewriting; deletions that hide nothing any more are forgotten.
//
// Pure functions. Threads: any.

#ifndef MIODB_COMPACTION_FILTER_RANGE_WORK_H_
#define MIODB_COMPACTION_FILTER_RANGE_WORK_H_

#include <functional>
#include <vector>

#include "compaction/filter/version_filter.h"
#include "src/version/version.h"

namespace miodb {

// Whether every entry of the table is hidden from every read.
bool HidesTable(const RangeSet& ranges, const VersionFilter& filter, const PMTable& table);

// Whether rewriting the table may drop some of its entries. Bounds of keys and sequences are asked alone.
bool MayDropRanges(const RangeSet& ranges, const VersionFilter& filter, const PMTable& table);

struct RangeWork {
  std::vector<TableRef> hidden;     // tables that may go, at most kMostDroppedTables
  bool waits = false;               // others will once they are not busy, or these have gone
  TableRef droppable;               // the first of the repository of which a merge would drop something; null: none
  bool forgets = false;             // some deletions hide nothing any more, or fewer tell the same
  std::vector<RangeDeletion> left;  // deletions that still may hide something, once those tables have gone, or that are
                                    // newer than a snapshot
};

// The most tables that one edit drops, so that it stays small.
inline constexpr size_t kMostDroppedTables = 1024;

// REQUIRES: the version has ranges. snapshots: registered, ascending. reach: MergeRequest::ranges_applied of a merge
// that begins now. is_busy: whether a job has the table.
RangeWork FindRangeWork(const Version& version, const KeyOrder& order, const std::vector<uint64_t>& snapshots,
                        uint64_t reach, const std::function<bool(const Run& run, const PMTable& table)>& is_busy);

}  // namespace miodb

#endif  // MIODB_COMPACTION_FILTER_RANGE_WORK_H_
