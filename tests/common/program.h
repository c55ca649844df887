// Running a program as its user does.

#ifndef MIODB_TESTS_COMMON_PROGRAM_H_
#define MIODB_TESTS_COMMON_PROGRAM_H_

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/common/paths.h"

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

// Runs a program in the top of the build folder.
inline ProgramResult RunTool(const std::string& command) { return RunProgram(BinaryDir() + "/" + command); }

// Runs tools/trace_fit, whose fits need HasSciPy().
inline ProgramResult RunFit(const std::string& flags) { return RunProgram(SourceDir() + "/tools/trace_fit " + flags); }
inline bool HasSciPy() { return RunProgram("/usr/bin/python3 -c 'import scipy'").code == 0; }
inline constexpr char kNeedsSciPy[] = "needs SciPy: Debian package python3-scipy";

inline std::string FileContents(const std::string& path) {
  std::ifstream file(path);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

// A folder for what a program writes, and its two streams apart.
class ProgramTestBase : public testing::Test {
 protected:
  explicit ProgramTestBase(const std::string& name) : folder_(testing::TempDir() + "/" + name) {}

  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Runs a command; returns its exit status, or -1 if it did not exit, with its streams in out_ and err_.
  int Run(const std::string& command) {
    const int status = std::system((command + Redirected()).c_str());
    ReadStreams();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string Redirected() const { return " >" + Inside("out") + " 2>" + Inside("err") + " </dev/null"; }
  void ReadStreams() {
    out_ = FileContents(Inside("out"));
    err_ = FileContents(Inside("err"));
  }
  std::string Inside(const std::string& name) const { return folder_ + "/" + name; }

  const std::string folder_;
  std::string out_;
  std::string err_;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_PROGRAM_H_
