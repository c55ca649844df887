// RangeCover: by which deletion the keys of a walk are hidden. It remembers the stretch of keys of its last answer, so
// that a step of a walk costs one comparison, and a search for each set where a stretch ends.
//
// Threads: one. The sets must outlive it.

#ifndef MIODB_SRC_ITERATOR_RANGE_COVER_H_
#define MIODB_SRC_ITERATOR_RANGE_COVER_H_

#include <vector>

#include "src/iterator/range_set.h"

namespace miodb {

class RangeCover {
 public:
  enum class Walk : uint8_t { kForward, kBackward };

  explicit RangeCover(const KeyOrder& order) : order_(order) {}

  // Without sets, nothing is hidden. sequence: of the read.
  void Reset(std::vector<const RangeSet*> sets, uint64_t sequence) {
    sets_ = std::move(sets);
    sequence_ = sequence;
    known_ = false;
  }

  bool any() const { return !sets_.empty(); }

  // The walk goes on somewhere else.
  void Jump() { known_ = false; }

  // The newest deletion of the key that the read sees; 0: none. The key is none that the walk has passed, since it last
  // jumped or turned.
  uint64_t NewestOf(const Slice& key, Walk walk) {
    const bool same = known_ && walk == walk_ &&
                      (walk == Walk::kForward ? !has_end_ || order_.Compare(key, end_) < 0
                                              : !has_begin_ || order_.Compare(key, begin_) >= 0);
    if (!same) Find(key, walk);
    return newest_;
  }

  // The stretch of the key asked for last, which is hidden: [begin, end).
  const Slice& begin() const {
    DCHECK(known_ && newest_ > 0 && has_begin_);
    return begin_;
  }
  const Slice& end() const {
    DCHECK(known_ && newest_ > 0 && has_end_);
    return end_;
  }

 private:
  void Find(const Slice& key, Walk walk);

  const KeyOrder order_;
  std::vector<const RangeSet*> sets_;
  uint64_t sequence_ = 0;
  bool known_ = false;  // the rest says something
  Walk walk_ = Walk::kForward;
  uint64_t newest_ = 0;
  bool has_begin_ = false;
  bool has_end_ = false;
  Slice begin_;
  Slice end_;
};

}  // namespace miodb

#endif  // MIODB_SRC_ITERATOR_RANGE_COVER_H_
