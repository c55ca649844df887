// Databases whose pool is volatile memory, in front of an SSD tier: what outlives the process is the log and the table
// files. Loss of power is in tests/db/faults/power_loss_test.cc, kill -9 in db_stress.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "miodb/env.h"
#include "miodb/merge_operator.h"
#include "src/db/store/places.h"
#include "src/db/store/store_file.h"
#include "src/version/edit/version_edit.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/common/ssd_test_base.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

class VolatileSsdTest : public VolatileSsdTestBase {
 protected:
  std::string StorePath() const { return path_ + "/STORE"; }

  void ExpectRefused(const Status& s, const std::string& reason) {
    EXPECT_FALSE(s.ok());
    EXPECT_NE(std::string::npos, s.ToString().find(reason)) << s.ToString();
  }
};

TEST_F(VolatileSsdTest, KeepsEverythingAcrossReopens) {
  for (uint64_t round = 0; round < 3; round++) {
    Open();
    EXPECT_EQ("volatile", Property("miodb.persist-mode"));
    if (round > 0) CheckFilled(Count(), kValueBytes, round - 1);
    Fill(Count(), kValueBytes, round);
    CheckFilled(Count(), kValueBytes, round);
    if (round == 1) ASSERT_OK(db_->WaitForIdle());
    EXPECT_GT(Counter("drains"), 0u);
    Close();
    EXPECT_FALSE(fs::exists(path_ + "/pool"));
  }
  Open();
  CheckFilled(Count(), kValueBytes, 2);
}

TEST_F(VolatileSsdTest, KeepsWhatOnlyTheLogHas) {
  Open();
  Put("a", "1");
  Put("b", "2");
  Delete("a");
  Open();
  EXPECT_EQ("(b->2)", Forward(db_.get()));
  Put("c", "3");
  Open();
  Open();
  EXPECT_EQ("(b->2)(c->3)", Forward(db_.get()));
  EXPECT_EQ(0u, Counter("ssd-files"));
}

TEST_F(VolatileSsdTest, SurvivesTheProcessInTheMiddleOfItsWork) {
  if (RunsUnderThreadSanitizer())
    GTEST_SKIP() << "ThreadSanitizer lets no threads start in a child of a process that has had some";
  for (uint64_t round = 0; round < 4; round++) {
    const pid_t child = fork();
    if (child == 0) {
      Open();
      if (round > 0) CheckFilled(Count(), kValueBytes, round - 1);
      Fill(Count(), kValueBytes, round);
      _exit(HasFailure() ? 1 : 0);
    }
    int status = -1;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    ASSERT_EQ(0, status);
  }
  Open();
  CheckFilled(Count(), kValueBytes, 3);
}

TEST_F(VolatileSsdTest, WhatWasDeletedStaysAway) {
  Open();
  Fill(Count(), kValueBytes);
  for (uint64_t i = 0; i < Count(); i++) Delete(FilledKey(i));
  Open();
  EXPECT_EQ("", Forward(db_.get()));
  db_->CompactRange(nullptr, nullptr);
  EXPECT_EQ(0u, Counter("ssd-files")) << Property("leveldb.stats");
  Open();
  EXPECT_EQ("", Forward(db_.get()));
}

TEST_F(VolatileSsdTest, EqualsAModelThroughManyReopens) {
  std::map<std::string, std::string> model;
  const auto check = [&] {
    std::string expected;
    for (const auto& [key, value] : model) expected += "(" + key + "->" + value + ")";
    ASSERT_EQ(expected, Forward(db_.get()));
    ASSERT_EQ(expected, Backward(db_.get()));
  };
  options_.write_buffer_size = 4 * kKiB;
  options_.pool_size = 512 * kKiB;
  options_.nvm_budget = 64 * kKiB;
  options_.max_total_wal_size = 16 * kKiB;
  Random random(7);
  for (int round = 0; round < static_cast<int>(ByScale(20, 100, 1000)) && !HasFailure(); round++) {
    Open();
    check();
    const uint64_t writes = random.Skewed(12);
    for (uint64_t i = 0; i < writes; i++) {
      const std::string key = FilledKey(random.OneIn(2) ? random.Uniform(2000) : random.Uniform(20));
      if (random.OneIn(4)) {
        Delete(key);
        model.erase(key);
      } else {
        model[key] = std::to_string(random.Next64()) + std::string(random.Uniform(300), 'v');
        Put(key, model[key]);
      }
    }
    if (random.OneIn(3)) db_->CompactRange(nullptr, nullptr);
    if (random.OneIn(3)) ASSERT_OK(db_->WaitForIdle());
    check();
  }
}

