// The mark that a folder of log files and the directory of an SSD tier bear, in the database directory or elsewhere:
// whose it is. The content of the files WAL_OWNER, in the former, and POOL, in the latter.
//
//   8 bytes "MIOOWNER" | u32 format version | u32 masked CRC-32C of all that follows | u64 kind | u64 id | u64 pool |
//   u64 epoch
//
// Threads: a value.

#ifndef MIODB_SRC_FORMAT_OWNER_MARK_H_
#define MIODB_SRC_FORMAT_OWNER_MARK_H_

#include <cstdint>
#include <string>

#include "miodb/slice.h"

namespace miodb {

inline constexpr uint32_t kOwnerFormatVersion = 2;

enum class OwnerKind : uint64_t {
  kLog = 1,  // id: of the log; epoch: how many opens have had it (StoreDescriptor::Log)
  kSsd = 2,  // id: of the pool; epoch: the pool's when files were last made or removed (SsdStore::MarkEpoch)
};

struct OwnerMark {
  OwnerKind kind = OwnerKind::kLog;
  uint64_t id = 0;
  uint64_t pool = 0;   // the id of the database's pool
  uint64_t epoch = 0;  // of two copies of one folder the older has the lower one

  bool operator==(const OwnerMark&) const = default;

  std::string Encode() const;

  // False if the bytes are no mark of this kind, or one of another version.
  bool DecodeFrom(const Slice& bytes, OwnerKind wanted);
};

}  // namespace miodb

#endif  // MIODB_SRC_FORMAT_OWNER_MARK_H_
