// MultiGet answers as so many Gets at one moment would, over both tiers.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "miodb/env.h"
#include "src/util/files/read_rings.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

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
      std::vector<PinnableSlice> pinned(1);
      pinned[0].Pin("old", nullptr, nullptr);
      const std::vector<Status> statuses =
          db_->MultiGet(ReadOptions(), std::vector<Slice>(keys.begin(), keys.end()), &pinned);
      ASSERT_EQ(n, pinned.size());
      for (size_t i = 0; i < n; i++) {
        ASSERT_EQ(Get(keys[i]), results[i]) << keys[i];
        ASSERT_EQ(results[i], statuses[i].ok() ? pinned[i].ToString() : kNotFound) << keys[i];
      }
    }
  }
};

// Whether the kernel lets us.
bool RingsArePossible() {
  char byte;
  std::FILE* const file = std::tmpfile();
  ReadRings::Read read{fileno(file), 0, &byte, 1};
  const bool possible = ReadRings().Run(&read, 1);
  std::fclose(file);
  return possible;
}

class MultiGetCallersTest : public MultiGetTest, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Rings, MultiGetCallersTest, testing::Bool());

TEST_F(MultiGetTest, PinnedValuesStayWhileTheirKeysAreOverwritten) {
  Open();
  Put("a", "1");
  ASSERT_OK(db_->Flush());
  Put("b", "2");
  std::vector<PinnableSlice> pinned;
  const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), {"a", "b", "c"}, &pinned);
  Put("a", "3");
  Put("b", "4");
  Settle();
  EXPECT_TRUE(statuses[0].ok() && statuses[1].ok() && statuses[2].IsNotFound());
  EXPECT_EQ("1", pinned[0].ToString());
  EXPECT_EQ("2", pinned[1].ToString());
  EXPECT_EQ("", pinned[2].ToString());
}

TEST_F(MultiGetTest, KeyMayExistIsNeverWronglyFalse) {
  UseSsd();
  Open();
  Fill(kCount, kValueBytes);
  for (uint64_t i = 0; i < kCount; i++) ASSERT_TRUE(db_->KeyMayExist(ReadOptions(), FilledKey(i))) << i;
}

TEST_F(MultiGetTest, KeyMayExistKnowsMemtablesAndFilters) {
  Open();
  std::string value;
  bool found = true;
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), "key", &value, &found));
  EXPECT_FALSE(found);
  Put("key", "value");
  const Snapshot* const snapshot = db_->GetSnapshot();
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), "key", &value, &found));
  EXPECT_TRUE(found);
  EXPECT_EQ("value", value);
  Delete("key");
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), "key", &value, &found));
  ReadOptions at_snapshot;
  at_snapshot.snapshot = snapshot;
  EXPECT_TRUE(db_->KeyMayExist(at_snapshot, "key"));
  db_->ReleaseSnapshot(snapshot);
  Fill(2000, 100);
  Settle();
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), FilledKey(7), &value, &found));
  EXPECT_FALSE(found);
  int wrong = 0;
  for (uint64_t i = 0; i < 1000; i++) wrong += db_->KeyMayExist(ReadOptions(), FilledKey(i) + "x");
  EXPECT_LT(wrong, 100);
}

TEST_F(MultiGetTest, AgreesWithGetInMemoryAndInThePool) {
  Open();
  ExpectAsGets(1);
  Fill(kCount / 2, kValueBytes);
  ExpectAsGets(2);
  Settle();
  for (uint64_t i = 0; i < kCount; i += 5) Delete(FilledKey(i));
  ExpectAsGets(3);
}

TEST_F(MultiGetTest, AgreesWithGetOverBothTiersWhoeverReads) {
  UseSsd();
  struct Readers {
    int threads;
    bool ring, direct;
  };
  for (const Readers& by :
       {Readers{0, false, false}, {1, false, true}, {8, false, false}, {0, true, true}, {8, true, false}}) {
    options_.multi_get_threads = by.threads;
    options_.multi_get_io_uring = by.ring;
    options_.use_direct_reads = by.direct;
    if (!TryOpen().ok()) continue;  // no direct reads here
    Fill(kCount, kValueBytes, static_cast<uint64_t>(by.threads));
    ASSERT_OK(db_->WaitForIdle());
    ASSERT_GT(Counter("ssd-files"), 0u);
    ExpectAsGets(4);
    for (uint64_t i = 0; i < kCount; i += 5) Delete(FilledKey(i));
    ExpectAsGets(5);
    EXPECT_EQ(by.ring && RingsArePossible(), Counter("ssd-ring-reads") > 0);
  }
}

// A ring reads less than a block, or nothing: the key's own read says what is wrong, and other keys are not touched.
TEST_F(MultiGetTest, DamageIsFoundInBlocksThatWereReadTogether) {
  UseSsd();
  Open();
  Fill(kCount, kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  Close();
  uint64_t cut = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir_ / "ssd")) {
    if (entry.path().extension() != ".sst" || cut++ > 0) continue;
    // The first block's checksum.
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.write("damaged", 7);
  }
  Open();
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < kCount; i += 2) keys.push_back(FilledKey(i));
  ReadOptions options;
  options.verify_checksums = true;
  std::vector<std::string> values;
  const std::vector<Slice> slices(keys.begin(), keys.end());
  const std::vector<Status> statuses = db_->MultiGet(options, slices, &values);
  uint64_t damaged = 0;
  for (size_t i = 0; i < keys.size(); i++) {
    if (statuses[i].ok()) {
      EXPECT_EQ(FilledValue(2 * i, kValueBytes, 0), values[i]);
    } else {
      damaged++;
      EXPECT_TRUE(statuses[i].IsCorruption()) << statuses[i].ToString();
      EXPECT_NE(std::string::npos, statuses[i].ToString().find(".sst")) << statuses[i].ToString();
    }
  }
  EXPECT_GT(damaged, 0u);
  EXPECT_LT(damaged, 20u);  // of one block
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

