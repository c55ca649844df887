// The members of trace records' payloads, and the words of the first record, for who makes them and who reads them.
//
// Threads: values.

#ifndef MIODB_SRC_TRACE_TRACE_PAYLOAD_H_
#define MIODB_SRC_TRACE_TRACE_PAYLOAD_H_

#include <cstddef>
#include <cstdint>

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

inline constexpr char kMagic[] = "feedcafedeadbeef";
inline constexpr char kVersionLabel[] = "Trace Version: ";
inline constexpr char kWriterLabel[] = "RocksDB Version: ";  // Readers look for these words.
inline constexpr char kFormatField[] = "Format: Timestamp OpType Payload";

}  // namespace miodb

#endif  // MIODB_SRC_TRACE_TRACE_PAYLOAD_H_
