// The merges of db_stress. Merged into a key is its next version, and which one it had before; the operator takes the
// value and looks whether the version before is there. So an operand that is lost, comes twice, or finds another base
// than it was written over makes reads fail.

#ifndef MIODB_TESTS_STRESS_DB_STRESS_OPERANDS_H_
#define MIODB_TESTS_STRESS_DB_STRESS_OPERANDS_H_

#include <cstdint>
#include <string>

#include "miodb/merge_operator.h"

namespace miodb::test {

// before: the version that the key has, which there is a value of, or none. value: of the version that is merged.
std::string MakeOperand(uint32_t before, bool there, const std::string& value);

const MergeOperator* StressOperator();

}  // namespace miodb::test

#endif  // MIODB_TESTS_STRESS_DB_STRESS_OPERANDS_H_
