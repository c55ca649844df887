#include "src/inspect/problem.h"

#include <algorithm>
#include <cstdio>

namespace miodb {

std::string PrintableKey(const Slice& key, size_t max_bytes) {
  std::string text = "\"";
  for (size_t i = 0; i < std::min(key.size(), max_bytes); i++) {
    const unsigned char c = static_cast<unsigned char>(key[i]);
    if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
      text.push_back(static_cast<char>(c));
    } else {
      char escaped[8];
      snprintf(escaped, sizeof(escaped), "\\x%02x", c);
      text += escaped;
    }
  }
  text += '"';
  if (key.size() > max_bytes) text += "...";
  return text;
}

}  // namespace miodb
