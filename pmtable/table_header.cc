// The figures of a header have to agree before anything is read by them. The checksum was good by then, so a figure
// that does not fit is another writer's mistake, or the header is another table's.

#include "pmtable/table_header.h"

#include <cstring>

#include "pmtable/pmtable.h"
#include "src/util/check/mutation.h"

namespace miodb {

bool ReadAnyTableHeader(const char* p, TableHeader* header) {
  memcpy(header, p, sizeof(*header));
  return header->magic == kTableMagic &&
         (header->checksum == TableHeaderChecksum(*header) || MIODB_MUTATED(kTableHeaderUnchecked));
}

// A header checks by itself, also one of another pool. The secret tells them apart.
bool ReadTableHeader(const char* p, uint64_t secret, TableHeader* header) {
  return ReadAnyTableHeader(p, header) && (header->secret == secret || MIODB_MUTATED(kTableHeaderUnchecked));
}

// The extent's size bounds the number of leaves before anything is computed of it. All leaves but the last are full,
// and inner nodes follow without a gap, so every place in the index is a function of the number of entries.
std::string TableHeaderProblem(const TableHeader& header, uint64_t extent_bytes, uint64_t number, bool bytewise) {
  if (header.number != number) return "holds table " + std::to_string(header.number);
  const std::string misfit = "header does not fit its extent of " + std::to_string(extent_bytes) + " bytes";
  const uint64_t leaves = header.leaf_count;
  if (leaves == 0 || leaves > extent_bytes / sizeof(LeafNode) || header.entries > leaves * kNodeFanout ||
      header.entries <= (leaves - 1) * kNodeFanout) {
    return misfit;
  }
  uint64_t inner_count = 0;
  for (uint64_t nodes : InnerLevelSizes(leaves)) inner_count += nodes;
  const uint64_t inner_offset = sizeof(TableHeader) + leaves * sizeof(LeafNode);
  if (header.inner_offset != inner_offset || header.inner_count != inner_count ||
      inner_offset + inner_count * sizeof(InnerNode) > extent_bytes) {
    return misfit;
  }
  if (header.tombstones > header.entries || header.min_sequence > header.max_sequence ||
      header.max_sequence > kMostReadSequence || header.ranges_applied > kMostReadSequence ||
      header.payload_bytes == 0 || header.payload_bytes > 2 * IndexWord::kMaxRef) {
    return "header with figures that no table has";
  }
  const bool expiring = (header.flags & kTableExpiring) != 0;
  if (expiring != (header.expiring > 0) || header.expiring > header.entries - header.tombstones ||
      header.first_expiry > header.last_expiry || expiring != (header.first_expiry > 0) ||
      (expiring && (header.flags & kTableKinds) == 0)) {
    return "header with expiries that no table has";
  }
  if (((header.flags & kTableBytewise) != 0) != bytewise) return "was built under another key order";
  return std::string();
}

}  // namespace miodb
