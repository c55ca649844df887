#include "src/inspect/image/table_image.h"

#include <cstring>

#include "pmtable/pmtable.h"
#include "pmtable/table_header.h"
#include "src/util/check/check.h"

// Reading a table from its bytes, each node and record by its own checksum.

namespace miodb {

// The number of leaves without a header is found from the end of the extent: leaves lie at its beginning, and behind
// them inner nodes and the meta block, which do not check as leaves.
TableImage::TableImage(const PoolImage* image, const KeyOrder& order, PmRef offset, uint64_t size, uint64_t number)
    : image_(image), order_(order), offset_(offset), size_(size), number_(number), base_(image->At(offset)) {
  CHECK(image->IsExtent(offset, size));
  CHECK_GE(size, sizeof(TableHeader));
  header_problem_ = ReadTableHeader(base_, image->secret(), &header_) ? CheckHeader() : "header checksum mismatch";
  leaf_slots_ = header_problem_.empty() ? header_.leaf_count : (size_ - sizeof(TableHeader)) / sizeof(LeafNode);
  // Bytes behind the last leaf that checks need not be leaves.
  while (!header_problem_.empty() && leaf_slots_ > 0 && !LeafProblem(leaf_slots_ - 1).empty()) leaf_slots_--;
}

// The checksum says that the header is as it was written. Whether it is the table that the manifest means, and whether
// all that it counts fits into the extent, is looked at here.
std::string TableImage::CheckHeader() const {
  const TableHeader& h = header_;
  if (h.version != kTableFormatVersion) return "format version " + std::to_string(h.version);
  return TableHeaderProblem(h, size_, number_, order_.bytewise());
}

// A leaf's checksum depends on its place in the table, so that a leaf of another place, or another time, does not pass.
// How many entries it must have follows from the header: all leaves but the last are full.
std::string TableImage::LeafProblem(uint64_t i) const {
  const LeafNode& leaf = Leaf(i);
  const NodeHeader& h = leaf.header;
  const uint64_t seed = NodeSeed(image_->secret(), sizeof(TableHeader) + i * sizeof(LeafNode));
  if (h.checksum != NodeChecksum(leaf, seed) || h.count == 0 || h.count > kNodeFanout || !IsSaneNode(h, h.count, 0)) {
    return "checksum mismatch";
  }
  // Without a good header the leaf's own count is all that there is.
  if (!header_problem_.empty()) return std::string();
  const uint64_t expected = i + 1 < leaf_slots_ ? uint64_t{kNodeFanout} : header_.entries - i * kNodeFanout;
  if (h.count == expected) return std::string();
  return "holds " + std::to_string(h.count) + " entries instead of " + std::to_string(expected);
}

// A record that checks may still be another one than the index means, where the space was given to somebody else. So
// everything that the leaf knows of the record is compared with it: tombstone, size, hash, prefix and head.
std::string TableImage::ReadEntry(const LeafNode& leaf, int i, RecordView* record) const {
  DCHECK(i >= 0 && i < leaf.header.count);
  const IndexWord word(leaf.word[i]);
  const std::string place = "record at offset " + std::to_string(word.ref()) + ": ";
  // The reference is a place anywhere in the pool. A record of any kind has a fixed part and two lengths at least.
  if (!image_->Readable(word.ref(), kRecordFixedSize + 2) ||
      !ParseRecord(image_->At(word.ref()), image_->End(word.ref()), record)) {
    return place + "no record";
  }
  // The check covers the value too, which a get looks at only if it was asked to.
  if (!record->Verify(image_->secret())) return place + "checksum mismatch";
  if (!IsKnownType(record->type())) return place + "unknown value type";
  bool same = word.type() == record->type() && word.size() == IndexWord(0, record->type(), record->size()).size();
  // Under other orders keys that are equal need not be the same bytes, so what the leaf has of the key is not compared.
  if (same && order_.bytewise()) {
    const Slice& key = record->key;
    const NodeHeader& node = leaf.header;
    same = KeyHash(key) == leaf.Hash(i) && key.size() >= node.prefix_size &&
           memcmp(key.data(), node.prefix, node.prefix_size) == 0 && KeyHead(key, node.prefix_size) == leaf.head[i];
  }
  return same ? std::string() : place + "not the one that the index means";
}

}  // namespace miodb
