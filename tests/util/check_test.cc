#include "src/util/check/check.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "miodb/slice.h"

namespace miodb {
namespace {

enum class Color : uint8_t { kRed = 3, kBlue = 4 };

TEST(CheckTest, WhatHoldsGoesOn) {
  CHECK(true);
  CHECK_EQ(1, 1u);
  CHECK_NE(-1, UINT32_MAX);  // compared by value, not after conversion
  CHECK_LT(-1, 0u);
  CHECK_LE(Color::kRed, Color::kBlue);
  CHECK_GT(std::string("b"), "a");
  CHECK_GE(2.0, 2.0);
}

TEST(CheckTest, ArgumentsAreEvaluatedOnce) {
  int n = 0;
  CHECK_EQ(++n, 1);
  CHECK(++n == 2);
  EXPECT_EQ(2, n);
}

TEST(CheckDeathTest, WhatFailsNamesTheExpressionAndTheValues) {
  const int three = 3;
  EXPECT_DEATH(CHECK(three == 4), "check_test.cc:[0-9]+: check failed: three == 4");
  EXPECT_DEATH(CHECK_EQ(three, 4u), "three == 4u \\(3 and 4\\)");
  EXPECT_DEATH(CHECK_LT(three, -1), "three < -1 \\(3 and -1\\)");
  EXPECT_DEATH(CHECK_EQ(Color::kRed, Color::kBlue), "\\(3 and 4\\)");
  EXPECT_DEATH(CHECK_EQ(std::string("a"), "b"), "\\(\"a\" and \"b\"\\)");
  EXPECT_DEATH(CHECK_EQ(Slice("a"), Slice("b")), "\\(\"a\" and \"b\"\\)");
  EXPECT_DEATH(CHECK_NE(&three, &three), "0x");
  EXPECT_DEATH(CHECK_EQ(true, false), "\\(true and false\\)");
}

TEST(CheckDeathTest, DebugChecksAreOnOrDoNotEvaluate) {
  int n = 0;
#ifdef NDEBUG
  DCHECK(++n == 5);
  DCHECK_EQ(++n, 5);
  EXPECT_EQ(0, n);
#else
  EXPECT_DEATH(DCHECK(++n == 5), "check failed");
  EXPECT_DEATH(DCHECK_EQ(++n, 5), "check failed");
#endif
}

}  // namespace
}  // namespace miodb
