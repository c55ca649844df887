// Groups of tables whose keys overlap: a merge takes one after the other.
//
// A merge of a range of keys takes only the entries of its tables that lie in the range. A table that reaches out of
// the range is taken apart: its entries before and behind the range are merged by themselves, into tables in its place.
//
// Threads: any; nothing is changed.

#ifndef MIODB_COMPACTION_MERGE_CLUSTERS_H_
#define MIODB_COMPACTION_MERGE_CLUSTERS_H_

#include <cstdint>
#include <vector>

#include "compaction/merge/merge.h"
#include "pmtable/index_cursor.h"

namespace miodb {

// Pieces that overlap, by input run, newest run first; runs without a piece in the cluster are left out.
struct Cluster {
  // Where its output goes: to the output of the merge, or into the place of the one table that it has a piece of.
  enum class Place : uint8_t { kOutput, kRest };

  Place place = Place::kOutput;
  std::vector<std::vector<TablePiece>> inputs;
  Slice smallest;
  Slice largest;  // no key of it is behind this one
  size_t piece_count = 0;

  // The table of a cluster that is one whole table; else null.
  const TableRef* only_table() const {
    return piece_count == 1 && inputs[0][0].whole() ? &inputs[0][0].table : nullptr;
  }
};

// The clusters of the request, in the order of their keys, and the rests of its tables behind them. A table without an
// entry in the range of the request has no part in it. The request outlives the clusters. Corruption: a table that the
// range cuts is damaged.
Status FindClusters(const MergeRequest& request, std::vector<Cluster>* clusters);

}  // namespace miodb

#endif  // MIODB_COMPACTION_MERGE_CLUSTERS_H_
