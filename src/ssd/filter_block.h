// The filter block of a table: one filter for the keys of all data blocks that begin in the same span of the file. Ours
// have one span; LevelDB's are 2 KiB.
//
//   filters | u32 offset of each | u32 offset of the list of offsets | u8 base-2 logarithm of the span: ours 40
//
// Threads: the builder belongs to one thread; the reader is immutable.

#ifndef MIODB_SRC_SSD_FILTER_BLOCK_H_
#define MIODB_SRC_SSD_FILTER_BLOCK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "miodb/filter_policy.h"
#include "miodb/slice.h"
#include "src/util/check/check.h"

namespace miodb {

class FilterBlockBuilder {
 public:
  explicit FilterBlockBuilder(const FilterPolicy* policy) : policy_(policy) { CHECK(policy_ != nullptr); }

  // A data block begins at this offset of the file; keys added from now on are in it.
  void StartBlock(uint64_t offset);
  void AddKey(const Slice& key);
  Slice Finish();

 private:
  void MakeFilter();

  const FilterPolicy* const policy_;
  std::string keys_;            // of the filter to come, one behind the other
  std::vector<size_t> starts_;  // of each in keys_
  std::string result_;
  std::vector<uint32_t> offsets_;
};

class FilterBlockReader {
 public:
  // Any bytes; of what is no filter block every key may match.
  FilterBlockReader(const FilterPolicy* policy, std::string contents);

  // Whether one filter stands for all blocks in front of this offset.
  bool CoversAll(uint64_t end_offset) const {
    DCHECK(base_log_ >= 0 && base_log_ < 64);
    return count_ > 0 && end_offset >> base_log_ == 0;
  }

  // False only if the block at this offset does not have the key.
  bool KeyMayMatch(uint64_t block_offset, const Slice& key) const;

 private:
  const FilterPolicy* const policy_;
  const std::string contents_;
  uint32_t list_offset_ = 0;
  uint64_t count_ = 0;
  int base_log_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_SSD_FILTER_BLOCK_H_
