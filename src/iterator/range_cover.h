// RangeCover: by which deletion the keys of a walk are hidden. RangeCover remembers the stretch of keys of its last
// answer, so that a step of a walk costs one comparison, mostly of integers, and a few for each set where a stretch
// ends.
//
// Threads: one. The order and the sets must outlive it.

#ifndef MIODB_SRC_ITERATOR_RANGE_COVER_H_
#define MIODB_SRC_ITERATOR_RANGE_COVER_H_

#include <vector>

#include "src/iterator/range_set.h"

namespace miodb {

class RangeCover {
 public:
  enum class Walk : uint8_t { kForward, kBackward };

  explicit RangeCover(const KeyOrder& order) : order_(&order) {}

  // Without sets, nothing is hidden. sequence: of the read.
  void Reset(const std::vector<const RangeSet*>& sets, uint64_t sequence) {
    sets_.clear();
    sets_.reserve(sets.size());
    for (const RangeSet* const set : sets) sets_.push_back({set});
    sequence_ = sequence;
    known_ = false;
  }

  bool any() const { return !sets_.empty(); }

  // The walk goes on somewhere else.
  void Jump() { known_ = false; }

  // The newest deletion of the key that the read sees; 0: none. The key is none that the walk has passed, since it last
  // jumped or turned: for one that damage has put there the answer may be wrong.
  uint64_t NewestOf(const Slice& key, Walk walk) {
    const bool same = known_ && walk == walk_ &&
                      (walk == Walk::kForward ? end_.set == nullptr || end_.set->IsBefore(key, end_.number)
                                              : begin_.set == nullptr || !begin_.set->IsBefore(key, begin_.number));
    if (!same) Find(key, walk);
    return newest_;
  }

  // The stretch of the key asked for last, which is hidden: [begin, end).
  const Slice& begin() const {
    DCHECK(known_ && newest_ > 0);
    return begin_.key();
  }
  const Slice& end() const {
    DCHECK(known_ && newest_ > 0);
    return end_.key();
  }

 private:
  // A bound of a set.
  struct Bound {
    const RangeSet* set = nullptr;  // null: the keys have no bound on this side
    size_t number = 0;

    const Slice& key() const {
      DCHECK(set != nullptr);
      return set->bound(number);
    }
  };

  struct Source {
    const RangeSet* set;
    size_t place = 0;  // of the last key: RangeSet::CountBounds
  };

  void Find(const Slice& key, Walk walk);
  size_t CountBounds(const Source& source, const Slice& key, Walk walk) const;

  const KeyOrder* order_;
  std::vector<Source> sets_;
  uint64_t sequence_ = 0;
  bool known_ = false;  // the rest says something
  Walk walk_ = Walk::kForward;
  uint64_t newest_ = 0;
  Bound begin_;
  Bound end_;
};

}  // namespace miodb

#endif  // MIODB_SRC_ITERATOR_RANGE_COVER_H_
