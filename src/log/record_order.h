// Records of a log chunk in the order of their keys, without an insert for each: what a chunk is searched by when there
// is no memtable over it.
//
// A place is the offset of a record from the beginning of its chunk; the order is that of internal iterators: key
// ascending, of one key the newer version first. Records lie in the order of their sequences.
//
// Threads: any. Errors: none but lack of memory (an exception).

#ifndef MIODB_SRC_LOG_RECORD_ORDER_H_
#define MIODB_SRC_LOG_RECORD_ORDER_H_

#include <cstdint>
#include <vector>

#include "src/format/record.h"
#include "src/util/bytes/key_order.h"

namespace miodb {

// A place has to fit into 32 bits.
inline constexpr uint64_t kMaxOrderedBytes = uint64_t{1} << 32;

// Sorts the places. REQUIRES: they ascend, and at each of them lies a whole record that ends by limit, which was looked
// at before.
void SortByKey(const KeyOrder& order, const char* base, const char* limit, std::vector<uint32_t>* places);

}  // namespace miodb

#endif  // MIODB_SRC_LOG_RECORD_ORDER_H_
