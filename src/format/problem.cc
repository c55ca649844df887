#include "src/format/problem.h"

#include "src/util/bytes/escape.h"
#include "src/util/bytes/family_key.h"

namespace miodb {

// Text for people, where a problem is told or a key is shown.
//
// Keys are bytes, and messages go to terminals and logs: what is not printable is written as a number.
std::string PrintableKey(const Slice& key, size_t max_bytes) {
  if (const uint32_t family = FamilyOf(key); family != kDefaultFamily) {
    return "family " + std::to_string(family) + " " + PrintableKey(KeyInFamily(key), max_bytes);
  }
  return '"' + Escaped(key, '"', max_bytes) + (key.size() > max_bytes ? "\"..." : "\"");
}

}  // namespace miodb
