// The secret of pools and records that tests make without a database.

#ifndef MIODB_TESTS_COMMON_TEST_SECRET_H_
#define MIODB_TESTS_COMMON_TEST_SECRET_H_

#include <cstdint>

namespace miodb::test {

inline constexpr uint64_t kTestSecret = 0x5ec2e7;

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_TEST_SECRET_H_
