#include "miodb/cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/common/random/random.h"

namespace miodb {
namespace {

// A cache from numbers to numbers that remembers what its deleter was given.
class CacheTest : public testing::Test {
 public:
  static constexpr size_t kCapacity = 1600;

  CacheTest() : cache_(NewLRUCache(kCapacity)) { current_ = this; }
  ~CacheTest() override {
    cache_.reset();
    current_ = nullptr;
  }

  static std::string KeyOf(int key) { return "key" + std::to_string(key); }
  static void* ValueOf(int value) { return reinterpret_cast<void*>(static_cast<intptr_t>(value)); }
  static int NumberOf(void* value) { return static_cast<int>(reinterpret_cast<intptr_t>(value)); }

  static void Deleter(const Slice& key, void* value) {
    current_->deleted_.emplace_back(key.ToString(), NumberOf(value));
  }

  Cache::Handle* InsertAndKeep(int key, int value, size_t charge = 1) {
    return cache_->Insert(KeyOf(key), ValueOf(value), charge, &Deleter);
  }

  void Insert(int key, int value, size_t charge = 1) { cache_->Release(InsertAndKeep(key, value, charge)); }

  // The value of key, or -1.
  int Lookup(int key) {
    Cache::Handle* handle = cache_->Lookup(KeyOf(key));
    if (handle == nullptr) return -1;
    const int value = NumberOf(cache_->Value(handle));
    cache_->Release(handle);
    return value;
  }

  void Erase(int key) { cache_->Erase(KeyOf(key)); }

  using Deleted = std::vector<std::pair<std::string, int>>;

