#include "tests/common/random/comparators.h"

#include <algorithm>
#include <cstddef>

#include "miodb/slice.h"

namespace miodb::test {

namespace {

class Reverse final : public Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  const char* Name() const override { return "test.Reverse"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class CaseInsensitive final : public Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override {
    const size_t shared = std::min(a.size(), b.size());
    for (size_t i = 0; i < shared; i++) {
      const int difference = Fold(a[i]) - Fold(b[i]);
      if (difference != 0) return difference;
    }
    return a.size() < b.size() ? -1 : static_cast<int>(a.size() > b.size());
  }
  const char* Name() const override { return "test.CaseInsensitive"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  static int Fold(char c) {
    const int byte = static_cast<unsigned char>(c);
    return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte;
  }
};

}  // namespace

const Comparator* ReverseComparator() {
  static const Reverse comparator;
  return &comparator;
}

const Comparator* CaseInsensitiveComparator() {
  static const CaseInsensitive comparator;
  return &comparator;
}

}  // namespace miodb::test
