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
  bool bottom = false;  // nothing older than the inputs lies in the range of the cluster, or of which it is a part

  uint64_t entries() const;
  uint64_t payload_bytes() const;  // about

  // The table of a cluster that is one whole table; else null.
  const TableRef* only_table() const {
    return piece_count == 1 && inputs[0][0].whole() ? &inputs[0][0].table : nullptr;
  }
};

// The clusters of the request, in the order of their keys, and the rests of its tables behind them. A table without an
// entry in the range of the request has no part in it. The request outlives the clusters. Corruption: a table that the
// range cuts is damaged.
Status FindClusters(const MergeRequest& request, std::vector<Cluster>* clusters);

// The clusters of a share, in their order.
using Share = std::vector<Cluster>;

// Shares with about as many entries each, as many as the request's sharing has for clusters of this payload; none is
// empty. A cluster that reaches over a border between two shares is cut at a key near it, unless its tables are damaged
// there: then it stays whole, for its merge to find out. The request outlives the shares.
std::vector<Share> ShareOut(const MergeRequest& request, std::vector<Cluster> clusters);

}  // namespace miodb

#endif  // MIODB_COMPACTION_MERGE_CLUSTERS_H_
