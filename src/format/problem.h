// A problem: what is wrong with bytes of a pool, of a log or of a table file, and where they lie.

#ifndef MIODB_SRC_FORMAT_PROBLEM_H_
#define MIODB_SRC_FORMAT_PROBLEM_H_

#include <functional>
#include <string>

#include "miodb/slice.h"

namespace miodb {

struct Problem {
  std::string place;   // "table 7 at offset 8192, leaf 3"
  std::string reason;  // "checksum mismatch"

  std::string ToString() const { return place + ": " + reason; }
};

// A key for people, in double quotes: what is not printable, a quote or a backslash shows as \xNN. At most max_bytes
// bytes of it, then "...".
std::string PrintableKey(const Slice& key, size_t max_bytes = 64);

using ReportProblem = std::function<void(Problem)>;

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_PROBLEM_H_
