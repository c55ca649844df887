// For looking at a pool whose comparator the program does not have.

#ifndef MIODB_SRC_INSPECT_IMAGE_UNKNOWN_ORDER_H_
#define MIODB_SRC_INSPECT_IMAGE_UNKNOWN_ORDER_H_

#include <string>

#include "miodb/comparator.h"
#include "miodb/slice.h"

namespace miodb {

// Stands for a comparator that this program does not have: nothing that it says is used.
class UnknownOrder final : public Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  const char* Name() const override { return "unknown"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_IMAGE_UNKNOWN_ORDER_H_
