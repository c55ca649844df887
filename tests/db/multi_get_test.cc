// MultiGet answers as so many Gets at one moment would, over both tiers.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "src/util/random.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

constexpr size_t kValueBytes = 400;
constexpr uint64_t kCount = 12000;

class MultiGetTest : public DbTestBase {
 protected:
  void UseSsd() {
    options_.ssd_path = dir_ / "ssd";
    options_.pool_size = 3 << 20;
    options_.ssd_file_size = 128 << 10;
  }

  // In the form of Get.
  std::vector<std::string> MultiGet(const std::vector<std::string>& keys, const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(options, slices, &values);
    EXPECT_EQ(keys.size(), statuses.size());
    EXPECT_EQ(keys.size(), values.size());
    std::vector<std::string> results;
    for (size_t i = 0; i < statuses.size(); i++) {
      results.push_back(statuses[i].ok() ? values[i] : statuses[i].IsNotFound() ? kNotFound : statuses[i].ToString());
    }
    return results;
  }

  void ExpectAsGets(uint64_t seed) {
    Random random(seed);
    for (const size_t n : {0, 1, 2, 15, 16, 17, 64, 500}) {
      std::vector<std::string> keys;
      for (size_t i = 0; i < n; i++) keys.push_back(FilledKey(random.Uniform(kCount + kCount / 4)));
      if (n > 2) keys[1] = keys[0];  // twice the same
      const std::vector<std::string> results = MultiGet(keys);
      for (size_t i = 0; i < n; i++) ASSERT_EQ(Get(keys[i]), results[i]) << keys[i];
    }
  }
};

TEST_F(MultiGetTest, AgreesWithGetInMemoryAndInThePool) {
  Open();
  ExpectAsGets(1);
  Fill(kCount / 2, kValueBytes);
  ExpectAsGets(2);
  Settle();
  for (uint64_t i = 0; i < kCount; i += 5) Delete(FilledKey(i));
  ExpectAsGets(3);
}

TEST_F(MultiGetTest, AgreesWithGetOverBothTiersWithAndWithoutThreads) {
  UseSsd();
  for (const int threads : {0, 1, 8}) {
    options_.multi_get_threads = threads;
    options_.use_direct_reads = threads == 1;
    if (!TryOpen().ok()) continue;  // no direct reads here
    Fill(kCount, kValueBytes, static_cast<uint64_t>(threads));
    ASSERT_OK(db_->WaitForIdle());
    ASSERT_GT(Counter("ssd-files"), 0u);
    ExpectAsGets(4);
    for (uint64_t i = 0; i < kCount; i += 5) Delete(FilledKey(i));
    ExpectAsGets(5);
  }
}

TEST_F(MultiGetTest, ReadsAsOfTheSnapshot) {
  UseSsd();
  Open();
  Fill(kCount, kValueBytes, 1);
  const Snapshot* const snapshot = db_->GetSnapshot();
  ExpectAsGets(6);  // fills caches
  Fill(kCount, kValueBytes, 2);
  ASSERT_OK(db_->WaitForIdle());
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < kCount; i += 100) keys.push_back(FilledKey(i));
  for (int round = 0; round < 2; round++) {
    const std::vector<std::string> now = MultiGet(keys), then = MultiGet(keys, snapshot);
    for (uint64_t i = 0; i < keys.size(); i++) {
      ASSERT_EQ(FilledValue(100 * i, kValueBytes, 2), now[i]);
      ASSERT_EQ(FilledValue(100 * i, kValueBytes, 1), then[i]);
    }
  }
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(MultiGetTest, SeesAllOfABatchOrNothing) {
  UseSsd();
  Open();
  std::vector<std::string> keys;
  for (int i = 0; i < 40; i++) keys.push_back("k" + std::to_string(i));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int round = 0; !stop; round++) {
      WriteBatch batch;
      for (const std::string& key : keys) batch.Put(key, std::to_string(round));
      ASSERT_OK(db_->Write(WriteOptions(), &batch));
    }
  });
  for (int i = 0; i < 2000; i++) {
    const std::vector<std::string> results = MultiGet(keys);
    for (const std::string& result : results) EXPECT_EQ(results[0], result);
  }
  stop = true;
  writer.join();
}

TEST_F(MultiGetTest, ManyCallersShareTheThreads) {
  UseSsd();
  options_.multi_get_threads = 3;
  Open();
  Fill(kCount, kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  std::vector<std::thread> callers;
  for (uint64_t t = 0; t < 4; t++) {
    callers.emplace_back([this, t] {
      Random random(t);
      for (int i = 0; i < 50; i++) {
        std::vector<uint64_t> numbers;
        std::vector<std::string> keys;
        for (int k = 0; k < 30; k++) numbers.push_back(random.Uniform(kCount));
        for (uint64_t number : numbers) keys.push_back(FilledKey(number));
        const std::vector<std::string> results = MultiGet(keys);
        for (size_t k = 0; k < keys.size(); k++) EXPECT_EQ(FilledValue(numbers[k], kValueBytes, 0), results[k]);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

// A class that has nothing but LevelDB's calls.
TEST_F(MultiGetTest, TheDefaultLooksUpOneAfterTheOther) {
  Open();
  Put("a", "1");
  Put("b", "2");
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->DB::MultiGet(ReadOptions(), {"b", "none", "a"}, &values);
  ASSERT_EQ(3u, statuses.size());
  EXPECT_OK(statuses[0]);
  EXPECT_TRUE(statuses[1].IsNotFound());
  EXPECT_OK(statuses[2]);
  EXPECT_EQ("2", values[0]);
  EXPECT_EQ("1", values[2]);
}

}  // namespace
}  // namespace miodb::test
