// A table as it lies in the pool, damaged or not. PMTable (pmtable/) is the one that the engine uses; this one reads
// leaf by leaf without needing header, inner levels or meta block, and verifies everything that it hands out.
//
// Threads: immutable. The image must outlive it.

#ifndef MIODB_SRC_INSPECT_IMAGE_TABLE_IMAGE_H_
#define MIODB_SRC_INSPECT_IMAGE_TABLE_IMAGE_H_

#include <cstdint>
#include <string>

#include "src/format/index_node.h"
#include "src/format/record.h"
#include "src/nvm/pool/pool_image.h"
#include "src/util/bytes/key_order.h"
#include "src/util/check/check.h"

namespace miodb {

class TableImage {
 public:
  // The table of this number in [offset, offset + size). REQUIRES: image->IsExtent(offset, size).
  TableImage(const PoolImage* image, const KeyOrder& order, PmRef offset, uint64_t size, uint64_t number);

  uint64_t number() const { return number_; }
  PmRef offset() const { return offset_; }
  uint64_t size() const { return size_; }
  std::string Name() const { return "table " + std::to_string(number_) + " at offset " + std::to_string(offset_); }

  // Empty if the header is good: then header() may be used.
  const std::string& header_problem() const { return header_problem_; }
  const TableHeader& header() const {
    CHECK(header_problem_.empty());
    return header_;
  }

  // How many leaves there are; without a good header, up to the last one that checks.
  uint64_t leaf_slots() const { return leaf_slots_; }
  const LeafNode& Leaf(uint64_t i) const {
    DCHECK_LT(i, leaf_slots_);
    return reinterpret_cast<const LeafNode*>(base_ + sizeof(TableHeader))[i];
  }

  // Empty if the leaf is undamaged.
  std::string LeafProblem(uint64_t i) const;

  // Reads entry i of an undamaged leaf. Returns the problem of its record, or nothing. A record that is not the one
  // that the index means is a problem, too.
  std::string ReadEntry(const LeafNode& leaf, int i, RecordView* record) const;

 private:
  std::string CheckHeader() const;

  const PoolImage* const image_;
  const KeyOrder order_;
  const PmRef offset_;
  const uint64_t size_;
  const uint64_t number_;
  const char* const base_;
  TableHeader header_;
  std::string header_problem_;
  uint64_t leaf_slots_;
};

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_IMAGE_TABLE_IMAGE_H_
