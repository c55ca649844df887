#include "compaction/payload_tracker.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/common/environment.h"
#include "tests/common/random.h"
#include "tests/nvm/pool_files.h"

namespace miodb::test {
namespace {

TEST(PayloadTrackerTest, AccountsEveryByteToTheExtentThatHoldsIt) {
  for (uint64_t seed : Seeds(ByScale(20, 50, 1000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    TestPool pool;
    PayloadTracker tracker;
    std::vector<ExtentRef> extents, unknown;
    std::map<PmRef, uint64_t> live;
    EXPECT_EQ(nullptr, tracker.Find(kExtentUnit));
    for (int i = 0; i < 500; i++) {
      if (extents.empty() || random.OneIn(20)) {
        ExtentRef extent = pool.Allocate((1 + random.Uniform(4)) * kExtentUnit);
        if (random.OneIn(3)) {
          unknown.push_back(std::move(extent));
          continue;
        }
        tracker.AddExtent(extent);
        tracker.AddExtent(extent);  // known already
        extents.push_back(std::move(extent));
      }
      const ExtentRef& extent = extents[random.Uniform(extents.size())];
      const uint64_t bytes = random.Uniform(100);
      ASSERT_EQ(extent.get(), tracker.Find(extent->offset() + random.Uniform(extent->size())));
      tracker.AddLive(bytes);
      live[extent->offset()] += bytes;
      for (const ExtentRef& other : unknown) ASSERT_EQ(nullptr, tracker.Find(other->offset()));
      ASSERT_EQ(extents.size(), tracker.extent_count());
      tracker.Check();
      if (!random.OneIn(50)) continue;
      std::erase_if(live, [](const auto& item) { return item.second == 0; });
      const std::vector<PayloadRef> taken = tracker.Take();
      ASSERT_EQ(live.size(), taken.size());
      auto expected = live.begin();
      for (const PayloadRef& p : taken) {
        ASSERT_EQ(expected->first, p.extent->offset());
        ASSERT_EQ(expected->second, p.live_bytes);
        ++expected;
      }
      live.clear();
      ASSERT_TRUE(tracker.Take().empty());
    }
  }
}

TEST(PayloadTrackerTest, AnExtentThatWasCutHoldsNoMoreThanItsRest) {
  TestPool pool;
  PayloadTracker tracker;
  const ExtentRef extent = pool.Allocate(8 * kExtentUnit);
  tracker.AddExtent(extent);
  EXPECT_EQ(extent.get(), tracker.Find(extent->offset() + 5 * kExtentUnit));
  extent->Shrink(2 * kExtentUnit);
  EXPECT_EQ(nullptr, tracker.Find(extent->offset() + 5 * kExtentUnit));
  // What was cut off may be another extent by now.
  const ExtentRef next = pool.Allocate(kExtentUnit);
  ASSERT_EQ(extent->end(), next->offset());
  tracker.AddExtent(next);
  EXPECT_EQ(next.get(), tracker.Find(next->offset()));
  EXPECT_EQ(extent.get(), tracker.Find(extent->end() - 1));
}

}  // namespace
}  // namespace miodb::test
