// Disk space comes back: what is free is given to the file system while a database is open and when it is closed, and
// neither a reader nor a crash notices.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "src/db/open/db_impl.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;

uint64_t BytesOnDisk(const std::string& path) {
  struct stat st;
  return stat(path.c_str(), &st) == 0 ? static_cast<uint64_t>(st.st_blocks) * 512 : 0;
}

class GiveBackTest : public DbTestBase, public testing::WithParamInterface<LogMode> {
 protected:
  GiveBackTest() {
    options_ = Options();
    options_.create_if_missing = true;
    options_.log_mode = GetParam();
    options_.write_buffer_size = 2 * kMiB;
    options_.partition_size = 4 * kMiB;
  }

  std::string PoolFile() const { return path_ + "/pool"; }

  // Opens with a window of so many microseconds, instead of ten seconds.
  void OpenWithWindow(uint64_t micros) {
    db_.reset();
    DBImpl::Hooks hooks;
    hooks.give_back_micros = micros;
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(DBImpl::Open(options_, path_, hooks, &db));
    db_ = std::move(db);
  }

  // Writes, overwrites twice, deletes all but every hundredth.
  void WriteAndDelete(uint64_t count) {
    for (uint64_t round = 0; round < 3; round++) Fill(count, kKiB, round);
    for (uint64_t i = 0; i < count; i++) {
      if (i % 100 != 0) Delete(FilledKey(i));
    }
    ASSERT_OK(db_->WaitForIdle());
  }

  void CheckKept(uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
      ASSERT_TRUE(Get(FilledKey(i)) == (i % 100 == 0 ? FilledValue(i, kKiB, 2) : kNotFound)) << i;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(LogModes, GiveBackTest, testing::Values(kLogPmem, kLogOff, kLogFile),
                         [](const testing::TestParamInfo<LogMode>& mode) {
                           return std::string(mode.param == kLogPmem  ? "log_in_pool"
                                              : mode.param == kLogOff ? "log_off"
                                                                      : "log_in_files");
                         });

TEST_P(GiveBackTest, ACloseGivesBackWhatIsFree) {
  const uint64_t count = ByScale(20000, 50000, 500000);
  OpenWithWindow(UINT64_MAX);
  WriteAndDelete(count);
  const uint64_t before = BytesOnDisk(PoolFile());
  ASSERT_GT(before, count * kKiB) << "nothing to give back";
  const uint64_t live = count / 100 * kKiB;
  Close();
  EXPECT_LE(BytesOnDisk(PoolFile()), 2 * (live + kMiB));
  Open();
  CheckKept(count);
  Fill(count, kKiB, 7);
  CheckFilled(count, kKiB, 7);
  Close();
  Open();
  CheckFilled(count, kKiB, 7);
}

TEST_P(GiveBackTest, OfADatabaseThatWasEmptiedLittleIsLeft) {
  const uint64_t count = ByScale(20000, 100000, 500000);
  OpenWithWindow(UINT64_MAX);
  for (uint64_t round = 0; round < 3; round++) Fill(count, kKiB, round);
  for (uint64_t i = 0; i < count; i++) Delete(FilledKey(i));
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_GT(BytesOnDisk(PoolFile()), count * kKiB) << "nothing to give back";
  Open();
  EXPECT_LE(BytesOnDisk(PoolFile()), kMiB) << "of " << 3 * count * kKiB << " bytes that were written";
  EXPECT_EQ("", Forward(db_.get()));
}

TEST_P(GiveBackTest, WhatStaysFreeIsGivenBackWhileTheDatabaseIsOpen) {
  const uint64_t count = ByScale(20000, 50000, 500000);
  OpenWithWindow(20 * 1000);
  WriteAndDelete(count);
  const uint64_t live = count / 100 * kKiB;
  const auto start = std::chrono::steady_clock::now();
  // What is kept besides: chunks that are ready, and as much as is in use.
  while (BytesOnDisk(PoolFile()) > 2 * live + 8 * kMiB) {
    ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60)) << BytesOnDisk(PoolFile());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CheckKept(count);
  Fill(count, kKiB, 7);
  CheckFilled(count, kKiB, 7);
}

// A call that wants everything compacted gives back what is free before it returns.
TEST_P(GiveBackTest, CompactRangeGivesBackAtOnce) {
  const uint64_t count = ByScale(20000, 50000, 500000);
  OpenWithWindow(UINT64_MAX);
  WriteAndDelete(count);
  ASSERT_GT(BytesOnDisk(PoolFile()), count * kKiB) << "nothing to give back";
  db_->CompactRange(nullptr, nullptr);
  EXPECT_LE(BytesOnDisk(PoolFile()), 2 * (count / 100 * kKiB + kMiB));
  CheckKept(count);
  Fill(count, kKiB, 7);
  CheckFilled(count, kKiB, 7);
}

// Deletes alone make work due: what they hide goes although the memtable that has them is not full, and what is free
// goes back although it was not free for long.
TEST_P(GiveBackTest, AQuietDatabaseGivesBackWhatIsFree) {
  const uint64_t count = ByScale(20000, 50000, 500000);
  options_.settle_after_idle_ms = 50;
  OpenWithWindow(UINT64_MAX);
  Fill(count, kKiB, 2);
  for (uint64_t i = 0; i < count; i++) {
    if (i % 100 != 0) Delete(FilledKey(i));
  }
  const auto start = std::chrono::steady_clock::now();
  while (BytesOnDisk(PoolFile()) > 2 * (count / 100 * kKiB + kMiB)) {
    ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60)) << BytesOnDisk(PoolFile());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CheckKept(count);
  Fill(count, kKiB, 7);
  CheckFilled(count, kKiB, 7);
}

