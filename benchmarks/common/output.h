// Streams of a program, apart from those of a store that prints for itself.
//
// Threads: KeepOutputApart before the first thread starts; the streams as those of C.

#ifndef MIODB_BENCHMARKS_COMMON_OUTPUT_H_
#define MIODB_BENCHMARKS_COMMON_OUTPUT_H_

#include <cstdio>
#include <string>

namespace miodb::bench {

FILE* Output();    // stdout of the program
FILE* Messages();  // stderr of the program

// From now on both lead where stdout and stderr led until now, and whatever else is printed goes to the end of the
// file. Returns what went wrong, or nothing.
std::string KeepOutputApart(const std::string& file);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_OUTPUT_H_
