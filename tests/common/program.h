// Running a program as its user does.

#ifndef MIODB_TESTS_COMMON_PROGRAM_H_
#define MIODB_TESTS_COMMON_PROGRAM_H_

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace miodb::test {

struct ProgramResult {
  int code = -1;     // Its exit status; -1 if it did not exit.
  std::string text;  // Both streams.

  bool Says(const std::string& what) const { return text.find(what) != std::string::npos; }
};

inline ProgramResult RunProgram(const std::string& command) {
  ProgramResult result;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) result.text.append(buffer, n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  return result;
}

// One of the programs in the top of the build folder.
inline ProgramResult RunTool(const std::string& command) {
  return RunProgram(std::string(MIODB_TEST_BINARY_DIR) + "/" + command);
}

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_PROGRAM_H_
