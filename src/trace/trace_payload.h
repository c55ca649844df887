// The members of trace records' payloads, the fields of an access, and the words of the first record, for who makes
// them and who reads them.
//
// Threads: values.

#ifndef MIODB_SRC_TRACE_TRACE_PAYLOAD_H_
#define MIODB_SRC_TRACE_TRACE_PAYLOAD_H_

#include <cstddef>
#include <cstdint>

#include "miodb/trace.h"

namespace miodb {

// Members of a payload. Bit 0 stands for none.
enum PayloadBit : int {
  kWriteBatchData = 1,
  kGetColumnFamily = 2,
  kGetKey = 3,
  kIteratorColumnFamily = 4,
  kIteratorKey = 5,
  kIteratorLowerBound = 6,
  kIteratorUpperBound = 7,
  kMultiGetSize = 8,
  kMultiGetColumnFamilies = 9,
  kMultiGetKeys = 10,
  kPayloadBits = 11,
};

static_assert(kPayloadBits <= 64);
constexpr uint64_t Bit(PayloadBit bit) { return uint64_t{1} << bit; }

inline constexpr size_t kFamilyBytes = 4;  // of a column family in a list

// The fields of an access.
inline constexpr unsigned kAccessOffsetBits = 48;    // the thread is above
inline constexpr unsigned kAccessBytesBits = 24;     // the kind is above
inline constexpr unsigned kAccessPurposeShift = 27;  // above the kind
inline constexpr uint64_t kMaxAccessOffset = (uint64_t{1} << kAccessOffsetBits) - 1;
inline constexpr uint32_t kMostAccessKinds = (1 << (kAccessPurposeShift - kAccessBytesBits)) - 1;
inline constexpr size_t kAccessBytes = 16;      // of an access
inline constexpr size_t kAccessHeadBytes = 16;  // in front of the accesses of a record
static_assert(TraceAccess::kMostBytes >> kAccessBytesBits == 0);
static_assert(TraceAccess::kFence <= static_cast<int>(kMostAccessKinds));
static_assert(TraceAccess::kNoPurpose >> (32 - kAccessPurposeShift) == 0);

inline constexpr char kMagic[] = "feedcafedeadbeef";
inline constexpr char kVersionLabel[] = "Trace Version: ";
inline constexpr char kWriterLabel[] = "RocksDB Version: ";  // Readers look for these words.
inline constexpr char kFormatField[] = "Format: Timestamp OpType Payload";

}  // namespace miodb

#endif  // MIODB_SRC_TRACE_TRACE_PAYLOAD_H_
