#include "src/format/problem.h"

#include "src/util/escape.h"

namespace miodb {

std::string PrintableKey(const Slice& key, size_t max_bytes) {
  return '"' + Escaped(key, '"', max_bytes) + (key.size() > max_bytes ? "\"..." : "\"");
}

}  // namespace miodb
