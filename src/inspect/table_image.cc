#include "src/inspect/table_image.h"

#include <cstring>

#include "pmtable/pmtable.h"
#include "pmtable/table_header.h"

namespace miodb {

bool ReadAnyTableHeader(const char* p, TableHeader* header) {
  memcpy(header, p, sizeof(*header));
  return header->magic == kTableMagic && header->checksum == TableHeaderChecksum(*header);
}

bool ReadTableHeader(const char* p, uint64_t secret, TableHeader* header) {
  return ReadAnyTableHeader(p, header) && header->secret == secret;
}

TableImage::TableImage(const PoolImage* image, const KeyOrder& order, PmRef offset, uint64_t size, uint64_t number)
    : image_(image), order_(order), offset_(offset), size_(size), number_(number), base_(image->At(offset)) {
  header_problem_ = ReadTableHeader(base_, image->secret(), &header_) ? CheckHeader() : "header checksum mismatch";
  leaf_slots_ = header_problem_.empty() ? header_.leaf_count : (size_ - sizeof(TableHeader)) / sizeof(LeafNode);
  // What lies behind the last leaf that checks need not be leaves.
  while (!header_problem_.empty() && leaf_slots_ > 0 && !LeafProblem(leaf_slots_ - 1).empty()) leaf_slots_--;
}

std::string TableImage::CheckHeader() const {
  const TableHeader& h = header_;
  if (h.version != kTableFormatVersion) return "format version " + std::to_string(h.version);
  return TableHeaderProblem(h, size_, number_, order_.bytewise());
}

std::string TableImage::LeafProblem(uint64_t i) const {
  const LeafNode& leaf = Leaf(i);
  if (!NodeChecks(leaf, NodeSeed(image_->secret(), sizeof(TableHeader) + i * sizeof(LeafNode))) ||
      leaf.header.level != 0) {
    return "checksum mismatch";
  }
  if (!header_problem_.empty()) return std::string();
  const uint64_t expected = i + 1 < leaf_slots_ ? uint64_t{kNodeFanout} : header_.entries - i * kNodeFanout;
  if (leaf.header.count == expected) return std::string();
  return "holds " + std::to_string(leaf.header.count) + " entries instead of " + std::to_string(expected);
}

std::string TableImage::ReadEntry(const LeafNode& leaf, int i, RecordView* record) const {
  const IndexWord word(leaf.word[i]);
  const std::string place = "record at offset " + std::to_string(word.ref()) + ": ";
  if (!image_->Readable(word.ref(), kRecordFixedSize + 2) ||
      !ParseRecord(image_->At(word.ref()), image_->End(word.ref()), record)) {
    return place + "no record";
  }
  if (!record->Verify(image_->secret())) return place + "checksum mismatch";
  if (record->type() > kTypeValue) return place + "unknown value type";
  bool same = word.tombstone() == (record->type() == kTypeDeletion) &&
              word.size() == IndexWord(0, false, record->size()).size();
  if (same && order_.bytewise()) {
    const Slice& key = record->key;
    const NodeHeader& node = leaf.header;
    same = KeyHash(key) == leaf.Hash(i) && key.size() >= node.prefix_size &&
           memcmp(key.data(), node.prefix, node.prefix_size) == 0 && KeyHead(key, node.prefix_size) == leaf.head[i];
  }
  return same ? std::string() : place + "not the one that the index means";
}

}  // namespace miodb
