// Runs db_stress for a while: with kills, and with readers at full speed and none.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/common/environment.h"
#include "tests/common/paths.h"

namespace miodb::test {
namespace {

// The output of build/db_stress with these arguments; the exit status in *status.
std::string RunDbStress(const std::string& arguments, int* status) {
  // A shell in between, for both outputs in one.
  const std::string command = BinaryDir() + "/db_stress " + arguments + " 2>&1";
  std::string output;
  FILE* const pipe = popen(command.c_str(), "r");
  EXPECT_NE(nullptr, pipe);
  if (pipe == nullptr) return "";
  char line[1000];
  while (std::fgets(line, sizeof(line), pipe) != nullptr) output += line;
  *status = pclose(pipe);
  return output;
}

void ExpectPasses(const std::string& arguments) {
  int status = -1;
  const std::string output = RunDbStress(arguments, &status);
  EXPECT_EQ(0, status) << output;
  EXPECT_NE(std::string::npos, output.find(" passed, 0 failed\n")) << output;
  EXPECT_EQ(std::string::npos, output.find("\n0 passed")) << output;
}

std::string Seed() { return " --quiet --seed=" + std::to_string(Seeds(1).front()); }

TEST(DbStressTest, NothingIsLostStaleResurrectedTornOrLeakedOverKills) {
  ExpectPasses("--seconds=" + std::to_string(ByScale(6, 60, 1800)) + Seed());
}

TEST(DbStressTest, NoReaderIsWrongWhileTablesAreMerged) {
  const uint64_t reads = ByScale(4, 40, 400) * 1000 * 1000 / (RunsUnderSanitizer() ? 20 : 1);
  ExpectPasses("--reads=" + std::to_string(reads) + Seed());
}

TEST(DbStressTest, RefusesWhatItDoesNotUnderstand) {
  for (const char* arguments : {"--no-such-flag", "--seconds=x", "--threads=99", "--role=nobody", "--db=/"}) {
    int status = -1;
    const std::string output = RunDbStress(arguments, &status);
    EXPECT_EQ(2 << 8, status) << arguments;
    EXPECT_NE("", output) << arguments;
  }
}

}  // namespace
}  // namespace miodb::test
