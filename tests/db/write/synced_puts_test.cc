// Synced puts in a pool on an ordinary disk: what a sync makes the kernel write.

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "tests/common/db_test_base.h"
#include "tests/common/in_child.h"

namespace miodb::test {
namespace {

// Bytes that this process has made dirty, which the kernel writes sooner or later.
uint64_t BytesDirtied() {
  std::ifstream io("/proc/self/io");
  std::string name;
  uint64_t bytes;
  while (io >> name >> bytes) {
    if (name == "write_bytes:") return bytes;
  }
  return 0;
}

// A directory below the one that the test runs in, which is on an ordinary disk more often than the others are.
class SyncedPutsTest : public testing::Test {
 protected:
  SyncedPutsTest() {
    char name[] = "synced_puts_XXXXXX";
    if (mkdtemp(name) != nullptr) folder_ = name;
  }
  ~SyncedPutsTest() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  // Others are left as they are (RegionFile::Zero).
  bool OnExt4() const {
    struct statfs fs;
    return !folder_.empty() && statfs(folder_.c_str(), &fs) == 0 && fs.f_type == EXT4_SUPER_MAGIC;
  }

  std::string folder_;
};

constexpr int kLoaded = 16000, kSynced = 500, kRounds = 3;
constexpr uint64_t kMostBytes = 64 << 10;  // for each synced put of a KiB, with the chunks that are made meanwhile

std::string SyncedValue(int round, int i) {
  return std::string(1000, static_cast<char>('a' + round)) + std::to_string(i);
}

// Puts that are not synced come first, so that the log has chunks with the largest pages of the file system; more of
// them between the synced ones take the rest of a chunk, and the next. The database is left open.
void PutInRounds(const std::string& name) {
  Options options;
  options.create_if_missing = true;
  std::unique_ptr<DB> opened;
  ASSERT_OK(OpenDb(options, name, &opened));
  DB* const db = opened.release();
  WriteOptions synced;
  synced.sync = true;
  for (int round = 0; round < kRounds; round++) {
    for (int i = 0; i < kLoaded; i++) {
      ASSERT_OK(db->Put(WriteOptions(), "loaded" + std::to_string(i), std::string(1000, 'l')));
    }
    for (int i = 0; i < 2; i++) ASSERT_OK(db->Put(synced, "first", "of the round, which write what is dirty"));
    const uint64_t before = BytesDirtied();
    for (int i = 0; i < kSynced; i++) ASSERT_OK(db->Put(synced, "synced" + std::to_string(i), SyncedValue(round, i)));
    const uint64_t dirtied = BytesDirtied() - before;
    EXPECT_LT(dirtied, kSynced * kMostBytes) << "round " << round;
  }
}

// What is written ahead of synced frames, and divided behind them, takes nothing of them away: the process ends with
// all of the last round in the log.
TEST_F(SyncedPutsTest, ASyncWritesItsFramesAndNotAHugePage) {
  if (!OnExt4()) GTEST_SKIP() << "not on ext4";
  if (!std::filesystem::exists("/proc/self/io")) GTEST_SKIP() << "the kernel does not count";
  const std::string name = folder_ + "/db";
  ASSERT_EQ(0, InChild([&] {
              PutInRounds(name);
              return HasFailure() ? 1 : 0;
            }));
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(Options(), name, &db));
  std::string value;
  for (int i = 0; i < kSynced; i++) {
    ASSERT_OK(db->Get(ReadOptions(), "synced" + std::to_string(i), &value));
    EXPECT_EQ(SyncedValue(kRounds - 1, i), value);
  }
}

}  // namespace
}  // namespace miodb::test
