// Where the tree and the build folder of this program are. Functions instead of macros, so that of all tests one object
// alone depends on the place: a compiler cache serves every checkout.

#ifndef MIODB_TESTS_COMMON_PATHS_H_
#define MIODB_TESTS_COMMON_PATHS_H_

#include <string>

namespace miodb::test {

std::string SourceDir();  // the top of the source tree
std::string BinaryDir();  // the top of the build folder

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_PATHS_H_
