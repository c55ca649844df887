#include "tests/common/test_dir.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

namespace miodb::test {

namespace {

constexpr char kTmpfs[] = "/dev/shm";

std::string Parent() {
  const char* const wanted = std::getenv("TEST_TMPDIR");
  if (wanted != nullptr && *wanted != '\0') return wanted;
  if (access(kTmpfs, W_OK | X_OK) == 0) return kTmpfs;
  return std::filesystem::temp_directory_path().string();
}

}  // namespace

TestDir::TestDir() : path_(Parent() + "/miodb_test.XXXXXX") {
  std::error_code ignored;
  std::filesystem::create_directories(Parent(), ignored);
  if (mkdtemp(path_.data()) == nullptr) {
    std::perror(path_.c_str());
    std::exit(2);
  }
}

TestDir::~TestDir() {
  std::error_code ignored;  // what is left behind fails nobody's promise
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace miodb::test