// A few keys that are written all the time never go to SSD for their own sake, nor does what lies beside them.
// The log is replayed onto files that have some of it already: an operand counts once all the same, whether the files
// have it as it was or folded, and no put comes back that a single deletion took away.
TEST_F(VolatileSsdTest, OperandsCountOnceAndSingleDeletionsStay) {
  static const MergeOperator* const append = NewStringAppendOperator(",");
  options_.merge_operator = append;
  options_.write_buffer_size = 4 * kKiB;
  options_.pool_size = 512 * kKiB;
  options_.nvm_budget = 64 * kKiB;
  options_.max_total_wal_size = 16 * kKiB;
  constexpr uint64_t kKeys = 60;
  for (const uint64_t seed : Seeds(ByScale(2, 6, 40))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    std::map<std::string, std::string> model;
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
    Open();
    for (int step = 0; step < 4000; step++) {
      const uint64_t i = random.Uniform(kKeys);
      const std::string key = FilledKey(i);
      const std::string value(random.Skewed(10), static_cast<char>('a' + random.Uniform(26)));
      if (i % 4 == 0) {
        if (model.count(key) == 0) {
          Put(key, value);
          model[key] = value;
        } else {
          ASSERT_OK(db_->SingleDelete(WriteOptions(), key));
          model.erase(key);
        }
      } else if (random.OneIn(30)) {
        Put(key, value);
        model[key] = value;
      } else if (random.OneIn(20)) {
        Delete(key);
        model.erase(key);
      } else {
        const std::string operand = value.substr(0, 40);
        ASSERT_OK(db_->Merge(WriteOptions(), key, operand));
        const auto [it, is_new] = model.emplace(key, operand);
        if (!is_new) it->second += "," + operand;
      }
      if (random.OneIn(4)) Put("filler" + std::to_string(random.Uniform(500)), std::string(300, 'x'));
      if (random.OneIn(300)) Open();
      if (random.OneIn(300)) ASSERT_OK(db_->WaitForIdle());
    }
    for (const bool reopened : {false, true}) {
      if (reopened) Open();
      for (uint64_t i = 0; i < kKeys; i++) {
        const auto it = model.find(FilledKey(i));
        ASSERT_EQ(it == model.end() ? kNotFound : it->second, Get(FilledKey(i))) << i;
      }
      db_->CompactRange(nullptr, nullptr);
    }
  }
}

// Puts that are on SSD and come back from the log too are in two places: a single deletion that takes one of them away
// has to hide the other.
TEST_F(VolatileSsdTest, ASingleDeletionHidesAPutThatIsInTwoPlaces) {
  options_.max_total_wal_size = 64 * kMiB;
  Open();
  // In an order that is not theirs, or the log would end where the files begin.
  const uint64_t count = Count();
  constexpr uint64_t kStride = 7919;
  ASSERT_NE(0u, count % kStride);
  const auto key = [&](uint64_t i) { return FilledKey(i * kStride % count); };
  for (uint64_t i = 0; i < count; i++) Put(key(i), FilledValue(i, kValueBytes, 0));
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_GT(Counter("ssd-files"), 0u);
  // How much sinks at once, and so where the needed part of the log begins, is up to the threads.
  const uint64_t deleted = std::min<uint64_t>(2000, Counter("log-file-bytes-needed") * 3 / (4 * kValueBytes));
  ASSERT_GT(deleted, 100u) << "the log has what files have too";
  Open();
  for (uint64_t i = count - deleted; i < count; i++) ASSERT_OK(db_->SingleDelete(WriteOptions(), key(i)));
  ASSERT_OK(db_->WaitForIdle());
  for (const bool reopened : {false, true}) {
    if (reopened) Open();
    for (uint64_t i = count - deleted; i < count; i++) ASSERT_EQ(kNotFound, Get(key(i))) << i;
  }
}

