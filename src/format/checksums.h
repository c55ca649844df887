// Checksums: whether a read compares the checksums of the bytes that it reads.

#ifndef MIODB_SRC_FORMAT_CHECKSUMS_H_
#define MIODB_SRC_FORMAT_CHECKSUMS_H_

#include <cstdint>

namespace miodb {

enum class Checksums : uint8_t { kTrust, kVerify };

// As an option of the user says.
inline Checksums ChecksumsIf(bool verified) { return verified ? Checksums::kVerify : Checksums::kTrust; }

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_CHECKSUMS_H_
