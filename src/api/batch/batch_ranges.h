// BatchRanges: the ranges of one column family that a batch deletes, cut so that of each key the newest one is known.
//
//   deleted    [b, e) by the third update, [d, g) by the seventh
//   held       b: 3   d: 7   g: 0        each holds for the keys from its bound up to the next one
//
// Threads: as WriteBatch. Ownership: owns the bounds. Errors: Add throws bad_alloc, and the batch must then be cleared.

#ifndef MIODB_SRC_API_BATCH_BATCH_RANGES_H_
#define MIODB_SRC_API_BATCH_BATCH_RANGES_H_

#include <cstdint>
#include <map>
#include <string>

#include "miodb/slice.h"
#include "src/util/bytes/key_order.h"

namespace miodb {

class BatchRanges {
 public:
  explicit BatchRanges(const KeyOrder& order) : held_(Before{order}), stretches_(Before{order}) {}

  // updates: how many the batch has with this one, and more than with any before. REQUIRES: begin comes before end.
  void Add(const Slice& begin, const Slice& end, uint32_t updates);

  // How many updates the batch had with the newest deletion of the key; 0: no range has it. The deletion hides these
  // updates of the key, and everything from before the batch.
  uint32_t NewestOver(const Slice& key) const;

  // The longest stretch of deleted keys around one. The slices live until the next change.
  struct Stretch {
    Slice begin;
    Slice end;  // is not deleted
  };
  // False: no range has the key.
  bool FindStretch(const Slice& key, Stretch* stretch) const;

 private:
  struct Before {
    using is_transparent = void;
    KeyOrder order;
    bool operator()(const Slice& a, const Slice& b) const { return order.Compare(a, b) < 0; }
  };
  using Held = std::map<std::string, uint32_t, Before>;
  using Stretches = std::map<std::string, std::string, Before>;

  void AddStretch(std::string begin, std::string end);

  // The bound that holds for the key; the end: the key lies before all of them.
  Held::const_iterator Over(const Slice& key) const;

  Held held_;            // the last one is always 0
  Stretches stretches_;  // begins and ends; none meets another
};

}  // namespace miodb

#endif  // MIODB_SRC_API_BATCH_BATCH_RANGES_H_
