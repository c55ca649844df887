// A binary search without a branch that depends on what it finds: the processor would guess wrong every other time.

#ifndef MIODB_SRC_UTIL_BYTES_LAST_WHERE_H_
#define MIODB_SRC_UTIL_BYTES_LAST_WHERE_H_

#include "src/util/check/check.h"

namespace miodb {

// The last i in [0, count) for which holds(i), which is never asked about 0: whether it holds there is the caller's to
// know. REQUIRES: count > 0, and what it holds for comes first.
template <typename Index, typename Holds>
[[gnu::always_inline]] inline Index LastWhere(Index count, Holds holds) {
  DCHECK(count > 0);
  Index base = 0;
  while (count > 1) {
    const Index half = count / 2;
    base = holds(base + half) ? base + half : base;
    count -= half;
  }
  return base;
}

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_BYTES_LAST_WHERE_H_
