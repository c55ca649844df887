// How a uuid lies in what is encoded: bytes without an order, never an integer, so no byte order applies to it.
//
// Threads: any.

#ifndef MIODB_SRC_FORMAT_UUID_CODING_H_
#define MIODB_SRC_FORMAT_UUID_CODING_H_

#include <string>

#include "miodb/slice.h"
#include "src/format/store_descriptor.h"
#include "src/util/check/check.h"

namespace miodb {

inline void PutUuid(std::string* dst, const Uuid& uuid) {
  dst->append(reinterpret_cast<const char*>(uuid.data()), uuid.size());
}

// False if the input is too short.
inline bool GetUuid(Slice* input, Uuid* uuid) {
  if (input->size() < uuid->size()) return false;
  *uuid = MakeUuid(reinterpret_cast<const uint8_t*>(input->data()));
  input->remove_prefix(uuid->size());
  return true;
}

// The reverse of UuidText. False if the text is none.
inline bool ParseUuid(const Slice& text, Uuid* uuid) {
  DCHECK(uuid != nullptr);
  if (text.size() != 2 * uuid->size()) return false;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return false;
    uint8_t& byte = (*uuid)[i / 2];
    byte = static_cast<uint8_t>(i % 2 == 0 ? digit << 4 : byte | digit);
  }
  return true;
}

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_UUID_CODING_H_
