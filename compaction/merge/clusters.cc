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

// Keys that are looked at for a border, for each share: with n inputs a border is off by 1/kSamples of a share for each
// of them at most, and by the root of n where keys are random.
constexpr uint64_t kSamples = 64;

// Payload of the piece, if all records of the table have one size.
uint64_t PayloadOf(const TablePiece& piece) {
  const PMTable& table = *piece.table;
  DCHECK_GT(table.entries(), 0u);
  return piece.whole() ? table.payload_bytes() : table.payload_bytes() / table.entries() * piece.entries();
}

// Keys of the cluster in their order, of each step-th entry. An empty result: a record is damaged.
std::vector<Slice> Sample(const KeyOrder& order, const Cluster& cluster, uint64_t step) {
  std::vector<Slice> samples;
  uint64_t next = step / 2;  // behind the begin of a piece
  for (const std::vector<TablePiece>& pieces : cluster.inputs) {
    for (const TablePiece& piece : pieces) {
      for (; next < piece.entries(); next += step) {
        RecordView record;
        if (!piece.table->RecordAt(piece.begin + next, Checksums::kVerify, &record).ok()) return {};
        samples.push_back(record.key);
      }
      next -= piece.entries();
    }
  }
  std::sort(samples.begin(), samples.end(), [&](const Slice& a, const Slice& b) { return order.Compare(a, b) < 0; });
  return samples;
}

// Where the keys from `from` on begin in the piece. Damage may show places that are not in order, so the caller sees
// to that.
Status PlaceOf(const KeyOrder& order, const TablePiece& piece, const Slice& from, uint64_t* place) {
  *place = piece.end;
  if (order.Compare(piece.table->largest(), from) < 0) return Status::OK();
  *place = piece.begin;
  if (order.Compare(from, piece.table->smallest()) <= 0) return Status::OK();
  return piece.table->Seek(from, kMaxSequence, Checksums::kVerify, place);
}

// Cuts the cluster at keys near these places, which are counted in entries from its begin.
std::vector<Cluster> CutAt(const KeyOrder& order, const Cluster& cluster, const std::vector<uint64_t>& places,
                           uint64_t step) {
  if (places.empty()) return {cluster};
  const std::vector<Slice> samples = Sample(order, cluster, step);
  std::vector<Slice> borders{cluster.smallest};
  for (const uint64_t place : places) {
    const size_t sample = static_cast<size_t>(place / step);
    if (sample < samples.size() && order.Compare(borders.back(), samples[sample]) < 0) {
      borders.push_back(samples[sample]);
    }
  }
  std::vector<Cluster> cut(borders.size());
  for (size_t i = 0; i < cut.size(); i++) {
    cut[i].place = cluster.place;
    cut[i].bottom = cluster.bottom;
    cut[i].smallest = borders[i];
    cut[i].largest = i + 1 < borders.size() ? borders[i + 1] : cluster.largest;
    cut[i].inputs.resize(cluster.inputs.size());
  }
  for (size_t input = 0; input < cluster.inputs.size(); input++) {
    for (const TablePiece& piece : cluster.inputs[input]) {
      uint64_t begin = piece.begin, end;
      for (size_t i = 0; i < cut.size(); i++, begin = end) {
        end = piece.end;
        if (i + 1 < borders.size() && !PlaceOf(order, piece, borders[i + 1], &end).ok()) return {cluster};
        end = std::clamp(end, begin, piece.end);
        if (begin == end) continue;
        cut[i].inputs[input].emplace_back(piece.table, begin, end);
        cut[i].piece_count++;
      }
    }
  }
  for (Cluster& part : cut) {
    std::erase_if(part.inputs, [](const std::vector<TablePiece>& pieces) { return pieces.empty(); });
  }
  std::erase_if(cut, [](const Cluster& part) { return part.inputs.empty(); });
  return cut;
}

}  // namespace

uint64_t Cluster::entries() const {
  uint64_t sum = 0;
  for (const std::vector<TablePiece>& pieces : inputs) {
    for (const TablePiece& piece : pieces) sum += piece.entries();
  }
  return sum;
}

uint64_t Cluster::payload_bytes() const {
  uint64_t sum = 0;
  for (const std::vector<TablePiece>& pieces : inputs) {
    for (const TablePiece& piece : pieces) sum += PayloadOf(piece);
  }
  return sum;
}

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

// A border between two shares is a number of entries, and a cluster is not cut near its ends, which would make a small
// table. Each piece of a cluster goes to the share that its middle is in.
std::vector<Share> ShareOut(const MergeRequest& request, std::vector<Cluster> clusters) {
  uint64_t entries = 0, payload = 0;
  for (const Cluster& cluster : clusters) {
    entries += cluster.entries();
    payload += cluster.payload_bytes();
  }
  const size_t count = request.sharing.CountFor(payload);
  if (clusters.empty()) return {};
  if (count == 1) return {std::move(clusters)};
  const uint64_t step = std::max<uint64_t>(entries / count / kSamples, 1);
  std::vector<Share> shares(count);
  uint64_t before = 0;  // entries of the clusters that have a share
  for (const Cluster& cluster : clusters) {
    std::vector<uint64_t> borders;
    for (uint64_t i = before * count / entries + 1; i * entries / count < before + cluster.entries(); i++) {
      const uint64_t place = i * entries / count - before;
      if (std::min(place, cluster.entries() - place) > entries / count / 8) borders.push_back(place);
    }
    for (Cluster& part : CutAt(request.order, cluster, borders, step)) {
      const uint64_t size = part.entries();
      shares[static_cast<size_t>((before + size / 2) * count / entries)].push_back(std::move(part));
      before += size;
    }
  }
  CHECK_EQ(before, entries);
  std::erase_if(shares, [](const Share& share) { return share.empty(); });
  return shares;
}

}  // namespace miodb
