// How libraries were built is read from their code: assertions, no optimisation, checksums in software.

#include "benchmarks/common/library_build.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/common/test_dir.h"

namespace miodb::bench {
namespace {

class LibraryBuildTest : public testing::Test {
 protected:
  // Compiles functions with an assertion each, and one with a checksum.
  LibraryBuild Compiled(const std::string& flags) {
    const std::string source = dir_ / "library.cc";
    std::ofstream file(source);
    file << "#include <cassert>\n#include <nmmintrin.h>\n";
    for (int i = 0; i < kFunctions; i++) {
      file << "int f" << i << "(int* p, int n) { int s = 0; for (int i = 0; i < n; i++) { assert(p[i] != " << i
           << "); s += p[i]; } return s; }\n";
    }
    file << "#ifdef CRC\nunsigned crc(unsigned a, unsigned b) { return _mm_crc32_u32(a, b); }\n#endif\n";
    file.close();
    const std::string made = dir_ / "library.so";
    EXPECT_EQ(std::system(("c++ -shared -fPIC -msse4.2 " + flags + " -o " + made + " " + source).c_str()), 0);
    return LibraryBuild::Of(made);
  }

  static constexpr int kFunctions = 40;
  test::TestDir dir_;
};

TEST_F(LibraryBuildTest, AssertionsAndMissingOptimisationAreNoticed) {
#ifndef __x86_64__
  GTEST_SKIP() << "code of x86-64 alone is read";
#endif
  const std::string calls = std::to_string(kFunctions) + " calls of __assert_fail";
  EXPECT_EQ(Compiled("-O2").Problem(), "assertions (" + calls + ")");
  EXPECT_EQ(Compiled("-O2 -fno-plt").Problem(), "assertions (" + calls + ")");
  EXPECT_EQ(Compiled("-O0").Problem(), "assertions (" + calls + "), no optimisation");
  EXPECT_EQ(Compiled("-O0 -DNDEBUG").Problem(), "no optimisation");
  EXPECT_EQ(Compiled("-O2 -DNDEBUG").Problem(), "");
  EXPECT_EQ(Compiled("-O2 -DNDEBUG -fno-omit-frame-pointer").Problem(), "");
  EXPECT_TRUE(Compiled("-O2 -DNDEBUG").HasSoftwareChecksums());
  EXPECT_FALSE(Compiled("-O2 -DNDEBUG -DCRC").HasSoftwareChecksums());
}

TEST_F(LibraryBuildTest, OfWhatIsNoLibraryNothingIsKnown) {
  for (const std::string bytes : {"", "x",
                                  "\x7f"
                                  "ELF\x02\x01\x01",
                                  "#!/bin/sh"}) {
    std::ofstream(dir_ / "file") << bytes;
    EXPECT_FALSE(LibraryBuild::Of(dir_ / "file").is_known);
  }
  EXPECT_FALSE(LibraryBuild::Of(dir_ / "absent").is_known);
  EXPECT_EQ(LibraryBuild::Of(dir_ / "absent").Problem(), "");
}

}  // namespace
}  // namespace miodb::bench
