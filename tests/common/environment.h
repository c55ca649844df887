// Settings of tests in environment variables: how long to run and which seed to repeat.
//
//   MIODB_TEST_SCALE   quick (the default), ci or heavy
//   MIODB_TEST_SEED    a seed, or all from FIRST-LAST, instead of the fixed list

#ifndef MIODB_TESTS_COMMON_ENVIRONMENT_H_
#define MIODB_TESTS_COMMON_ENVIRONMENT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace miodb::test {

enum class Scale { kQuick, kCi, kHeavy };

// Ends the program if the variable holds anything else.
Scale TestScale();

// The figure of the current scale.
uint64_t ByScale(uint64_t quick, uint64_t ci, uint64_t heavy);

// Whether a sanitizer makes this program many times slower than a release build.
bool RunsUnderSanitizer();

// Whether that is ThreadSanitizer, which looks up every byte of a comparison.
bool RunsUnderThreadSanitizer();

// `count` seeds from `first` on, at scale quick under ThreadSanitizer a quarter of them; or those that the environment
// asks for.
std::vector<uint64_t> Seeds(uint64_t count, uint64_t first = 1);

// The command that runs the current test with this seed again, for SCOPED_TRACE.
std::string Repeat(uint64_t seed);

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_ENVIRONMENT_H_
