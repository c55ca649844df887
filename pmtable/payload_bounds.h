// PayloadBounds: where the payload extents of a table lie. Every read of a record asks for the end of its extent.
//
// The span from the first extent to the last is cut into equal slots, a few for each extent. A slot knows which extents
// reach into it, so that a search has one or two candidates where the pool has placed the extents evenly, and log2 of
// their number where it has not.
//
// Threads: immutable after Set.

#ifndef MIODB_PMTABLE_PAYLOAD_BOUNDS_H_
#define MIODB_PMTABLE_PAYLOAD_BOUNDS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/format/pm_ref.h"
#include "src/util/bytes/last_where.h"
#include "src/util/check/check.h"

namespace miodb {

class PayloadBounds {
 public:
  struct Bounds {
    PmRef begin;
    PmRef end;
  };

  // The extents, by offset. No extent is empty, and no two overlap.
  void Set(std::vector<Bounds> extents) {
    bounds_ = std::move(extents);
    first_.clear();
    span_ = 0;
    if (bounds_.empty()) return;
    for (size_t i = 0; i < bounds_.size(); i++) {
      CHECK_LT(bounds_[i].begin, bounds_[i].end);
      CHECK(i == 0 || bounds_[i - 1].end <= bounds_[i].begin);
    }
    begin_ = bounds_.front().begin;
    span_ = bounds_.back().end - begin_;
    CHECK_LE(bounds_.back().end - 1, IndexWord::kMaxRef);
    shift_ = std::bit_width((span_ - 1) / (kSlotsPerExtent * bounds_.size()));
    uint32_t extent = 0;
    first_.reserve(((span_ - 1) >> shift_) + 2);
    for (uint64_t slot = 0; slot <= (span_ - 1) >> shift_; slot++) {
      while (bounds_[extent].end <= begin_ + (slot << shift_)) extent++;
      first_.push_back(extent);
    }
    CHECK_LT(extent, bounds_.size());
    CHECK_EQ(first_.size(), ((span_ - 1) >> shift_) + 1);
    first_.push_back(static_cast<uint32_t>(bounds_.size() - 1));
    DCHECK_EQ(EndOf(bounds_.back().begin), bounds_.back().end);
  }

  // The end of the extent that ref lies in; 0: it lies in none. Every get comes here, so there is no branch for the
  // processor to guess.
  PmRef EndOf(PmRef ref) const {
    if (ref - begin_ >= span_) return 0;
    const Bounds& extent = Candidate(ref);
    return ref >= extent.begin && ref < extent.end ? extent.end : 0;
  }

  // The place, by offset, of the extent that ref lies in; kNone: it lies in none.
  static constexpr size_t kNone = SIZE_MAX;
  size_t IndexOf(PmRef ref) const {
    if (ref - begin_ >= span_) return kNone;
    const Bounds& extent = Candidate(ref);
    return ref >= extent.begin && ref < extent.end ? static_cast<size_t>(&extent - bounds_.data()) : kNone;
  }

 private:
  // The only extent that ref may lie in. REQUIRES: ref is in the span.
  const Bounds& Candidate(PmRef ref) const {
    const uint32_t* const slot = &first_[(ref - begin_) >> shift_];
    DCHECK(slot[0] <= slot[1] && slot[1] < bounds_.size());
    const Bounds* const extents = &bounds_[slot[0]];
    return extents[LastWhere(slot[1] - slot[0] + 1, [&](uint32_t i) { return extents[i].begin <= ref; })];
  }

  static constexpr uint64_t kSlotsPerExtent = 2;

  std::vector<Bounds> bounds_;  // by offset
  // For each slot, the first extent that ends behind the slot's begin. There is an extra slot for the end. An extent
  // that reaches into a slot is this one, the next slot's or one between them.
  std::vector<uint32_t> first_;
  PmRef begin_ = 0;
  uint64_t span_ = 0;  // bytes from the begin of the first extent to the end of the last
  int shift_ = 0;      // a slot has 1 << shift_ bytes
};

}  // namespace miodb

#endif  // MIODB_PMTABLE_PAYLOAD_BOUNDS_H_
