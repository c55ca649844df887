#include "compaction/merge/clusters.h"

#include <algorithm>
#include <utility>

#include "src/util/check/check.h"

namespace miodb {

namespace {

// A piece of a table in the range of the request, and the bounds of its keys.
struct Item {
  size_t input;
  TablePiece piece;
  Slice smallest;
  Slice largest;
};

Cluster RestOf(const TableRef& table, uint64_t begin, uint64_t end, const Slice& smallest, const Slice& largest) {
  CHECK(begin < end && end - begin < table->entries());
  Cluster rest;
  rest.place = Cluster::Place::kRest;
  rest.inputs = {{TablePiece(table, begin, end)}};
  rest.smallest = smallest;
  rest.largest = largest;
  rest.piece_count = 1;
  return rest;
}

// Adds what of the table lies in the range to the items, and what lies outside to the rests.
Status Cut(const MergeRequest& request, size_t input, const TableRef& table, std::vector<Item>* items,
           std::vector<Cluster>* rests) {
  const KeyRange& range = request.range;
  const KeyOrder& order = request.order;
  DCHECK(input < request.inputs.size() && table != nullptr);
  Slice smallest = table->smallest(), largest = table->largest();
  uint64_t begin = 0, end = table->entries();
  Status s;
  if (range.IsBehind(order, smallest)) {
    s = table->Seek(*range.from, kMaxSequence, Checksums::kVerify, &begin);
    smallest = *range.from;
  }
  if (s.ok() && range.IsBefore(order, largest)) {
    s = table->Seek(*range.to, kMaxSequence, Checksums::kVerify, &end);
    largest = *range.to;
  }
  if (!s.ok()) return s;
  const bool has_key = range.Contains(order, table->smallest()) || range.Contains(order, table->largest());
  if (begin == end && !has_key) return s;
  if (begin >= end) {
    return Status::Corruption(request.pool->path(), "table " + std::to_string(table->number()) + " is out of order");
  }
  items->push_back({input, TablePiece(table, begin, end), smallest, largest});
  if (begin > 0) rests->push_back(RestOf(table, 0, begin, table->smallest(), smallest));
  if (end < table->entries()) rests->push_back(RestOf(table, end, table->entries(), largest, table->largest()));
  return s;
}

}  // namespace

// A single pass goes over all pieces by their smallest key: a piece that begins behind the end of the cluster so far
// begins the next. The sort is stable, so the pieces of a run stay in their order.
Status FindClusters(const MergeRequest& request, std::vector<Cluster>* clusters) {
  CHECK(clusters->empty());
  std::vector<Item> items;
  std::vector<Cluster> rests;
  for (size_t i = 0; i < request.inputs.size(); i++) {
    for (const TableRef& table : request.inputs[i]) {
      Status s = Cut(request, i, table, &items, &rests);
      if (!s.ok()) return s;
    }
  }
  CHECK(rests.empty() || !request.range.unbounded());
  const KeyOrder& order = request.order;
  std::stable_sort(items.begin(), items.end(),
                   [&](const Item& a, const Item& b) { return order.Compare(a.smallest, b.smallest) < 0; });
  for (Item& item : items) {
    // The range of a cluster grows with its pieces, so a chain of overlaps stays together. Keys that are equal overlap.
    if (clusters->empty() || order.Compare(item.smallest, clusters->back().largest) > 0) {
      Cluster& fresh = clusters->emplace_back();
      fresh.inputs.resize(request.inputs.size());
      fresh.smallest = item.smallest;
      fresh.largest = item.largest;
    }
    Cluster& cluster = clusters->back();
    cluster.inputs[item.input].push_back(std::move(item.piece));
    cluster.piece_count++;
    if (order.Compare(item.largest, cluster.largest) > 0) cluster.largest = item.largest;
  }
  size_t count = 0;
  for (Cluster& cluster : *clusters) {
    std::erase_if(cluster.inputs, [](const std::vector<TablePiece>& pieces) { return pieces.empty(); });
    CHECK_LE(cluster.inputs.size(), cluster.piece_count);
    count += cluster.piece_count;
  }
  CHECK_EQ(count, items.size());
  std::move(rests.begin(), rests.end(), std::back_inserter(*clusters));
  return Status::OK();
}

}  // namespace miodb
