// The value of a key that was merged into, for all who read one.

#ifndef MIODB_SRC_API_TYPES_FULL_MERGE_H_
#define MIODB_SRC_API_TYPES_FULL_MERGE_H_

#include <string>
#include <vector>

#include "miodb/merge_operator.h"
#include "miodb/slice.h"
#include "miodb/status.h"

namespace miodb {

// Stores in *value the result of the operator for base and the operands, oldest first; base is nullptr if there is no
// value. InvalidArgument without an operator, Corruption if it fails; *value is then unspecified. REQUIRES: there is an
// operand; none of the slices lies in *value.
Status FullMerge(const MergeOperator* merge_operator, const Slice& key, const Slice* base,
                 const std::vector<Slice>& operands, std::string* value);

}  // namespace miodb

#endif  // MIODB_SRC_API_TYPES_FULL_MERGE_H_
