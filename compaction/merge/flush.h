// The one-piece flush: a sealed memtable becomes a PMTable.
//
//   1 With the log off: take an extent per DRAM chunk and copy each in one piece. With the log on the payload is in
//     the pool already.
//   2 Walk the memtable in key order, drop versions that nobody sees, those that its deletions of ranges hide among
//     them, stream the packed index out. The result is a single table, unless free space is too scattered for its
//     index.
//   4 Fence. The caller then writes one manifest edit: tables added as a run, log chunks retired. After it the unused
//     tails of the chunks, trimmed here, may be let go (Extent::ReleaseTrimmed).
//
// After a crash: before that edit free space, and the log chunks still named as log; after it the run.

#ifndef MIODB_COMPACTION_MERGE_FLUSH_H_
#define MIODB_COMPACTION_MERGE_FLUSH_H_

#include <functional>
#include <memory>
#include <vector>

#include "compaction/filter/version_filter.h"
#include "compaction/merge/sharing.h"
#include "pmtable/run.h"
#include "src/iterator/range_set.h"
#include "src/memtable/memtable.h"
#include "src/nvm/pool/extent_list.h"

namespace miodb {

struct FlushRequest {
  Pool* pool;
  KeyOrder order;
  const MemTable* memtable;  // sealed
  const VersionFilter* filter;
  int filter_bits;
  std::function<uint64_t()> new_table_number;
  bool versions_once = true;     // see VersionJudge
  RangeSetRef ranges = nullptr;  // of the memtable; null: none
  Sharing sharing = {};
};

// *tables: of the new run, in key order; none if the memtable is empty. *payload: of the tables.
Status FlushMemTable(const FlushRequest& request, std::vector<TableRef>* tables, std::vector<MadePayload>* payload);

}  // namespace miodb

#endif  // MIODB_COMPACTION_MERGE_FLUSH_H_
