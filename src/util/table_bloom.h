// The filter policy of the SSD tier's own tables: LevelDB's, under its name and in its format, which any reader of LevelDB's
// takes, but with an odd number of bytes in each filter.
//
// LevelDB's sizes are powers of two for the few keys of one block, and modulo those only the lowest bits of the hash
// count. In these keys of digits that lie side by side are alike, so that nine of ten keys which are not there would pass.

#ifndef MIODB_SRC_UTIL_TABLE_BLOOM_H_
#define MIODB_SRC_UTIL_TABLE_BLOOM_H_

#include <memory>

#include "miodb/filter_policy.h"

namespace miodb {

std::unique_ptr<const FilterPolicy> NewTableBloomPolicy(int bits_per_key);

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_TABLE_BLOOM_H_
