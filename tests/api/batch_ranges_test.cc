// The ranges that a batch deletes: which deletion of a key is the newest, and how far the deleted keys around it go.

#include "src/api/batch/batch_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "miodb/comparator.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

// Keys whose order is that of their numbers.
std::string KeyOf(size_t number) {
  char key[16];
  std::snprintf(key, sizeof(key), "%08zu", number);
  return key;
}

class BatchRangesTest : public testing::Test {
 protected:
  // The stretch of the key as "[begin, end)"; "": no range has it.
  std::string StretchOf(size_t number) const {
    BatchRanges::Stretch stretch;
    if (!ranges_.FindStretch(KeyOf(number), &stretch)) return "";
    return "[" + stretch.begin.ToString() + ", " + stretch.end.ToString() + ")";
  }

  BatchRanges ranges_{KeyOrder(BytewiseComparator())};
};

TEST_F(BatchRangesTest, AgreesWithAModelOfEachKey) {
  constexpr size_t kKeys = 40;
  for (uint64_t seed = 0; seed < 200; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    ranges_ = BatchRanges(KeyOrder(BytewiseComparator()));
    std::array<uint32_t, kKeys + 1> newest{};  // 0 at the end: nothing is deleted there
    for (uint32_t updates = 1; updates <= 12; updates++) {
      const size_t begin = random.Uniform(kKeys), end = begin + 1 + random.Uniform(std::min(kKeys - begin, size_t{8}));
      ranges_.Add(KeyOf(begin), KeyOf(end), updates);
      std::fill(newest.begin() + begin, newest.begin() + end, updates);
      for (size_t key = 0; key <= kKeys; key++) {
        ASSERT_EQ(newest[key], ranges_.NewestOver(KeyOf(key)));
        if (newest[key] == 0) {
          ASSERT_EQ("", StretchOf(key));
          continue;
        }
        size_t first = key, behind = key;
        while (first > 0 && newest[first - 1] != 0) first--;
        while (newest[behind] != 0) behind++;
        ASSERT_EQ("[" + KeyOf(first) + ", " + KeyOf(behind) + ")", StretchOf(key));
      }
    }
  }
}

// A search in a stretch does not pass the ranges that it was made of.
TEST_F(BatchRangesTest, ManyRangesThatMeetAreOneStretch) {
  constexpr size_t kRanges = 100000;
  for (size_t i = 0; i < kRanges; i++) ranges_.Add(KeyOf(i), KeyOf(i + 1), static_cast<uint32_t>(i) + 1);
  const std::string all = "[" + KeyOf(0) + ", " + KeyOf(kRanges) + ")";
  for (size_t i = 0; i < kRanges; i++) ASSERT_EQ(all, StretchOf(i));
  EXPECT_EQ("", StretchOf(kRanges));
}

}  // namespace
}  // namespace miodb::test
