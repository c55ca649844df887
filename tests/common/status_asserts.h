// Assertions about a Status that print it.

#ifndef MIODB_TESTS_COMMON_STATUS_ASSERTS_H_
#define MIODB_TESTS_COMMON_STATUS_ASSERTS_H_

#include <gtest/gtest.h>

#include <string>

#include "miodb/status.h"

#define ASSERT_OK(expression)                              \
  do {                                                     \
    const ::miodb::Status status_ok_ = (expression);       \
    ASSERT_TRUE(status_ok_.ok()) << status_ok_.ToString(); \
  } while (false)

#define EXPECT_OK(expression)                              \
  do {                                                     \
    const ::miodb::Status status_ok_ = (expression);       \
    EXPECT_TRUE(status_ok_.ok()) << status_ok_.ToString(); \
  } while (false)

// kind: NotFound, Corruption, InvalidArgument, IOError, NoSpace or NotSupportedError.
#define EXPECT_STATUS(kind, expression)                          \
  do {                                                           \
    const ::miodb::Status status_is_ = (expression);             \
    EXPECT_TRUE(status_is_.Is##kind()) << status_is_.ToString(); \
  } while (false)

namespace miodb::test {

// Whether the message of a status contains text.
inline testing::AssertionResult Mentions(const Status& status, const std::string& text) {
  if (status.ToString().find(text) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << status.ToString() << "\" does not mention \"" << text << "\"";
}

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_STATUS_ASSERTS_H_
