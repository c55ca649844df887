// Synced puts in a pool on an ordinary disk: what a sync makes the kernel write.

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/common/db_test_base.h"

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

  bool OnDisk() const {
    struct statfs fs;
    return !folder_.empty() && statfs(folder_.c_str(), &fs) == 0 && fs.f_type != TMPFS_MAGIC;
  }

  std::string folder_;
};

// Puts that are not synced come first, so that the log has chunks with the largest pages of the file system; more of
// them between the synced ones take the rest of a chunk, and the next.
TEST_F(SyncedPutsTest, ASyncWritesItsFramesAndNotAHugePage) {
  if (!OnDisk()) GTEST_SKIP() << "not on a disk";
  if (!std::filesystem::exists("/proc/self/io")) GTEST_SKIP() << "the kernel does not count";
  constexpr int kLoaded = 16000, kSynced = 500, kRounds = 3;
  constexpr uint64_t kMostBytes = 64 << 10;  // for each synced put of a KiB, with the chunks that are made meanwhile
  Options options;
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(options, folder_ + "/db", &db));
  WriteOptions synced;
  synced.sync = true;
  for (int round = 0; round < kRounds; round++) {
    for (int i = 0; i < kLoaded; i++) {
      ASSERT_OK(db->Put(WriteOptions(), "loaded" + std::to_string(i), std::string(1000, 'l')));
    }
    ASSERT_OK(db->Put(synced, "first", "of the round, which writes what is dirty"));
    const uint64_t before = BytesDirtied();
    for (int i = 0; i < kSynced; i++) {
      ASSERT_OK(db->Put(synced, "synced" + std::to_string(i), std::string(1000, static_cast<char>('a' + round))));
    }
    const uint64_t dirtied = BytesDirtied() - before;
    EXPECT_LT(dirtied, kSynced * kMostBytes) << "round " << round;
  }
  db.reset();
  ASSERT_OK(OpenDb(options, folder_ + "/db", &db));
  std::string value;
  for (int i = 0; i < kSynced; i++) {
    ASSERT_OK(db->Get(ReadOptions(), "synced" + std::to_string(i), &value));
    EXPECT_EQ(std::string(1000, 'a' + kRounds - 1), value);
  }
}

}  // namespace
}  // namespace miodb::test