  std::unique_ptr<Cache> cache_;
  Deleted deleted_;
  static CacheTest* current_;
};

CacheTest* CacheTest::current_ = nullptr;

TEST_F(CacheTest, FindsWhatWasInsertedUntilItIsReplaced) {
  EXPECT_EQ(-1, Lookup(100));
  Insert(100, 101);
  EXPECT_EQ(101, Lookup(100));
  EXPECT_EQ(-1, Lookup(200));
  Insert(200, 201);
  EXPECT_EQ(101, Lookup(100));
  EXPECT_EQ(201, Lookup(200));
  EXPECT_TRUE(deleted_.empty());
  Insert(100, 102);
  EXPECT_EQ(102, Lookup(100));
  EXPECT_EQ((Deleted{{"key100", 101}}), deleted_);
}

TEST_F(CacheTest, EraseTakesOneEntryOut) {
  Erase(200);
  Insert(100, 101);
  Insert(200, 201);
  Erase(100);
  EXPECT_EQ(-1, Lookup(100));
  EXPECT_EQ(201, Lookup(200));
  EXPECT_EQ((Deleted{{"key100", 101}}), deleted_);
  Erase(100);
  EXPECT_EQ(1u, deleted_.size());
}

TEST_F(CacheTest, AHandleKeepsItsValueWhateverHappensToTheKey) {
  Cache::Handle* first = InsertAndKeep(100, 101);
  Cache::Handle* second = InsertAndKeep(100, 102);
  EXPECT_EQ(101, NumberOf(cache_->Value(first)));
  EXPECT_EQ(102, NumberOf(cache_->Value(second)));
  EXPECT_TRUE(deleted_.empty());
  cache_->Release(first);
  EXPECT_EQ((Deleted{{"key100", 101}}), deleted_);
  Erase(100);
  EXPECT_EQ(-1, Lookup(100));
  EXPECT_EQ(1u, deleted_.size());
  cache_->Release(second);
  EXPECT_EQ((Deleted{{"key100", 101}, {"key100", 102}}), deleted_);
}

TEST_F(CacheTest, KeepsWhatIsInUseAndWhatWasUsedLately) {
  Insert(100, 101);
  Insert(200, 201);
  Cache::Handle* pinned = InsertAndKeep(300, 301);
  for (int i = 0; i < static_cast<int>(kCapacity) * 2; ++i) {
    Insert(1000 + i, 2000 + i);
    ASSERT_EQ(2000 + i, Lookup(1000 + i));
    ASSERT_EQ(101, Lookup(100));
  }
  EXPECT_EQ(101, Lookup(100));
  EXPECT_EQ(-1, Lookup(200));
  EXPECT_EQ(301, Lookup(300));
  cache_->Release(pinned);
}

TEST_F(CacheTest, EntriesInUseMayExceedTheCapacityUntilTheyAreReleased) {
  std::vector<Cache::Handle*> handles;
  for (int i = 0; i < static_cast<int>(kCapacity) * 2; ++i) handles.push_back(InsertAndKeep(i, i));
  for (int i = 0; i < static_cast<int>(kCapacity) * 2; ++i) ASSERT_EQ(i, Lookup(i));
  EXPECT_EQ(kCapacity * 2, cache_->TotalCharge());
  for (Cache::Handle* handle : handles) cache_->Release(handle);
  EXPECT_LE(cache_->TotalCharge(), kCapacity);
}

TEST_F(CacheTest, HeavyEntriesCountByTheirCharge) {
  int added = 0;
  size_t weight = 0;
  while (weight < 2 * kCapacity) {
    const size_t charge = added % 2 == 0 ? 1 : 10;
    Insert(added, 1000 + added, charge);
    ++added;
    weight += charge;
  }
  size_t cached = 0;
  for (int i = 0; i < added; ++i) {
    const int value = Lookup(i);
    if (value < 0) continue;
    ASSERT_EQ(1000 + i, value);
    cached += i % 2 == 0 ? 1 : 10;
  }
  EXPECT_LE(cached, kCapacity);
  EXPECT_GE(cached, kCapacity / 2);
  EXPECT_EQ(cached, cache_->TotalCharge());
}

TEST_F(CacheTest, TooHeavyAnEntryLivesUntilItIsReleased) {
  Cache::Handle* handle = InsertAndKeep(1, 2, kCapacity + 1);
  EXPECT_EQ(2, Lookup(1));
  cache_->Release(handle);
  EXPECT_EQ(-1, Lookup(1));
  EXPECT_EQ((Deleted{{"key1", 2}}), deleted_);
}

TEST_F(CacheTest, PruneLetsGoOfAllButWhatIsInUse) {
  Insert(1, 100);
  Insert(2, 200, 0);
  Cache::Handle* handle = InsertAndKeep(3, 300);
  cache_->Prune();
  EXPECT_EQ(-1, Lookup(1));
  EXPECT_EQ(-1, Lookup(2));
  EXPECT_EQ(300, Lookup(3));
  EXPECT_EQ(1u, cache_->TotalCharge());
  cache_->Release(handle);
}

TEST_F(CacheTest, WithoutCapacityNothingIsKept) {
  cache_.reset(NewLRUCache(0));
  Cache::Handle* handle = InsertAndKeep(1, 100);
  EXPECT_EQ(100, NumberOf(cache_->Value(handle)));
  EXPECT_EQ(-1, Lookup(1));
  cache_->Release(handle);
  EXPECT_EQ((Deleted{{"key1", 100}}), deleted_);
  EXPECT_EQ(0u, cache_->TotalCharge());
}

TEST_F(CacheTest, TheDestructorDeletesEveryValueOnce) {
  for (int i = 0; i < 100; ++i) Insert(i, i);
  cache_.reset();
  EXPECT_EQ(100u, std::set(deleted_.begin(), deleted_.end()).size());
  EXPECT_EQ(100u, deleted_.size());
}

TEST_F(CacheTest, KeysMayHoldAnyBytes) {
  const std::string a("a\0b", 3), b("a\0c", 3);
  cache_->Release(cache_->Insert(a, ValueOf(1), 1, &Deleter));
  cache_->Release(cache_->Insert(b, ValueOf(2), 1, &Deleter));
  Cache::Handle* handle = cache_->Lookup(a);
  ASSERT_NE(nullptr, handle);
  EXPECT_EQ(1, NumberOf(cache_->Value(handle)));
  cache_->Release(handle);
  EXPECT_EQ(nullptr, cache_->Lookup("a"));
}

TEST_F(CacheTest, NewIdsDiffer) {
  std::set<uint64_t> ids;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(ids.insert(cache_->NewId()).second);
}

Cache* reentered = nullptr;

TEST_F(CacheTest, ADeleterMayUseTheCache) {
  reentered = cache_.get();
  cache_->Release(cache_->Insert("a", nullptr, 1, [](const Slice& key, void*) {
    if (reentered != nullptr) reentered->Release(reentered->Insert(key, ValueOf(7), 1, &Deleter));
  }));
  cache_->Erase("a");
  reentered = nullptr;
  Cache::Handle* handle = cache_->Lookup("a");
  ASSERT_NE(nullptr, handle);
  EXPECT_EQ(7, NumberOf(cache_->Value(handle)));
  cache_->Release(handle);
}

TEST(CacheStressTest, ThreadsNeverSeeAValueOfAnotherKeyAndNothingLeaks) {
  static std::atomic<int> live;
  live = 0;
  const std::unique_ptr<Cache> cache(NewLRUCache(64));
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, t] {
      Random random(t);
      for (int i = 0; i < 20000; ++i) {
        const uint64_t n = random.Uniform(200);
        const std::string key = std::to_string(n);
        Cache::Handle* handle = cache->Lookup(key);
        if (handle == nullptr) {
          ++live;
          handle = cache->Insert(key, new uint64_t(n), 1, [](const Slice&, void* value) {
            delete static_cast<uint64_t*>(value);
            --live;
          });
        }
        if (*static_cast<uint64_t*>(cache->Value(handle)) != n) ADD_FAILURE() << n;
        if (random.OneIn(10)) cache->Erase(key);
        if (random.OneIn(1000)) cache->Prune();
        cache->Release(handle);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(static_cast<size_t>(live), cache->TotalCharge());
  cache->Prune();
  EXPECT_EQ(0, live);
}

}  // namespace
}  // namespace miodb
