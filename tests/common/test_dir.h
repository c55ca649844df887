// A fresh directory for one test, removed with all that is in it when the test ends.
//
// Lies below $TEST_TMPDIR, or else on tmpfs if there is one, or else where the system keeps temporary files.

#ifndef MIODB_TESTS_COMMON_TEST_DIR_H_
#define MIODB_TESTS_COMMON_TEST_DIR_H_

#include <string>

namespace miodb::test {

class TestDir {
 public:
  // Ends the program if no directory can be made.
  TestDir();
  ~TestDir();
  TestDir(const TestDir&) = delete;
  TestDir& operator=(const TestDir&) = delete;

  const std::string& path() const { return path_; }

  // The path of a file or directory in it.
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_TEST_DIR_H_
