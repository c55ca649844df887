// The filter policy of the SSD tier's own tables: LevelDB's, under its name and in its format, which any reader of
// LevelDB's takes, but with an odd number of bytes in each filter.
//
// Modulo a power of two only the lowest bits of the hash would count, in which keys of digits that lie side by side are
// alike.

#ifndef MIODB_SRC_API_TYPES_TABLE_BLOOM_H_
#define MIODB_SRC_API_TYPES_TABLE_BLOOM_H_

#include <memory>

#include "miodb/filter_policy.h"

namespace miodb {

std::unique_ptr<const FilterPolicy> NewTableBloomPolicy(int bits_per_key);

}  // namespace miodb

#endif  // MIODB_SRC_API_TYPES_TABLE_BLOOM_H_