// Random batches under every set of options, with the background at work: each key as a Get at the same moment.
TEST_F(MultiGetTest, AgreesWithGetUnderAllOptionsWhileTheBackgroundWorks) {
  for (const OptionSet& set : OptionSets()) {
    for (uint64_t seed : Seeds(ByScale(1, 2, 20))) {
      SCOPED_TRACE(testing::Message() << set.name << ", " << Repeat(seed));
      Random random(seed);
      path_ = dir_ / (std::string(set.name) + std::to_string(seed));
      options_ = set.options;
      Open();
      for (uint64_t round = 0; round < 40; round++) {
        for (int i = 0; i < 60; i++) {
          const std::string key = FilledKey(random.Uniform(600));
          if (random.OneIn(5)) {
            Delete(key);
          } else {
            Put(key, random.Bytes(random.Skewed(9)));
          }
        }
        if (random.OneIn(8)) ASSERT_OK(db_->Flush());
        const Snapshot* const snapshot = db_->GetSnapshot();
        std::vector<std::string> keys;
        for (uint64_t i = random.Skewed(8); i > 0; i--) keys.push_back(FilledKey(random.Uniform(700)));
        const std::vector<std::string> results = MultiGet(keys, snapshot);
        for (size_t i = 0; i < keys.size(); i++) ASSERT_EQ(Get(keys[i], snapshot), results[i]) << keys[i];
        db_->ReleaseSnapshot(snapshot);
      }
      Close();
    }
  }
}

TEST_F(MultiGetTest, DamageOfARecordInThePoolIsItsKeysAlone) {
  Open();
  Fill(200, kValueBytes);
  Settle();
  Close();
  const std::set<uint64_t> damaged = {3, 64, 65, 199};
  std::string bytes;
  ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/pool", &bytes));
  for (uint64_t i : damaged) {
    const std::string value = FilledValue(i, kValueBytes, 0);
    size_t copies = 0;
    for (size_t at = bytes.find(value); at != std::string::npos; at = bytes.find(value, at + 1)) {
      bytes[at + kValueBytes / 2] ^= 1;
      copies++;
    }
    ASSERT_GT(copies, 0u);
  }
  ASSERT_OK(WriteStringToFile(Env::Default(), bytes, path_ + "/pool"));
  Open();
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 220; i++) keys.push_back(FilledKey(i));
  const std::vector<Slice> slices(keys.begin(), keys.end());
  ReadOptions verify;
  verify.verify_checksums = true;
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet(verify, slices, &values);
  ASSERT_EQ(keys.size(), statuses.size());
  for (uint64_t i = 0; i < keys.size(); i++) {
    if (damaged.count(i) > 0) {
      EXPECT_TRUE(statuses[i].IsCorruption()) << keys[i] << ": " << statuses[i].ToString();
    } else if (i >= 200) {
      EXPECT_TRUE(statuses[i].IsNotFound()) << keys[i] << ": " << statuses[i].ToString();
    } else {
      ASSERT_OK(statuses[i]);
      EXPECT_EQ(FilledValue(i, kValueBytes, 0), values[i]);
    }
  }
}

// Flushes and merges go on below the readers, and a memtable takes puts while it is searched.
TEST_F(MultiGetTest, EachKeyHasItsLatestValueWhileOthersWriteAndMerge) {
  options_ = FindOptionSet("tiny").options;
  Open();
  constexpr uint64_t kKeys = 400;
  Fill(kKeys, 100, 0);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> written{0};  // rounds
  std::thread writer([&] {
    for (uint64_t round = 1; !stop; round++) {
      Fill(kKeys, 100, round);
      written = round;
    }
  });
  Random random(1);
  for (uint64_t i = 0; i < ByScale(300, 1000, 10000) && !HasFailure(); i++) {
    std::vector<uint64_t> numbers;
    std::vector<std::string> keys;
    for (int k = 0; k < 80; k++) numbers.push_back(random.Uniform(kKeys));
    for (uint64_t number : numbers) keys.push_back(FilledKey(number));
    const uint64_t before = written;
    const std::vector<std::string> results = MultiGet(keys);
    const uint64_t after = written + 1;
    for (size_t k = 0; k < keys.size(); k++) {
      uint64_t round = before;
      while (round <= after && FilledValue(numbers[k], 100, round) != results[k]) round++;
      EXPECT_LE(round, after) << keys[k] << " is older than what was written before";
    }
  }
  stop = true;
  writer.join();
}

TEST_P(MultiGetCallersTest, AllAreServed) {
  UseSsd();
  options_.multi_get_threads = 3;
  options_.multi_get_io_uring = GetParam();
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
