// The order in which an allocation tries the regions of a pool: those that were named, then all others, first to last.
//
// Threads: a value; const functions by any.

#ifndef MIODB_SRC_NVM_SPACE_REGION_ORDER_H_
#define MIODB_SRC_NVM_SPACE_REGION_ORDER_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/format/region_table.h"
#include "src/util/check/check.h"

namespace miodb {

class RegionOrder {
 public:
  // First to last.
  RegionOrder() {
    for (int i = 0; i < kMaxRegions; i++) at_[i] = static_cast<int8_t>(i);
  }

  // named: anything. Numbers that none of the first count regions has, and those that came before, have no effect.
  RegionOrder(const std::vector<int>& named, int count) : RegionOrder() {
    CHECK(count >= 0 && count <= kMaxRegions);
    int8_t* next = at_;
    for (const int region : named) {
      int8_t* const place = std::find(next, at_ + count, static_cast<int8_t>(std::clamp(region, -1, kMaxRegions)));
      if (place == at_ + count) continue;
      std::rotate(next, place, place + 1);  // the others keep their order
      next++;
    }
    DCHECK_LE(next, at_ + count);
  }

  // The region that is tried as number i. Any i below the number of regions of the pool: regions that were added since
  // the order was made come last.
  int at(int i) const {
    DCHECK(i >= 0 && i < kMaxRegions);
    return at_[i];
  }

 private:
  static_assert(kMaxRegions <= INT8_MAX);
  int8_t at_[kMaxRegions];
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_SPACE_REGION_ORDER_H_
