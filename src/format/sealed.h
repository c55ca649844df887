// The frame of the small files that say what belongs to a database (STORE, the marks of owners):
//
//   8 bytes of magic | u32 format version | u32 masked CRC-32C of all that follows | content
//
// Threads: functions of their arguments.

#ifndef MIODB_SRC_FORMAT_SEALED_H_
#define MIODB_SRC_FORMAT_SEALED_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "miodb/slice.h"
#include "src/util/bytes/coding.h"
#include "src/util/bytes/crc32c.h"
#include "src/util/check/check.h"

namespace miodb {

inline constexpr size_t kSealMagicBytes = 8;
inline constexpr size_t kSealBytes = kSealMagicBytes + 2 * sizeof(uint32_t);

struct Seal {
  const char* magic;  // kSealMagicBytes of it count
  uint32_t version;
};

inline std::string Sealed(const Seal& seal, const std::string& content) {
  std::string bytes(seal.magic, kSealMagicBytes);
  PutFixed32(&bytes, seal.version);
  PutFixed32(&bytes, MaskedCrc(Crc32c(content.data(), content.size())));
  CHECK_EQ(bytes.size(), kSealBytes);
  return bytes + content;
}

// Gives the sealed content, as part of these bytes. False if they have another magic or version, or if the checksum
// does not fit.
inline bool Unseal(const Seal& seal, const Slice& bytes, Slice* content) {
  if (bytes.size() < kSealBytes || memcmp(bytes.data(), seal.magic, kSealMagicBytes) != 0) return false;
  const char* const version = bytes.data() + kSealMagicBytes;
  *content = Slice(bytes.data() + kSealBytes, bytes.size() - kSealBytes);
  return DecodeFixed32(version) == seal.version &&
         DecodeFixed32(version + sizeof(uint32_t)) == MaskedCrc(Crc32c(content->data(), content->size()));
}

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_SEALED_H_
