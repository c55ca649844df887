// Operands: the versions of one key that a merge operator makes a value of, as a walk over versions meets them: from
// the newest operand down to the first version that is none, the base, or upward to the newest.
//
// A put with a lifetime that is over is no base: the operands that were merged into it then count alone.
//
// A version may come twice, from two sources. A value or tombstone of an operand's sequence is what that operand was
// folded into, and takes its place.
//
// Threads: one. Ownership: records that lie in memory of their own (RecordView::begin is set) are not copied, and their
// bytes must stay where they are. All other records are copied.

#ifndef MIODB_SRC_ITERATOR_OPERANDS_H_
#define MIODB_SRC_ITERATOR_OPERANDS_H_

#include <cstdint>
#include <forward_list>
#include <string>
#include <vector>

#include "miodb/merge_operator.h"
#include "miodb/status.h"
#include "src/format/expiry.h"
#include "src/format/record.h"
#include "src/iterator/internal_iterator.h"
#include "src/util/bytes/key_order.h"
#include "src/util/check/check.h"

namespace miodb {

class Operands {
 public:
  // The result of a fold.
  enum class Into : uint8_t {
    kValue,    // their base is among them, or nothing older has the key
    kOperand,  // an older version may be the base
  };

  // now_micros: what expired by then has.
  explicit Operands(uint64_t now_micros) : now_micros_(now_micros) {}

  void Clear();

  // As if made anew; needs no memory.
  void Reset(uint64_t now_micros) {
    Clear();
    now_micros_ = now_micros;
  }

  // The next older version. False: it was the base, and nothing below it counts. The first one is an operand.
  bool AddOlder(const RecordView& record);

  // The next newer version. If this version is no operand, it hides all versions that were added before.
  void AddNewer(const RecordView& record);

  // From the version that the walk stands on, an operand, to the base, to a version that is older than oldest, or
  // behind the last version of its key.
  Status AddAll(const KeyOrder& order, const Slice& key, uint64_t oldest, InternalIterator* versions);

  uint64_t now_micros() const { return now_micros_; }

  // The moment from which on the base counts no more; kNoExpiry: there is none, or it never expires.
  uint64_t base_expiry() const {
    DCHECK(has_base_ || base_expiry_ == kNoExpiry);
    return base_expiry_;
  }

  // Whether there is a value at all: there is none of a tombstone without operands.
  bool HasValue() const { return has_base_ || !operands_.empty(); }
  size_t count() const { return operands_.size(); }

  // The value, by the operator if there are operands. InvalidArgument without an operator, Corruption if it fails.
  // REQUIRES: HasValue().
  Status Fold(const MergeOperator* merge_operator, const Slice& key, std::string* value);

  // A single operand with the effect of all. False if there is none, or a base was met; and of one operand alone if the
  // operator's result is not shorter: a record that is written in its place would be written again each time.
  bool FoldPartially(const MergeOperator& merge_operator, const Slice& key, std::string* operand);

 private:
  static constexpr uint64_t kNoSequence = UINT64_MAX;  // no record's: tags have 56 bits for theirs

  Slice Kept(const RecordView& record);
  void SetBase(const RecordView& record);
  void OldestFirst();

  uint64_t now_micros_;
  std::vector<Slice> operands_;
  std::forward_list<std::string> copies_;  // of bytes that would not stay; empty, takes no memory
  Slice base_;
  bool has_base_ = false;
  uint64_t base_expiry_ = kNoExpiry;
  bool newest_first_ = false;             // the order of operands_
  uint64_t last_sequence_ = kNoSequence;  // of the version added last
};

}  // namespace miodb

#endif  // MIODB_SRC_ITERATOR_OPERANDS_H_
