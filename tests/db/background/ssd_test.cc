// A database that is larger than its pool: drains, compactions on SSD, and every kind of read over both.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "miodb/cache.h"
#include "miodb/env.h"
#include "miodb/pinnable_slice.h"
#include "src/db/store/places.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/ssd_test_base.h"

namespace miodb::test {
namespace {

class SsdTest : public SsdTestBase {
 protected:
  // Files that nobody needs are removed in the background.
  void ExpectOnlyNamedFilesOnDisk() {
    ASSERT_OK(db_->WaitForIdle());
    for (int i = 0; i < 200 && FilesIn(ssd_, ".sst").size() != Counter("ssd-files"); i++) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(FilesIn(ssd_, ".sst").size(), Counter("ssd-files"));
  }
};

TEST_F(SsdTest, HoldsSeveralTimesThePoolAndKeepsItAcrossReopens) {
  Open();
  Fill(Count(), kValueBytes);
  CheckFilled(Count(), kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_GT(Counter("ssd-bytes"), 4 * kMiB);
  EXPECT_GT(Counter("drains"), 0u);
  EXPECT_GT(Counter("ssd-compactions"), 0u);
  EXPECT_LE(Counter("pool-bytes-used"), options_.pool_size);
  EXPECT_GE(Counter("ssd-bytes-written"), Counter("ssd-bytes-drain") + Counter("ssd-bytes-compaction"));
  ExpectOnlyNamedFilesOnDisk();
  CheckFilled(Count(), kValueBytes);
  Open();
  CheckFilled(Count(), kValueBytes);
  Fill(Count(), kValueBytes, 1);
  CheckFilled(Count(), kValueBytes, 1);
}

TEST_F(SsdTest, WhatWasDeletedStaysAwayAndItsSpaceComesBack) {
  Open();
  Fill(Count(), kValueBytes);
  for (uint64_t i = 0; i < Count(); i++) Delete(FilledKey(i));
  for (uint64_t i = 0; i < Count(); i += 17) ASSERT_EQ(Get(FilledKey(i)), kNotFound);
  EXPECT_TRUE(Forward(db_.get()).empty());
  db_->CompactRange(nullptr, nullptr);
  EXPECT_EQ(Counter("ssd-files"), 0u) << Property("leveldb.stats");
  EXPECT_TRUE(Forward(db_.get()).empty());
  ExpectOnlyNamedFilesOnDisk();
}

TEST_F(SsdTest, SnapshotsIteratorsAndPinnedValuesStayAsTheyWere) {
  options_.pool_size = 8 * kMiB;  // what the iterator holds of it is not free
  options_.nvm_budget = 2 * kMiB;
  Open();
  Fill(Count(), kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  const Snapshot* const snapshot = db_->GetSnapshot();
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->SeekToFirst();
  std::vector<PinnableSlice> pinned(20);
  for (size_t i = 0; i < pinned.size(); i++) {
    ASSERT_OK(db_->Get(ReadOptions(), FilledKey(i * 31), &pinned[i]));
  }
  Fill(Count(), kValueBytes, 1);
  for (uint64_t i = 0; i < Count(); i += 2) Delete(FilledKey(i));
  db_->CompactRange(nullptr, nullptr);
  for (size_t i = 0; i < pinned.size(); i++) EXPECT_EQ(pinned[i].ToString(), FilledValue(i * 31, kValueBytes, 0));
  for (uint64_t i = 0; i < Count(); i++, it->Next()) {
    ASSERT_TRUE(it->Valid()) << i << " " << it->status().ToString();
    ASSERT_EQ(it->key().ToString(), FilledKey(i));
    ASSERT_EQ(it->value().ToString(), FilledValue(i, kValueBytes, 0));
  }
  EXPECT_FALSE(it->Valid());
  for (uint64_t i = 0; i < Count(); i += 13) {
    ASSERT_EQ(Get(FilledKey(i), snapshot), FilledValue(i, kValueBytes, 0));
    ASSERT_EQ(Get(FilledKey(i)), i % 2 == 0 ? std::string(kNotFound) : FilledValue(i, kValueBytes, 1));
  }
  db_->ReleaseSnapshot(snapshot);
  it.reset();
  pinned.clear();
  ExpectOnlyNamedFilesOnDisk();
}

TEST_F(SsdTest, IteratorsGoBothWaysWithinTheirBounds) {
  Open();
  Fill(Count(), kValueBytes);
  for (uint64_t i = 0; i < Count(); i += 3) Delete(FilledKey(i));  // tombstones above the data
  const std::string lower = FilledKey(100), upper = FilledKey(Count() - 100);
  const Slice lower_slice = lower, upper_slice = upper;
  ReadOptions options;
  options.iterate_lower_bound = &lower_slice;
  options.iterate_upper_bound = &upper_slice;
  const std::unique_ptr<Iterator> it(db_->NewIterator(options));
  uint64_t expected = 100;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    while (expected % 3 == 0) expected++;
    ASSERT_EQ(it->key().ToString(), FilledKey(expected));
    ASSERT_EQ(it->value().ToString(), FilledValue(expected, kValueBytes, 0));
    if (expected % 50 == 1) {  // a step back and forth again
      it->Prev();
      if (!it->Valid()) {
        it->SeekToFirst();
      } else {
        ASSERT_LT(it->key().ToString(), FilledKey(expected));
        it->Next();
      }
      ASSERT_EQ(it->key().ToString(), FilledKey(expected));
      ASSERT_EQ(it->value().ToString(), FilledValue(expected, kValueBytes, 0));
    }
    expected++;
  }
  uint64_t last = Count() - 101;
  for (it->SeekToLast(); it->Valid(); it->Prev(), last--) {
    while (last % 3 == 0) last--;
    ASSERT_EQ(it->key().ToString(), FilledKey(last));
    ASSERT_EQ(it->value().ToString(), FilledValue(last, kValueBytes, 0));
  }
  EXPECT_OK(it->status());
}

TEST_F(SsdTest, SizesAndPropertiesCountBothTiers) {
  Open();
  Fill(Count(), kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  const std::string middle = FilledKey(Count() / 2);
  const Range ranges[] = {{"", "z"}, {"", middle}, {middle, "z"}, {"x", "z"}};
  uint64_t sizes[4];
  db_->GetApproximateSizes(ranges, 4, sizes);
  const uint64_t total = Counter("ssd-bytes") + Counter("live-bytes");
  EXPECT_NEAR(static_cast<double>(sizes[0]), static_cast<double>(total), static_cast<double>(total) / 5);
  EXPECT_NEAR(static_cast<double>(sizes[1] + sizes[2]), static_cast<double>(sizes[0]), static_cast<double>(total) / 10);
  EXPECT_EQ(sizes[3], 0u);
  uint64_t files = 0;
  for (int level = options_.num_levels; level < options_.num_levels + options_.ssd_levels; level++) {
    files += TablesAtLevel(level);
  }
  EXPECT_EQ(files, Counter("ssd-files"));
  std::string value;
  EXPECT_FALSE(db_->GetProperty(
      "leveldb.num-files-at-level" + std::to_string(options_.num_levels + options_.ssd_levels), &value));
  EXPECT_EQ(Property("miodb.ssd-error"), "OK");
  EXPECT_NE(Property("leveldb.sstables").find("on SSD"), std::string::npos);
}

// Many small partitions take long to merge, so that writers always have something new by the time a merge ends.
TEST_F(SsdTest, CompactRangeEndsWhileOthersWrite) {
  options_.pool_size = 0;
  options_.nvm_budget = 64 * kKiB;
  options_.partition_size = 4 * kKiB;
  options_.write_buffer_size = 16 * kKiB;
  options_.log_chunk_size = 4 * kKiB;
  options_.level_trigger = 4;
  constexpr size_t kSmall = 300;
  const uint64_t keys = ByScale(4000, 20000, 20000);
  Open();
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (uint64_t w = 0; w < 3; w++) {
    writers.emplace_back([&, w] {
      for (uint64_t i = w; !stop.load(); i += 3) {
        ASSERT_OK(db_->Put(WriteOptions(), FilledKey(i % keys), FilledValue(i % keys, kSmall, 0)));
      }
    });
  }
  while (Counter("user-bytes-written") < 8 * kMiB) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  // A repository is merged part by part, so bytes tell what was done, and the number of merges does not.
  const auto merged = [this] {
    return Counter("nvm-bytes-merge") + Counter("nvm-bytes-lazy-copy") + Counter("nvm-bytes-evacuation");
  };
  constexpr uint64_t kCalls = 5;
  const uint64_t before = merged();
  for (uint64_t i = 0; i < kCalls; i++) db_->CompactRange(nullptr, nullptr);
  EXPECT_LT(merged() - before, kCalls * 2 * Counter("live-bytes"))
      << "each call writes what there was, and little more";
  stop.store(true);
  for (std::thread& writer : writers) writer.join();
}

TEST_F(SsdTest, ReadsStayInTheCacheThatTheUserGives) {
  const std::unique_ptr<Cache> cache(NewLRUCache(64 * kMiB));
  options_.block_cache = cache.get();
  Open();
  Fill(Count(), kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_EQ(cache->TotalCharge(), 0u);  // drains and compactions put nothing there
  ReadOptions options;
  options.fill_cache = false;
  for (uint64_t i = 0; i < Count(); i += 7) {
    std::string value;
    ASSERT_OK(db_->Get(options, FilledKey(i), &value));
  }
  EXPECT_EQ(cache->TotalCharge(), 0u);
  CheckFilled(Count(), kValueBytes);
  EXPECT_GT(cache->TotalCharge(), 4 * kMiB);
  Close();
  cache->Prune();
  EXPECT_EQ(cache->TotalCharge(), 0u);
}

// A key that is read often takes the room of its record, not that of its block; keys side by side share their blocks.
TEST_F(SsdTest, GetsKeepRecordsAndWalksByGetsKeepBlocks) {
  const std::unique_ptr<Cache> cache(NewLRUCache(64 * kMiB));
  options_.block_cache = cache.get();
  Open();
  Fill(Count(), kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  uint64_t gets = 0;
  for (uint64_t i = 0; i < Count(); i += 97, gets++) ASSERT_EQ(Get(FilledKey(i)), FilledValue(i, kValueBytes, 0));
  EXPECT_GT(cache->TotalCharge(), gets * kValueBytes / 2);  // the pool has some
  EXPECT_LT(cache->TotalCharge(), gets * kValueBytes * 2);
  cache->Prune();
  for (uint64_t i = 0; i < 1000; i++) ASSERT_EQ(Get(FilledKey(i)), FilledValue(i, kValueBytes, 0));
  const size_t charge = cache->TotalCharge();
  for (uint64_t i = 0; i < 1000; i++) ASSERT_EQ(Get(FilledKey(i)), FilledValue(i, kValueBytes, 0));
  EXPECT_EQ(cache->TotalCharge(), charge);
}

TEST_F(SsdTest, AKeptRecordIsNotShownToOlderSnapshots) {
  Open();
  Fill(Count(), kValueBytes, 0);
  const Snapshot* const snapshot = db_->GetSnapshot();
  Fill(Count(), kValueBytes, 1);
  ASSERT_OK(db_->WaitForIdle());
  for (int round = 0; round < 2; round++) {
    for (uint64_t i = 0; i < Count(); i += 97) {
      ASSERT_EQ(Get(FilledKey(i), snapshot), FilledValue(i, kValueBytes, 0));
      ASSERT_EQ(Get(FilledKey(i)), FilledValue(i, kValueBytes, 1));
    }
  }
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(SsdTest, ReadsAndWritesPastThePageCache) {
  options_.use_direct_reads = true;
  options_.use_direct_io_for_flush_and_compaction = true;
  options_.compaction_readahead_size = 100 * 1000;
  const Status s = TryOpen();
  if (s.IsNotSupportedError()) GTEST_SKIP() << s.ToString();
  ASSERT_OK(s);
  Fill(Count(), kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  CheckFilled(Count(), kValueBytes);
  options_.use_direct_reads = false;  // the files are those of any other
  Open();
  CheckFilled(Count(), kValueBytes);
}

TEST_F(SsdTest, WorksUnderAnotherOrder) {
  options_.comparator = ReverseComparator();
  Open();
  Fill(Count(), kValueBytes);
  for (uint64_t i = 0; i < Count(); i += 7) ASSERT_EQ(Get(FilledKey(i)), FilledValue(i, kValueBytes, 0));
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  uint64_t i = Count();
  for (it->SeekToFirst(); it->Valid(); it->Next()) ASSERT_EQ(it->key().ToString(), FilledKey(--i));
  EXPECT_EQ(i, 0u);
}

// ---- the directory

TEST_F(SsdTest, WhatACrashLeftBehindIsRemovedAtOpen) {
  Open();
  Fill(Count(), kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  Close();
  ASSERT_OK(WriteStringToFile(Env::Default(), "half a table", ssd_ + "/999999.sst"));
  Open();
  EXPECT_FALSE(Env::Default()->FileExists(ssd_ + "/999999.sst"));
  ExpectOnlyNamedFilesOnDisk();
  CheckFilled(Count(), kValueBytes);
}

TEST_F(SsdTest, BelongsToOnePool) {
  Open();
  Fill(Count(), kValueBytes);
  Close();
  Options other = options_;
  std::unique_ptr<DB> db;
  Status s = OpenDb(other, dir_ / "other", &db);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, ssd_));
  other.ssd_path = dir_ / "foreign";
  ASSERT_OK(Env::Default()->CreateDir(other.ssd_path));
  ASSERT_OK(WriteStringToFile(Env::Default(), "?", other.ssd_path + "/000005.ldb"));
  EXPECT_STATUS(InvalidArgument, OpenDb(other, dir_ / "other", &db));
  EXPECT_TRUE(Env::Default()->FileExists(other.ssd_path + "/000005.ldb"));
  options_.ssd_path.clear();
  s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "ssd_path"));
  options_.ssd_path = ssd_;
  Open();
  CheckFilled(Count(), kValueBytes);
}

TEST_F(SsdTest, ADirectoryWithoutFilesChangesHands) {
  Open();
  Close();
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(options_, dir_ / "other", &db));
}

TEST_F(SsdTest, MovesToAnotherDirectory) {
  Open();
  Fill(Count(), kValueBytes);
  Close();
  std::filesystem::rename(ssd_, dir_ / "elsewhere");
  EXPECT_STATUS(Corruption, TryOpen());
  std::filesystem::remove_all(ssd_);
  options_.ssd_path = dir_ / "elsewhere";
  EXPECT_STATUS(InvalidArgument, TryOpen());
  ASSERT_OK(MoveStore(path_, options_));
  Open();
  CheckFilled(Count(), kValueBytes);
}

TEST_F(SsdTest, AMissingOrSwappedFileIsNamed) {
  Open();
  Fill(Count(), kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  Close();
  const std::vector<std::string> files = FilesIn(ssd_, ".sst");
  ASSERT_GE(files.size(), 3u);
  const std::string hidden = dir_ / "hidden";
  std::filesystem::rename(files[1], hidden);
  Status s = TryOpen();
  EXPECT_STATUS(Corruption, s);
  EXPECT_TRUE(Mentions(s, files[1]));
  EXPECT_TRUE(Mentions(s, "missing"));
  std::filesystem::copy_file(files[0], files[1]);
  s = TryOpen();  // may go well, if both files have the same size
  if (!s.ok()) {
    EXPECT_STATUS(Corruption, s);
    EXPECT_TRUE(Mentions(s, files[1]));
  }
  Close();
  // The same size, but another content.
  std::filesystem::copy_file(hidden, files[1], std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(files[1], std::filesystem::file_size(hidden) / 2);
  std::filesystem::resize_file(files[1], std::filesystem::file_size(hidden));
  Open();
  uint64_t damaged = 0;
  for (uint64_t i = 0; i < Count(); i++) {
    std::string value;
    s = db_->Get(ReadOptions(), FilledKey(i), &value);
    if (s.ok()) {
      ASSERT_EQ(value, FilledValue(i, kValueBytes, 0));
      continue;
    }
    damaged++;
    ASSERT_TRUE(s.IsCorruption());
    ASSERT_TRUE(Mentions(s, files[1]));
  }
  EXPECT_GT(damaged, 0u);
  EXPECT_LT(damaged, Count() / 2);
  Close();
  std::filesystem::rename(hidden, files[1]);
  Open();
  CheckFilled(Count(), kValueBytes);
}

TEST_F(SsdTest, DestroyDBRemovesTheFiles) {
  Open();
  Fill(Count(), kValueBytes);
  EXPECT_FALSE(DestroyDB(path_, options_).ok());  // it is open
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(Env::Default()->FileExists(ssd_));
  EXPECT_FALSE(Env::Default()->FileExists(path_));
}

}  // namespace
}  // namespace miodb::test
