#include "tests/common/paths.h"

namespace miodb::test {

std::string SourceDir() { return MIODB_TEST_SOURCE_DIR; }
std::string BinaryDir() { return MIODB_TEST_BINARY_DIR; }

}  // namespace miodb::test
