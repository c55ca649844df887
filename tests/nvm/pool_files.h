// Pool files as bytes: what tests of crashes and damage work on.

#ifndef MIODB_TESTS_NVM_POOL_FILES_H_
#define MIODB_TESTS_NVM_POOL_FILES_H_

#include <memory>
#include <string>

#include "src/nvm/pool/pool.h"
#include "tests/common/test_dir.h"

namespace miodb::test {

// The bytes of a file. Ends the program if it cannot be read.
std::string ReadFileBytes(const std::string& path);

// Makes a file of these bytes, or replaces it by one. Ends the program if that fails.
void WriteFileBytes(const std::string& path, const std::string& bytes);

// Copies the pool file as a crash at this moment would leave it. The pool may be open. In kPersistEmulated, that is
// what a crash of the process leaves.
void CopyPoolFile(const std::string& from, const std::string& to);

// A pool of its own directory that was created and not published: all that tests of extents and tables need.
class TestPool {
 public:
  explicit TestPool(uint64_t limit = uint64_t{64} << 20, uint64_t growth = uint64_t{1} << 20);

  Pool* get() const { return pool_.get(); }
  Pool* operator->() const { return pool_.get(); }

  // An extent of this many bytes. Fails the test if there is no space.
  ExtentRef Allocate(uint64_t size, ExtentKind kind = ExtentKind::kLog);

 private:
  TestDir dir_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_NVM_POOL_FILES_H_
