// The sizes that the SSD levels get by themselves.

#include "compaction/policy/ssd_picker.h"

#include <gtest/gtest.h>

#include <vector>

namespace miodb::test {
namespace {

using Limits = std::vector<uint64_t>;

TEST(SsdPickerTest, OneLevelIsEnoughUntilItIsTooManyTimesThePool) {
  EXPECT_EQ(Limits(), AutomaticLevelLimits(1000, 0, 4, 6));
  EXPECT_EQ(Limits(), AutomaticLevelLimits(1000, 6000, 4, 6));
  EXPECT_EQ(Limits(), AutomaticLevelLimits(1000, 1000000, 1, 6));
}

TEST(SsdPickerTest, LevelsAreInGeometricProgression) {
  EXPECT_EQ(Limits({3000}), AutomaticLevelLimits(1000, 9000, 4, 6));
  EXPECT_EQ(Limits({5000}), AutomaticLevelLimits(1000, 25000, 2, 6));
  const Limits three = AutomaticLevelLimits(1000, 64000, 4, 6);
  ASSERT_EQ(2u, three.size());
  EXPECT_NEAR(4000, static_cast<double>(three[0]), 1);
  EXPECT_NEAR(16000, static_cast<double>(three[1]), 1);
}

TEST(SsdPickerTest, WithTooFewLevelsTheyAreFurtherApart) {
  EXPECT_EQ(Limits({100000}), AutomaticLevelLimits(1000, 10000000, 2, 6));
}

}  // namespace
}  // namespace miodb::test
