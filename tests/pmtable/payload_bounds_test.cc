// PayloadBounds against a search through all extents.

#include "pmtable/payload_bounds.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

using Bounds = PayloadBounds::Bounds;

constexpr uint64_t kPage = 4096;

PmRef EndBySearch(const std::vector<Bounds>& extents, PmRef ref) {
  for (const Bounds& e : extents) {
    if (ref >= e.begin && ref < e.end) return e.end;
  }
  return 0;
}

void ExpectSame(const std::vector<Bounds>& extents, Random* random) {
  PayloadBounds bounds;
  bounds.Set(extents);
  for (const Bounds& e : extents) {
    for (const PmRef ref : {e.begin - 1, e.begin, e.begin + 1, e.end - 1, e.end, e.end + 1}) {
      ASSERT_EQ(EndBySearch(extents, ref), bounds.EndOf(ref)) << ref << " of " << extents.size() << " extents";
    }
  }
  const uint64_t behind = extents.back().end + 3 * kPage;
  for (int i = 0; i < 200; i++) {
    const PmRef ref = random->Uniform(behind);
    ASSERT_EQ(EndBySearch(extents, ref), bounds.EndOf(ref)) << ref << " of " << extents.size() << " extents";
  }
  for (const PmRef ref : {PmRef{0}, UINT64_MAX, UINT64_MAX - kPage}) ASSERT_EQ(0u, bounds.EndOf(ref));
}

// Extents of up to `pages` pages with gaps of up to `gap` pages, and a gap of `wide` pages before every 16th.
std::vector<Bounds> Draw(Random* random, size_t count, uint64_t pages, uint64_t gap, uint64_t wide) {
  std::vector<Bounds> extents;
  PmRef at = kPage * (1 + random->Uniform(100));
  for (size_t i = 0; i < count; i++) {
    at += kPage * (gap > 0 ? random->Uniform(gap) : 0) + (i % 16 == 15 ? wide * kPage : 0);
    const PmRef end = at + kPage * (1 + random->Uniform(pages));
    extents.push_back({at, end});
    at = end;
  }
  return extents;
}

TEST(PayloadBoundsTest, NoExtentHasNothing) {
  PayloadBounds bounds;
  EXPECT_EQ(0u, bounds.EndOf(0));
  bounds.Set({});
  EXPECT_EQ(0u, bounds.EndOf(0));
  EXPECT_EQ(0u, bounds.EndOf(UINT64_MAX));
}

TEST(PayloadBoundsTest, FindsWhatASearchThroughAllFinds) {
  Random random(1);
  for (const size_t count : {1u, 2u, 3u, 7u, 64u, 500u}) {
    for (const uint64_t gap : {0u, 1u, 200u}) {
      for (const uint64_t wide : {uint64_t{0}, uint64_t{1} << 30}) {
        ASSERT_NO_FATAL_FAILURE(ExpectSame(Draw(&random, count, 1, gap, wide), &random));
        ASSERT_NO_FATAL_FAILURE(ExpectSame(Draw(&random, count, 300, gap, wide), &random));
      }
    }
  }
}

TEST(PayloadBoundsDeathTest, RefusesExtentsThatOverlap) {
  PayloadBounds bounds;
  EXPECT_DEATH(bounds.Set({{kPage, 3 * kPage}, {2 * kPage, 4 * kPage}}), "");
  EXPECT_DEATH(bounds.Set({{3 * kPage, 4 * kPage}, {kPage, 2 * kPage}}), "");
  EXPECT_DEATH(bounds.Set({{kPage, kPage}}), "");
}

}  // namespace
}  // namespace miodb::test
