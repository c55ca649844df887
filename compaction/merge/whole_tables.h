// Decisions of a merge about whole tables, by header and place among the other tables.
//
// Threads: any; nothing is changed.

#ifndef MIODB_COMPACTION_MERGE_WHOLE_TABLES_H_
#define MIODB_COMPACTION_MERGE_WHOLE_TABLES_H_

#include "compaction/merge/merge.h"

namespace miodb {

// Whether something older than the inputs has keys in this range: a tombstone there may still hide one of them. Ranges
// are asked, not keys, which errs on the side of keeping tombstones.
bool HasOlder(const MergeRequest& request, const Slice& smallest, const Slice& largest);

// Whether a table that overlaps no other must be rewritten all the same: something in it can be dropped, or the policy
// wants records of it copied.
bool NeedsRewrite(const MergeRequest& request, const PMTable& table);

// Whether a table that overlaps no other has expired as a whole and hides nothing: it goes unread. Snapshots lose the
// expired records of the table, too.
bool IsGone(const MergeRequest& request, const PMTable& table);

}  // namespace miodb

#endif  // MIODB_COMPACTION_MERGE_WHOLE_TABLES_H_
