// Keeps account of which payload extents the entries of a table under construction refer to, and how many bytes of
// each.
//
// Threads: one.

#ifndef MIODB_COMPACTION_PAYLOAD_TRACKER_H_
#define MIODB_COMPACTION_PAYLOAD_TRACKER_H_

#include <cstdint>
#include <vector>

#include "pmtable/pmtable.h"
#include "src/util/check.h"

namespace miodb {

class PayloadTracker {
 public:
  // Makes an extent known. Not while entries are being added, except in ascending or any order between them.
  void AddExtent(const ExtentRef& extent);

  // The extent that holds this reference, or nullptr if none does: then the index is damaged.
  Extent* Find(PmRef ref);

  // Accounts bytes to the extent that Find returned last.
  void AddLive(uint64_t bytes) {
    CHECK_LT(last_, slots_.size());
    slots_[last_].live += bytes;
    live_ += bytes;
  }

  // What was accounted since the last call, sorted by offset.
  std::vector<PayloadRef> Take();

  size_t extent_count() const { return slots_.size(); }

  // What must hold at any time: the extents ascend and lie apart, and what was accounted is the sum of theirs.
  void Check() const;

 private:
  struct Slot {
    ExtentRef extent;  // its end is asked for anew: an extent being filled is cut when it is finished
    uint64_t live;
  };

  std::vector<Slot> slots_;    // by offset of the extent
  std::vector<PmRef> begins_;  // those offsets, which alone a search reads
  size_t last_ = 0;
  uint64_t live_ = 0;  // bytes accounted since the last Take
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_PAYLOAD_TRACKER_H_
