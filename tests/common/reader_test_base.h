// The common base of tests of readers.

#ifndef MIODB_TESTS_COMMON_READER_TEST_BASE_H_
#define MIODB_TESTS_COMMON_READER_TEST_BASE_H_

#include <memory>

#include "miodb/db.h"
#include "tests/common/random/model_test_base.h"

namespace miodb::test {

class ReaderTestBase : public ModelTestBase {
 protected:
  std::unique_ptr<DB> OpenReader() const {
    DB* reader = nullptr;
    EXPECT_OK(DB::OpenReader(options_, path_, &reader));
    return std::unique_ptr<DB>(reader);
  }
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_READER_TEST_BASE_H_
