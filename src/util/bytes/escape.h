// Bytes for people to read.

#ifndef MIODB_SRC_UTIL_BYTES_ESCAPE_H_
#define MIODB_SRC_UTIL_BYTES_ESCAPE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "miodb/slice.h"
#include "src/util/check/check.h"

namespace miodb {

// Most bytes of a key in a message.
inline constexpr size_t kMostKeyShown = 100;

// Printable ASCII as it is; the quote that the text will stand in, backslashes, and all other bytes as \xNN. Bytes
// beyond max_bytes are left out, without a mark.
inline std::string Escaped(const Slice& bytes, char quote, size_t max_bytes = SIZE_MAX) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < bytes.size() && i < max_bytes; i++) {
    const char c = bytes[i];
    if (c >= ' ' && c <= '~' && c != quote && c != '\\') {
      text += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text += "\\x";
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  DCHECK_LE(text.size(), 4 * std::min(bytes.size(), max_bytes));  // what callers make room for
  return text;
}

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_BYTES_ESCAPE_H_