// Chunks that are ready in a small database have sizes that are no power of two, or are too small for its values. At
// rest they are dropped and prepared once, and not again and again.
TEST_P(GiveBackTest, ADatabaseOfAnySizeComesToRest) {
  options_.settle_after_idle_ms = 50;
  options_.log_chunk_size = 0;
  for (const uint64_t buffer : {uint64_t{10} << 20, uint64_t{10000000}, uint64_t{64} << 20}) {
    for (const size_t value_bytes : {size_t{1000}, size_t{100000}}) {
      SCOPED_TRACE(std::to_string(buffer) + ", " + std::to_string(value_bytes));
      path_ = dir_ / (std::to_string(buffer) + "_" + std::to_string(value_bytes));
      options_.write_buffer_size = buffer;
      OpenWithWindow(UINT64_MAX);
      Fill(20000000 / value_bytes, value_bytes);
      db_->CompactRange(nullptr, nullptr);
      // Every chunk that comes or goes is an edit.
      const auto start = std::chrono::steady_clock::now();
      uint64_t before = 0, now = Counter("nvm-bytes-manifest");
      do {
        ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
        before = now;
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        now = Counter("nvm-bytes-manifest");
      } while (now != before);
      Close();
    }
  }
}

// Space that an iterator or a pinned value holds is not free.
TEST_P(GiveBackTest, ReadersKeepWhatTheySee) {
  const uint64_t count = ByScale(5000, 20000, 100000);
  OpenWithWindow(0);
  Fill(count, kKiB, 2);
  ASSERT_OK(db_->Flush());
  {
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    PinnableSlice pinned;
    ASSERT_OK(db_->Get(ReadOptions(), FilledKey(77), &pinned));
    WriteAndDelete(count);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_TRUE(pinned == Slice(FilledValue(77, kKiB, 2)));
    uint64_t seen = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), seen++) {
      ASSERT_TRUE(it->value() == Slice(FilledValue(seen, kKiB, 2))) << seen;
    }
    EXPECT_EQ(count, seen);
  }
  CheckKept(count);
}

// ---- Crashes

constexpr uint64_t kKeys = 300;

std::string KeyOf(uint64_t op) { return FilledKey(Random(op).Uniform(kKeys)); }

// Of an update, which is a function of its number; "" deletes.
std::string ValueOf(uint64_t op) {
  Random random(op + 1000000);
  if (random.OneIn(3)) return "";
  return std::string(1 + random.Uniform(32 * kKiB), static_cast<char>('a' + op % 26));
}

void ApplyTo(std::map<std::string, std::string>* model, uint64_t op) {
  const std::string value = ValueOf(op);
  if (value.empty()) {
    model->erase(KeyOf(op));
  } else {
    (*model)[KeyOf(op)] = value;
  }
}

// Makes updates from number first on and counts those that were acknowledged, until it is killed.
[[noreturn]] void WriteUntilKilled(const Options& options, const std::string& path, uint64_t first,
                                   std::atomic<uint64_t>* acknowledged) {
  DBImpl::Hooks hooks;
  hooks.give_back_micros = 0;
  std::unique_ptr<DBImpl> db;
  if (!DBImpl::Open(options, path, hooks, &db).ok()) _exit(1);
  for (uint64_t op = first;; op++) {
    const std::string value = ValueOf(op);
    const Status s = value.empty() ? db->Delete(WriteOptions(), KeyOf(op)) : db->Put(WriteOptions(), KeyOf(op), value);
    if (!s.ok()) _exit(2);
    acknowledged->store(op + 1);
    if (op % 64 == 0) usleep(1000);
  }
}

TEST(GiveBackCrashTest, AKilledProcessLosesNothingWhileSpaceIsGivenBack) {
  const TestDir dir;
  Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 256 * kKiB;
  options.partition_size = 512 * kKiB;
  options.pool_growth = 256 * kKiB;
  void* const shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, shared);
  auto* const acknowledged = new (shared) std::atomic<uint64_t>(0);
  std::map<std::string, std::string> model;
  uint64_t done = 0;
  Random random(5);
  for (uint64_t round = 0; round < ByScale(8, 30, 300); round++) {
    SCOPED_TRACE("round " + std::to_string(round));
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) WriteUntilKilled(options, dir / "db", done, acknowledged);
    usleep(static_cast<useconds_t>((100 + random.Uniform(300)) * 1000));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the writer ended by itself: " << status;
    for (; done < acknowledged->load(); done++) ApplyTo(&model, done);
    std::unique_ptr<DB> db;
    ASSERT_OK(OpenDb(options, dir / "db", &db));
    // The update under way may have made it.
    std::string value;
    const Status s = db->Get(ReadOptions(), KeyOf(done), &value);
    ASSERT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
    if (value == ValueOf(done)) {
      ApplyTo(&model, done);
      done++;
    }
    std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    auto expected = model.begin();
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++expected) {
      ASSERT_NE(model.end(), expected);
      ASSERT_EQ(expected->first, it->key().ToString());
      ASSERT_TRUE(it->value() == Slice(expected->second)) << expected->first;
    }
    ASSERT_OK(it->status());
    ASSERT_EQ(model.end(), expected);
  }
  munmap(shared, 4096);
}

}  // namespace
}  // namespace miodb::test
