// Keeps account of which payload extents the entries of a table under construction refer to, and how many bytes of
// each.
//
// The extents of a merge's inputs are known together, before the first entry, and found by a table of slots
// (pmtable/payload_bounds.h) in a time that does not depend on their number. Extents that the merge fills with copies
// join one by one and are forgotten when a table has taken them, so the time of Take is that of the extents that the
// table refers to.
//
// Threads: one.

#ifndef MIODB_COMPACTION_MERGE_PAYLOAD_TRACKER_H_
#define MIODB_COMPACTION_MERGE_PAYLOAD_TRACKER_H_

#include <cstdint>
#include <vector>

#include "pmtable/payload_bounds.h"
#include "pmtable/pmtable.h"
#include "src/util/check/check.h"

namespace miodb {

class PayloadTracker {
 public:
  // The tracker knows these extents from now on, and no others. An extent may be named several times, as it is where
  // tables share it. REQUIRES: nothing is accounted.
  void Know(const std::vector<const ExtentRef*>& extents);

  // The tracker knows this extent besides, until the next Take. Each Find asks for the extent's end, because an extent
  // that is being filled is cut when it is finished. REQUIRES: no extent that is known overlaps it.
  void AddExtent(const ExtentRef& extent);

  // The extent that holds this reference, or nullptr if none does: then the index is damaged.
  Extent* Find(PmRef ref);

  // Accounts bytes to the extent that Find returned last. REQUIRES: bytes > 0.
  void AddLive(uint64_t bytes) {
    CHECK_LT(last_, slots_.size());
    DCHECK_GT(bytes, 0u);
    if (slots_[last_].live == 0) touched_.push_back(last_);
    slots_[last_].live += bytes;
    live_ += bytes;
  }

  // The account since the last call, sorted by offset; it begins anew. Extents added by AddExtent are forgotten.
  std::vector<PayloadRef> Take();

  size_t extent_count() const { return slots_.size(); }

  // The invariants: the extents lie apart, and the account is the sum of its parts.
  void Check() const;

 private:
  struct Slot {
    ExtentRef extent;
    uint64_t live;
  };

  std::vector<Slot> slots_;  // known_ of Know, by offset; behind them those of AddExtent
  size_t known_ = 0;
  PayloadBounds bounds_;         // of slots_[0, known_)
  std::vector<size_t> touched_;  // slots with live bytes
  size_t last_ = 0;
  uint64_t live_ = 0;  // bytes accounted since the last Take
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_MERGE_PAYLOAD_TRACKER_H_
