// Figures of headers decide, and of a table in which something has expired a sample of its records. In doubt a table is
// kept: a tombstone that could have gone costs a little, and one that went too early brings a key back.

#include "compaction/merge/whole_tables.h"

#include <algorithm>

#include "compaction/filter/range_work.h"
#include "compaction/policy/expired_tables.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// Whether a table that hides nothing is rewritten for what has expired of it, which snapshots keep. Where nobody waits,
// much of it has to have: so it is rewritten a few times and not whenever a record expires.
bool ExpiredEnough(const MergeRequest& request, const PMTable& table) {
  return table.expiry().MayHaveExpired(request.now_micros) && !request.filter->has_snapshots() &&
         (request.rewrites == Rewrites::kAnyExpired || MuchExpiredAt(table) <= request.now_micros);
}

}  // namespace

// By ranges of keys: the tables that are older than the inputs, and the files of the SSD tier, which are older than all
// of the pool.
bool HasOlder(const MergeRequest& request, const Slice& smallest, const Slice& largest) {
  return std::any_of(request.older.begin(), request.older.end(),
                     [&](const Run* run) { return run->Overlaps(request.order, smallest, largest); }) ||
         (request.on_ssd != nullptr && request.on_ssd->OverlapsFrom(0, smallest, largest));
}

// The reasons in order: the job wants all of it; something is hidden, deleted or has expired and nothing needs it; the
// policy of copies wants records of it moved.
bool NeedsRewrite(const MergeRequest& request, const PMTable& table) {
  DCHECK_GT(table.entries(), 0u);
  CHECK(request.filter != nullptr);
  if (request.rewrites == Rewrites::kAll) return true;
  // With snapshots it is not known without a look at every sequence whether a version may go: the table waits.
  if (HoldsHidden(table) && !request.filter->has_snapshots()) return true;
  if (request.ranges != nullptr && MayDropRanges(*request.ranges, *request.filter, table)) return true;
  const bool may_drop = table.tombstones() > 0 || table.expiry().MayHaveExpired(request.now_micros);
  if (may_drop && !HasOlder(request, table.smallest(), table.largest()) &&
      (table.tombstones() > 0 || ExpiredEnough(request, table))) {
    return true;
  }
  if (!request.may_copy) return false;
  if (table.marked.load(std::memory_order_relaxed)) return true;  // relaxed: policy only
  // Records in random order, or operands, small enough to settle on average.
  const bool folds = request.merge_operator != nullptr && table.has(kTableKinds);
  return request.settle_limit > 0 && table.has(kTableLogged) && (!table.has(kTableOrdered) || folds) &&
         table.payload_bytes() / table.entries() <= request.settle_limit;
}

// An expired value is a tombstone, and so a table of nothing else may go where its last tombstone may. A table with
// something newer than a snapshot is left to the job that drops tables and says so (GoneUnread).
bool IsGone(const MergeRequest& request, const PMTable& table) {
  DCHECK_GT(table.entries(), 0u);
  CHECK_GE(table.expiry().whole, table.expiry().last);
  return table.expiry().whole <= request.now_micros && request.filter->TombstoneDroppable(table.max_sequence()) &&
         !HasOlder(request, table.smallest(), table.largest());
}

}  // namespace miodb
