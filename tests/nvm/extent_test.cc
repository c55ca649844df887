// Extents: their space comes back exactly when the last reference goes, in one piece or in two.

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "src/nvm/pool/pool.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/nvm/pool_files.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace miodb::test {
namespace {

constexpr uint64_t kUnit = kExtentUnit;
constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(ExtentTest, IsFreeWhenTheLastReferenceGoes) {
  TestPool pool;
  const uint64_t before = pool->used_bytes();
  ExtentRef first = pool.Allocate(10 * kUnit);
  ExtentRef second = first;
  first.reset();
  EXPECT_EQ(before + 10 * kUnit, pool->used_bytes());
  const PmRef offset = second->offset();
  second.reset();
  EXPECT_EQ(before, pool->used_bytes());
  EXPECT_EQ(offset, pool.Allocate(10 * kUnit)->offset());
}

TEST(ExtentTest, ShrinkGivesTheTailBackAtOnce) {
  TestPool pool;
  const uint64_t before = pool->used_bytes();
  ExtentRef extent = pool.Allocate(10 * kUnit);
  extent->Shrink(4 * kUnit + 1);
  EXPECT_EQ(5 * kUnit, extent->size());
  EXPECT_EQ(before + 5 * kUnit, pool->used_bytes());
  extent->Shrink(5 * kUnit);
  EXPECT_EQ(5 * kUnit, extent->size());
  extent->Shrink(0);
  EXPECT_EQ(kUnit, extent->size()) << "an extent is never empty";
  EXPECT_EQ(before + kUnit, pool->used_bytes());
  extent.reset();
  EXPECT_EQ(before, pool->used_bytes());
}

TEST(ExtentTest, TrimKeepsTheTailTakenUntilItIsReleased) {
  TestPool pool;
  const uint64_t before = pool->used_bytes();
  ExtentRef extent = pool.Allocate(10 * kUnit);
  extent->Trim(7 * kUnit);
  extent->Trim(7 * kUnit);
  extent->Trim(3 * kUnit);
  EXPECT_EQ(3 * kUnit, extent->size());
  EXPECT_EQ(before + 10 * kUnit, pool->used_bytes());
  extent->ReleaseTrimmed();
  EXPECT_EQ(before + 3 * kUnit, pool->used_bytes());
  extent->ReleaseTrimmed();
  EXPECT_EQ(before + 3 * kUnit, pool->used_bytes());
  extent.reset();
  EXPECT_EQ(before, pool->used_bytes());
}

TEST(ExtentTest, ATrimmedTailIsFreedWithItsExtent) {
  TestPool pool;
  const uint64_t before = pool->used_bytes();
  ExtentRef extent = pool.Allocate(10 * kUnit);
  extent->Trim(kUnit);
  extent.reset();
  EXPECT_EQ(before, pool->used_bytes());
}

TEST(ExtentTest, AnAbandonedExtentIsNeverFreed) {
  TestPool pool;
  const uint64_t before = pool->used_bytes();
  ExtentRef extent = pool.Allocate(10 * kUnit);
  extent->Abandon();
  extent.reset();
  EXPECT_EQ(before + 10 * kUnit, pool->used_bytes());
}

#if defined(__SANITIZE_ADDRESS__)
TEST(ExtentTest, FreedSpaceIsPoisonedUntilItIsTakenAgain) {
  TestPool pool;
  ExtentRef extent = pool.Allocate(4 * kUnit);
  char* const data = extent->data();
  EXPECT_FALSE(__asan_address_is_poisoned(data));
  extent->Shrink(2 * kUnit);
  EXPECT_TRUE(__asan_address_is_poisoned(data + 2 * kUnit));
  // A record that ends where free space begins can be read.
  EXPECT_EQ(data + 2 * kUnit, StoredEnd(data + 2 * kUnit - 16, 22, data + 4 * kUnit));
  EXPECT_EQ(data + 4 * kUnit, StoredEnd(data + 2 * kUnit - 22, 22, data + 4 * kUnit));
  EXPECT_EQ(data + 3 * kUnit, StoredEnd(data + 3 * kUnit, 22, data + 4 * kUnit));
  extent.reset();
  EXPECT_TRUE(__asan_address_is_poisoned(data));
  extent = pool.Allocate(4 * kUnit);
  ASSERT_EQ(data, extent->data());
  EXPECT_FALSE(__asan_address_is_poisoned(data));
  EXPECT_FALSE(__asan_address_is_poisoned(data + 4 * kUnit - 1));
}
#endif

// Every unit of an extent holds its owner's mark, so that two owners of one unit show.
class Owner {
 public:
  Owner(Pool* pool, uint64_t seed) : pool_(pool), random_(seed) {}
  ~Owner() { CheckAll(); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  void Step() {
    const uint64_t dice = random_.Uniform(8);
    if (dice < 4) {
      Take();
    } else if (!held_.empty()) {
      const size_t i = random_.Uniform(held_.size());
      Check(held_[i]);
      if (dice < 6) {
        held_.erase(held_.begin() + static_cast<ptrdiff_t>(i));
      } else {
        Shorten(&held_[i]);
      }
    }
  }

  uint64_t bytes() const {
    uint64_t sum = 0;
    for (const Held& held : held_) sum += held.taken;
    return sum;
  }

  void CheckAll() const {
    for (const Held& held : held_) Check(held);
  }

 private:
  struct Held {
    ExtentRef extent;
    uint64_t mark;
    uint64_t taken;  // bytes, with a trimmed tail
  };

  void Take() {
    Held held;
    const uint64_t size = (1 + random_.Skewed(6)) * kUnit;
    const Status s = random_.OneIn(4) ? pool_->AllocateAtMost(size, kUnit, 0, ExtentKind::kLog, &held.extent)
                                      : pool_->Allocate(size, ExtentKind::kLog, &held.extent);
    if (!s.ok()) {
      EXPECT_STATUS(NoSpace, s);
      return;
    }
    held.mark = random_.Next64();
    held.taken = held.extent->size();
    for (uint64_t i = 0; i < held.extent->size(); i += kUnit) {
      memcpy(held.extent->data() + i, &held.mark, sizeof(held.mark));
    }
    held_.push_back(std::move(held));
  }

  void Shorten(Held* held) {
    const uint64_t size = 1 + random_.Uniform(held->extent->size());
    if (random_.OneIn(2)) {
      held->extent->Trim(size);
    } else {
      held->extent->Shrink(size);
      held->taken = held->extent->size();
    }
  }

  static void Check(const Held& held) {
    for (uint64_t i = 0; i < held.extent->size(); i += kUnit) {
      uint64_t mark;
      memcpy(&mark, held.extent->data() + i, sizeof(mark));
      ASSERT_EQ(held.mark, mark) << "extent at " << held.extent->offset() << " has another owner, too";
    }
  }

  Pool* const pool_;
  Random random_;
  std::vector<Held> held_;
};

TEST(ExtentTest, RandomHistoriesNeitherOverlapNorLeak) {
  for (uint64_t seed : Seeds(ByScale(10, 30, 300))) {
    SCOPED_TRACE(Repeat(seed));
    TestPool pool(4 * kMiB, 64 * 1024);
    const uint64_t before = pool->used_bytes();
    {
      Owner owner(pool.get(), seed);
      for (int i = 0; i < 3000; i++) {
        owner.Step();
        ASSERT_EQ(before + owner.bytes(), pool->used_bytes());
        ASSERT_LE(pool->used_bytes(), pool->capacity());
        ASSERT_EQ(pool->capacity() - pool->used_bytes(), pool->Room().free);
      }
    }
    ASSERT_EQ(before, pool->used_bytes());
    ExtentRef everything;
    ASSERT_OK(pool->Allocate(4 * kMiB - kPoolHeaderSize, ExtentKind::kLog, &everything));
  }
}

TEST(ExtentTest, ManyThreadsNeverGetTheSameSpace) {
  TestPool pool(8 * kMiB, 256 * 1024);
  const uint64_t before = pool->used_bytes();
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; t++) {
    threads.emplace_back([&pool, t] {
      Owner owner(pool.get(), t);
      for (uint64_t i = 0; i < ByScale(3000, 10000, 300000); i++) owner.Step();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(before, pool->used_bytes());
}

}  // namespace
}  // namespace miodb::test
