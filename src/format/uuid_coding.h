// How a uuid lies in what is encoded: bytes without an order, never an integer, so no byte order applies to it.
//
// Threads: any.

#ifndef MIODB_SRC_FORMAT_UUID_CODING_H_
#define MIODB_SRC_FORMAT_UUID_CODING_H_

#include <string>

#include "miodb/slice.h"
#include "src/format/store_descriptor.h"

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

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_UUID_CODING_H_
