// How a shared library was built, as far as its code tells: with assertions, without optimisation, with checksums in
// software. Ratios against a build with assertions say little about the store. RocksDB's own binaries compute checksums
// in software, so that alone makes no build a wrong one.
//
// Threads: any. Limits: x86-64; of other machines and of what is no ELF file nothing is known.

#ifndef MIODB_BENCHMARKS_COMMON_LIBRARY_BUILD_H_
#define MIODB_BENCHMARKS_COMMON_LIBRARY_BUILD_H_

#include <cstdint>
#include <string>

namespace miodb::bench {

struct LibraryBuild {
  bool is_known = false;
  uint64_t code_bytes = 0;
  uint64_t assert_calls = 0;      // calls of __assert_fail
  uint64_t framed_functions = 0;  // that set up a frame
  uint64_t stored_arguments = 0;  // places that store the first argument into the frame, as unoptimised code does
  uint64_t crc_instructions = 0;  // of CRC-32C, or of carry-less multiplication, by which it is also computed

  // Reads the file.
  static LibraryBuild Of(const std::string& path);

  // Why this is no release build, or nothing: "assertions (6390 calls of __assert_fail)".
  std::string Problem() const;
  bool HasSoftwareChecksums() const { return is_known && crc_instructions == 0; }
};

// Lines of a header for the library that a peer was loaded from: its path, and a warning where it is no release build,
// or where it computes checksums in software although the peer has any.
std::string BuildText(const std::string& path, bool has_checksums);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_LIBRARY_BUILD_H_
