#include "miodb/comparator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "miodb/slice.h"
#include "src/util/check/check.h"

// The bytewise order, which every database has that names no other.

namespace miodb {

namespace {

// Slices compare as unsigned bytes by themselves. KeyOrder knows this comparator by its address and compares without a
// virtual call; whoever gives another object of the same order gets the slow paths.
class BytewiseComparatorImpl final : public Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }

  const char* Name() const override { return "leveldb.BytewiseComparator"; }

  // Keeps the first differing byte, one larger, and drops the rest: that is after *start, and before limit because
  // the byte is still smaller than limit's.
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    const size_t shared = std::min(start->size(), limit.size());
    size_t i = 0;
    while (i < shared && (*start)[i] == limit[i]) ++i;
    if (i == shared) return;  // one is a prefix of the other

    // A byte in between leaves nothing to be kept behind it: the result is shorter than either key, or as long.
    const auto mine = static_cast<uint8_t>((*start)[i]);
    const auto other = static_cast<uint8_t>(limit[i]);
    if (mine + 1 < other) {
      (*start)[i] = static_cast<char>(mine + 1);
      start->resize(i + 1);
      DCHECK(Compare(*start, limit) < 0);
    }
  }

  // Keeps the bytes up to the first that can grow, one larger. A key of 0xff bytes only has nothing shorter after it.
  void FindShortSuccessor(std::string* key) const override {
    const size_t i = key->find_first_not_of('\xff');
    if (i == std::string::npos) return;
    DCHECK_LT(i, key->size());
    (*key)[i] = static_cast<char>(static_cast<uint8_t>((*key)[i]) + 1);
    key->resize(i + 1);
  }
};

}  // namespace

Comparator::~Comparator() = default;

const Comparator* BytewiseComparator() {
  // Never destroyed, so that databases may be closed while the process ends.
  static const Comparator* const comparator = new BytewiseComparatorImpl;
  return comparator;
}

}  // namespace miodb