TEST_F(VolatileSsdTest, TheLogStaysWithinItsLimit) {
  options_.max_total_wal_size = kMiB;
  options_.write_buffer_size = 64 * kKiB;
  Open();
  Fill(100, kValueBytes);
  uint64_t longest = 0;
  for (uint64_t i = 0; i < ByScale(20, 60, 200) * kMiB / kValueBytes; i++) {
    Put(FilledKey(1000 + i % 50), FilledValue(i, kValueBytes, 1));
    if (i % 100 == 0) longest = std::max(longest, Counter("log-file-bytes-needed"));
  }
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_LE(Counter("log-file-bytes-needed"), options_.max_total_wal_size);
  EXPECT_LT(longest, 4 * options_.max_total_wal_size);
  Open();
  EXPECT_EQ(FilledValue(99, kValueBytes, 0), Get(FilledKey(99)));
}

TEST_F(VolatileSsdTest, TheLogEndsWhenAllIsDeletedAgain) {
  options_.max_total_wal_size = 256 * kKiB;
  options_.write_buffer_size = 16 * kKiB;
  Open();
  for (uint64_t i = 0; i < ByScale(4, 16, 64) * kMiB / kValueBytes; i++) {
    Put("key", FilledValue(i, kValueBytes, 0));
    Delete("key");
  }
  ASSERT_OK(db_->WaitForIdle());
  for (int i = 0; i < 500 && Counter("log-file-bytes-needed") > options_.max_total_wal_size; i++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LE(Counter("log-file-bytes-needed"), options_.max_total_wal_size);
}

TEST_F(VolatileSsdTest, ALongLogNeedsNoLargerPool) {
  options_.max_total_wal_size = 256 * kMiB;  // far more than the pool
  options_.pool_size = 8 * kMiB;
  Open();
  // Written again and again, these never go to SSD.
  for (uint64_t round = 0; round < 60; round++) Fill(1000, kValueBytes, round);
  EXPECT_GT(Counter("log-file-bytes-needed"), 2 * options_.pool_size);
  Open();
  CheckFilled(1000, kValueBytes, 59);
}

TEST_F(VolatileSsdTest, SyncsTheLogBeforeFilesHoldItsWrites) {
  Open();
  Fill(Count(), kValueBytes);
  EXPECT_GT(Counter("log-file-syncs"), 0u);
}

TEST_F(VolatileSsdTest, RefusesWhatWouldPutAnotherDatabaseBesideIt) {
  Open();
  Put("a", "1");
  Close();
  const Options good = options_;
  options_.pool_path = "";
  options_.log_mode = kLogPmem;
  ExpectRefused(TryOpen(), StorePath());
  EXPECT_FALSE(fs::exists(path_ + "/pool"));
  options_ = good;
  options_.ssd_path = "";
  options_.log_mode = kLogOff;
  ExpectRefused(TryOpen(), StorePath());
  options_ = good;
  options_.ssd_path = dir_ / "elsewhere";
  ExpectRefused(TryOpen(), ssd_);
  EXPECT_FALSE(fs::exists(options_.ssd_path));
  options_ = good;
  options_.error_if_exists = true;
  EXPECT_STATUS(InvalidArgument, TryOpen());
  options_ = good;
  options_.comparator = nullptr;
  EXPECT_STATUS(InvalidArgument, TryOpen());
  options_ = good;
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(VolatileSsdTest, RefusesToReplaceADatabaseWithAPool) {
  options_.pool_path = "";
  Open();
  Put("a", "1");
  Close();
  options_.pool_path = "anonymous";
  ExpectRefused(TryOpen(), path_ + "/pool");
  options_.pool_path = "";
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(VolatileSsdTest, ReportsWhatIsDamagedOrMissing) {
  Open();
  Fill(Count(), kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  Fill(Count() / 2, kValueBytes, 1);
  Close();
  const std::string log = FilesIn(logs_, ".log").front(), table = FilesIn(ssd_, ".sst").front();
  for (const std::string& path : {StorePath(), log, table}) {
    fs::copy_file(path, path + ".copy");
    if (path == StorePath()) {
      std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(40).put('x');
    } else {
      fs::remove(path);
    }
    const Status s = TryOpen();
    EXPECT_STATUS(Corruption, s);
    EXPECT_NE(std::string::npos, s.ToString().find(path == log ? logs_ : path)) << s.ToString();
    EXPECT_TRUE(fs::exists(path + ".copy"));
    fs::rename(path + ".copy", path);
  }
  Open();
  for (uint64_t i = 0; i < Count(); i += 7) {
    ASSERT_EQ(FilledValue(i, kValueBytes, i < Count() / 2 ? 1 : 0), Get(FilledKey(i)));
  }
}

TEST_F(VolatileSsdTest, ALogThatIsNotThereIsNotTakenForAnEmptyOne) {
  Open();
  Put("a", "1");
  Close();
  fs::rename(logs_, dir_ / "unmounted");
  for (const std::string& wal_dir : {logs_, std::string(dir_ / "other")}) {
    options_.wal_dir = wal_dir;
    const Status s = TryOpen();
    EXPECT_EQ(wal_dir == logs_, s.IsCorruption());
    ExpectRefused(s, logs_);
  }
  // It may be moved.
  fs::rename(dir_ / "unmounted", dir_ / "other");
  ASSERT_OK(MoveStore(path_, options_));
  Open();
  EXPECT_EQ("1", Get("a"));
  Close();
  options_.wal_dir = logs_;
  const Status s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  ExpectRefused(s, dir_ / "other");
}

TEST_F(VolatileSsdTest, WhoDoesNotGetTheLockTakesNothing) {
  Open();
  Put("a", "1");
  DB* second = nullptr;
  EXPECT_FALSE(DB::Open(options_, path_, &second).ok());
  EXPECT_TRUE(fs::exists(StorePath()));
  Open();
  EXPECT_EQ("1", Get("a"));
}

// While the log is being written once more less of it is in the pool than files may hold.
TEST_F(VolatileSsdTest, WhatTheLogMustReachNeverSinks) {
  options_.max_total_wal_size = 64 * kMiB;
  Open();
  Fill(Count(), kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  uint64_t reach = 0;
  for (int i = 0; i < 3; i++) {
    Close();
    StoreDescriptor store;
    VersionEdit state;
    ASSERT_OK(ReadStore(Env::Default(), path_, &store));
    ASSERT_TRUE(state.DecodeSsdState(store.ssd_state));
    EXPECT_GE(store.log_reach, reach);
    EXPECT_LE(state.flushed_sequence, store.log_reach);
    reach = store.log_reach;
    Open();
  }
  EXPECT_GT(reach, 0u);
}

TEST_F(VolatileSsdTest, ALogFolderIsDestroyedWithItsOwnDatabaseOnly) {
  Options other = options_;
  other.pool_path = "";
  other.ssd_path = "";
  const std::string other_path = dir_ / "other";
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(other, other_path, &db));
  ASSERT_OK(db->Put(WriteOptions(), "a", "1"));
  ASSERT_OK(db->Flush());
  db.reset();
  EXPECT_STATUS(InvalidArgument, TryOpen());  // the folder has no log file, and says whose it is
  fs::remove(logs_ + "/WAL_OWNER");
  Open();
  Put("b", "2");
  ASSERT_OK(DestroyDB(other_path, other));
  EXPECT_FALSE(fs::exists(other_path));
  Open();
  EXPECT_EQ("(b->2)", Forward(db_.get()));
  EXPECT_FALSE(DestroyDB(path_, options_).ok()) << "it is open";
}

TEST_F(VolatileSsdTest, AnOpenThatFailsLeavesNothing) {
  options_.ssd_path = dir_ / "no/such/place";
  EXPECT_FALSE(TryOpen().ok());
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_FALSE(fs::exists(logs_));
  options_.ssd_path = ssd_;
  fs::create_directories(path_ + "/STORE.tmp");  // cannot be written
  EXPECT_FALSE(TryOpen().ok());
  EXPECT_FALSE(fs::exists(logs_));
  EXPECT_FALSE(fs::exists(ssd_));
}

TEST_F(VolatileSsdTest, IsDestroyedAsAWhole) {
  Open();
  Fill(Count(), kValueBytes);
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_FALSE(fs::exists(ssd_));
  EXPECT_TRUE(!fs::exists(logs_) || fs::is_empty(logs_));
}

}  // namespace
}  // namespace miodb::test
