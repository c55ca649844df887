#include "compaction/merge/payload_tracker.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/nvm/pool_files.h"

namespace miodb::test {
namespace {

// The extents of the inputs, each named as often as tables share it.
std::vector<const ExtentRef*> Named(const std::vector<ExtentRef>& extents, Random* random) {
  std::vector<const ExtentRef*> named;
  for (const ExtentRef& extent : extents) named.insert(named.end(), 1 + random->Uniform(3), &extent);
  for (size_t i = named.size(); i > 1; i--) std::swap(named[i - 1], named[random->Uniform(i)]);
  return named;
}

TEST(PayloadTrackerTest, AccountsEveryByteToTheExtentThatHoldsIt) {
  for (uint64_t seed : Seeds(ByScale(20, 50, 1000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    TestPool pool;
    PayloadTracker tracker;
    EXPECT_EQ(nullptr, tracker.Find(kExtentUnit));
    std::vector<ExtentRef> inputs, copies, unknown;
    const uint64_t count = random.Uniform(40);  // none: what is known are copies
    for (uint64_t i = 0; i < count; i++) {
      (random.OneIn(3) ? unknown : inputs).push_back(pool.Allocate((1 + random.Uniform(4)) * kExtentUnit));
    }
    tracker.Know(Named(inputs, &random));
    std::map<PmRef, uint64_t> live;
    for (int i = 0; i < 500; i++) {
      if (inputs.empty() || random.OneIn(20)) {
        copies.push_back(pool.Allocate((1 + random.Uniform(4)) * kExtentUnit));
        tracker.AddExtent(copies.back());
      }
      const bool copy = inputs.empty() || (!copies.empty() && random.OneIn(2));
      const std::vector<ExtentRef>& from = copy ? copies : inputs;
      const ExtentRef& extent = from[random.Uniform(from.size())];
      const uint64_t bytes = 1 + random.Uniform(100);
      ASSERT_EQ(extent.get(), tracker.Find(extent->offset() + random.Uniform(extent->size())));
      tracker.AddLive(bytes);
      live[extent->offset()] += bytes;
      for (const ExtentRef& other : unknown) ASSERT_EQ(nullptr, tracker.Find(other->offset()));
      ASSERT_EQ(inputs.size() + copies.size(), tracker.extent_count());
      tracker.Check();
      if (!random.OneIn(50)) continue;
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
      // A table has the copies now: the next one begins without them.
      for (const ExtentRef& gone : copies) ASSERT_EQ(nullptr, tracker.Find(gone->offset()));
      copies.clear();
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
  // The space that was cut off may be another extent's by now.
  const ExtentRef next = pool.Allocate(kExtentUnit);
  ASSERT_EQ(extent->end(), next->offset());
  tracker.AddExtent(next);
  EXPECT_EQ(next.get(), tracker.Find(next->offset()));
  EXPECT_EQ(extent.get(), tracker.Find(extent->end() - 1));
}

}  // namespace
}  // namespace miodb::test
