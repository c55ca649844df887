#include "src/nvm/space/extent_allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "src/format/superblock.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

constexpr uint64_t kUnit = kExtentUnit;

// A flag for each unit of a small pool, and everything computed from the flags.
class BitmapModel {
 public:
  explicit BitmapModel(uint64_t units) : free_(units, false) {}

  void Set(uint64_t offset, uint64_t size, bool free) {
    for (uint64_t i = offset / kUnit; i < (offset + size) / kUnit; i++) free_[i] = free;
  }

  bool AllFree(uint64_t offset, uint64_t size) const {
    for (uint64_t i = offset / kUnit; i < (offset + size) / kUnit; i++) {
      if (i >= free_.size() || !free_[i]) return false;
    }
    return true;
  }

  // Maximal runs of free units: offset -> size, in bytes.
  std::map<uint64_t, uint64_t> Runs() const {
    std::map<uint64_t, uint64_t> runs;
    for (uint64_t i = 0; i < free_.size(); i++) {
      if (!free_[i]) continue;
      uint64_t end = i;
      while (end < free_.size() && free_[end]) end++;
      runs[i * kUnit] = (end - i) * kUnit;
      i = end;
    }
    return runs;
  }

 private:
  std::vector<bool> free_;
};

void Compare(const ExtentAllocator& allocator, const BitmapModel& model, uint64_t limit) {
  uint64_t sum = 0, largest = 0, used_end = limit;
  for (const auto& [offset, size] : model.Runs()) {
    sum += size;
    largest = std::max(largest, size);
    if (offset + size == limit) used_end = offset;
  }
  allocator.Check(kUnit, limit);
  ASSERT_EQ(sum, allocator.free_bytes());
  ASSERT_EQ(largest, allocator.largest_free());
  ASSERT_EQ(used_end, allocator.UsedEnd(limit));
}

class AllocatorAgainstModel {
 public:
  AllocatorAgainstModel(uint64_t seed, uint64_t units) : random_(seed), limit_(units * kUnit), model_(units) {
    allocator_.Free(kUnit, limit_ - kUnit);  // the first unit stands for the pool's header
    model_.Set(kUnit, limit_ - kUnit, true);
  }

  void Step() {
    const uint64_t dice = random_.Uniform(10);
    if (dice < 5) {
      Allocate();
    } else if (dice < 9) {
      Free();
    } else {
      Take();
    }
    Compare(allocator_, model_, limit_);
  }

 private:
  void Allocate() {
    const uint64_t size = (1 + random_.Skewed(5)) * kUnit;
    // Best fit: the shortest run that is long enough; of those the first.
    uint64_t best = UINT64_MAX, best_size = UINT64_MAX;
    for (const auto& [offset, run] : model_.Runs()) {
      if (run >= size && run < best_size) {
        best = offset;
        best_size = run;
      }
    }
    uint64_t offset;
    const bool taken = allocator_.Allocate(size, &offset);
    ASSERT_EQ(best != UINT64_MAX, taken);
    if (!taken) return;
    ASSERT_EQ(best, offset);
    model_.Set(offset, size, false);
    used_.push_back({offset, size});
  }

  // All of an extent, or its tail.
  void Free() {
    if (used_.empty()) return;
    const size_t i = random_.Uniform(used_.size());
    auto& [offset, size] = used_[i];
    const uint64_t keep = random_.OneIn(3) ? random_.Uniform(size / kUnit) * kUnit : 0;
    allocator_.Free(offset + keep, size - keep);
    model_.Set(offset + keep, size - keep, true);
    size = keep;
    if (keep == 0) used_.erase(used_.begin() + static_cast<ptrdiff_t>(i));
  }

  void Take() {
    const uint64_t offset = random_.Uniform(limit_ / kUnit) * kUnit;
    const uint64_t size = (1 + random_.Skewed(4)) * kUnit;
    const bool taken = allocator_.Take(offset, size);
    ASSERT_EQ(model_.AllFree(offset, size), taken);
    if (!taken) return;
    model_.Set(offset, size, false);
    used_.push_back({offset, size});
  }

  Random random_;
  const uint64_t limit_;
  ExtentAllocator allocator_;
  BitmapModel model_;
  std::vector<std::pair<uint64_t, uint64_t>> used_;
};

TEST(ExtentAllocatorTest, AgreesWithABitmapOverRandomHistories) {
  for (uint64_t seed : Seeds(ByScale(20, 50, 1000))) {
    SCOPED_TRACE(Repeat(seed));
    AllocatorAgainstModel test(seed, 16 + seed % 200);
    for (int i = 0; i < 1000 && !testing::Test::HasFatalFailure(); i++) test.Step();
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(ExtentAllocatorTest, HasNothingToGiveAtFirst) {
  ExtentAllocator allocator;
  uint64_t offset;
  EXPECT_FALSE(allocator.Allocate(kUnit, &offset));
  EXPECT_FALSE(allocator.Take(0, kUnit));
  EXPECT_EQ(0u, allocator.free_bytes());
  EXPECT_EQ(0u, allocator.largest_free());
  EXPECT_EQ(10 * kUnit, allocator.UsedEnd(10 * kUnit));
}

TEST(ExtentAllocatorTest, TakesTheShortestRunThatIsLongEnoughAndTheLowestOfEqualOnes) {
  ExtentAllocator allocator;
  allocator.Free(0, 8 * kUnit);
  allocator.Free(10 * kUnit, 3 * kUnit);
  allocator.Free(20 * kUnit, 3 * kUnit);
  uint64_t offset;
  ASSERT_TRUE(allocator.Allocate(2 * kUnit, &offset));
  EXPECT_EQ(10 * kUnit, offset);
  ASSERT_TRUE(allocator.Allocate(2 * kUnit, &offset));
  EXPECT_EQ(20 * kUnit, offset);
  ASSERT_TRUE(allocator.Allocate(2 * kUnit, &offset));
  EXPECT_EQ(0u, offset);
}

TEST(ExtentAllocatorTest, JoinsAFreedRangeWithBothNeighbours) {
  ExtentAllocator allocator;
  allocator.Free(0, kUnit);
  allocator.Free(2 * kUnit, kUnit);
  EXPECT_EQ(kUnit, allocator.largest_free());
  allocator.Free(kUnit, kUnit);
  EXPECT_EQ(3 * kUnit, allocator.largest_free());
  uint64_t offset;
  ASSERT_TRUE(allocator.Allocate(3 * kUnit, &offset));
  EXPECT_EQ(0u, offset);
  EXPECT_EQ(0u, allocator.free_bytes());
}

TEST(ExtentAllocatorTest, TakesARangeOutOfTheMiddleOrNothing) {
  ExtentAllocator allocator;
  allocator.Free(10 * kUnit, 10 * kUnit);
  EXPECT_FALSE(allocator.Take(9 * kUnit, 2 * kUnit));
  EXPECT_FALSE(allocator.Take(19 * kUnit, 2 * kUnit));
  EXPECT_FALSE(allocator.Take(30 * kUnit, kUnit));
  EXPECT_FALSE(allocator.Take(12 * kUnit, UINT64_MAX - 5 * kUnit));
  EXPECT_EQ(10 * kUnit, allocator.free_bytes());
  EXPECT_TRUE(allocator.Take(12 * kUnit, 3 * kUnit));
  EXPECT_FALSE(allocator.Take(14 * kUnit, kUnit));
  EXPECT_EQ(7 * kUnit, allocator.free_bytes());
  EXPECT_EQ(5 * kUnit, allocator.largest_free());
}

using ExtentAllocatorDeathTest = testing::Test;

TEST(ExtentAllocatorDeathTest, FreeingWhatIsFreeAborts) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  ExtentAllocator allocator;
  allocator.Free(4 * kUnit, 4 * kUnit);
  EXPECT_DEATH(allocator.Free(4 * kUnit, kUnit), "CHECK|extent_allocator");
  EXPECT_DEATH(allocator.Free(3 * kUnit, 2 * kUnit), "CHECK|extent_allocator");
  EXPECT_DEATH(allocator.Free(7 * kUnit, 2 * kUnit), "CHECK|extent_allocator");
}

}  // namespace
}  // namespace miodb::test
