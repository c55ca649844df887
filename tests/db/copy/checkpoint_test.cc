// Checkpoints: that each is a database of its own with what was there at the call, that the original is left as it was,
// and what is left when making one fails or is cut off. copies_test.cc has the promises of every kind of copy.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "miodb/env.h"
#include "src/util/clock/clock.h"
#include "tests/common/environment.h"
#include "tests/common/in_child.h"
#include "tests/common/random/model_test_base.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

class CheckpointTest : public ModelTestBase {
 protected:
  CheckpointTest() : copy_(dir_ / "copy") {}

  void CutOff(uint64_t count, uint64_t rounds, uint64_t most_micros);

  void Make() { ASSERT_OK(db_->CreateCheckpoint(copy_)); }
  using ModelTestBase::OpenCopy;
  std::unique_ptr<DB> OpenCopy() const { return OpenCopy(copy_); }

  static std::vector<std::string> NamesIn(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  const std::string copy_;
};

TEST_F(CheckpointTest, IsADatabaseOfItsOwn) {
  Open();
  Put("a", "1");
  Put("b", "2");
  ASSERT_OK(db_->Flush());
  Put("c", "3");
  Make();
  EXPECT_EQ((std::vector<std::string>{"STORE", "pool"}), NamesIn(copy_));
  EXPECT_FALSE(fs::exists(copy_ + ".tmp"));
  Put("a", "4");
  Delete("b");
  std::unique_ptr<DB> copy = OpenCopy();
  ASSERT_NE(nullptr, copy);
  EXPECT_EQ("(a->1)(b->2)(c->3)", Forward(copy.get()));
  // Beside the original, which it has nothing in common with.
  ASSERT_OK(copy->Put(WriteOptions(), "d", "5"));
  ASSERT_OK(copy->Flush());
  copy->CompactRange(nullptr, nullptr);
  EXPECT_EQ("(a->4)(c->3)", Forward(db_.get()));
  const std::string second = dir_ / "second";
  ASSERT_OK(copy->CreateCheckpoint(second + "/"));
  copy.reset();
  copy = OpenCopy();
  EXPECT_EQ("(a->1)(b->2)(c->3)(d->5)", Forward(copy.get()));
  EXPECT_EQ("(a->1)(b->2)(c->3)(d->5)", Forward(OpenCopy(second).get()));
}

TEST_F(CheckpointTest, CanBeMovedAndDestroyed) {
  Open();
  Fill(300, 100);
  Make();
  const std::string moved = dir_ / "moved";
  fs::rename(copy_, moved);
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  CheckFilledIn(OpenCopy(moved), 300, 100);
  ASSERT_OK(DestroyDB(moved, OptionsOfCopy(moved)));
  EXPECT_FALSE(fs::exists(moved));
}

TEST_F(CheckpointTest, LeavesTheOriginalAsItWas) {
  Open();
  Fill(2000, 200);
  ASSERT_OK(db_->WaitForIdle());
  // A chunk that is made ready meanwhile is none of the checkpoint's.
  const uint64_t most = Counter("pool-bytes-used") + options_.write_buffer_size;
  Make();
  EXPECT_LE(Counter("pool-bytes-used"), most);
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_LE(Counter("pool-bytes-used"), most);
  CheckFilled(2000, 200);
}

TEST_F(CheckpointTest, OverAnSsdTierSharesItsFiles) {
  UseSsd();
  Open();
  const uint64_t count = 8 * kMiB / kValueBytes;
  Fill(count, kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_GT(Counter("ssd-files"), 0u);
  Fill(100, kValueBytes);
  Make();
  EXPECT_EQ((std::vector<std::string>{"STORE", "pool", "ssd"}), NamesIn(copy_));
  const std::vector<std::string> files = FilesIn(copy_ + "/ssd", ".sst");
  ASSERT_FALSE(files.empty());
  for (const std::string& file : files) EXPECT_EQ(2u, fs::hard_link_count(file)) << file;
  Fill(count, kValueBytes, 1);
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(fs::exists(ssd_));
  for (int opened = 0; opened < 2; opened++) CheckFilledIn(OpenCopy(), count, kValueBytes);
  db_ = OpenCopy();
  ASSERT_NE(nullptr, db_);
  Fill(count, kValueBytes, 2);
  CheckFilled(count, kValueBytes, 2);
  Close();
  ASSERT_OK(DestroyDB(copy_, OptionsOfCopy(copy_)));
  EXPECT_FALSE(fs::exists(copy_));
}

TEST_F(CheckpointTest, RefusesDirectoriesThatAreThereOrCannotBe) {
  Open();
  Put("a", "1");
  fs::create_directory(copy_);
  Status s = db_->CreateCheckpoint(copy_);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_NE(std::string::npos, s.ToString().find("exists")) << s.ToString();
  EXPECT_TRUE(NamesIn(copy_).empty());
  EXPECT_FALSE(fs::exists(copy_ + ".tmp"));
  EXPECT_STATUS(InvalidArgument, db_->CreateCheckpoint(dir_ / "missing/copy"));
  EXPECT_FALSE(fs::exists(dir_ / "missing"));
  EXPECT_STATUS(InvalidArgument, db_->CreateCheckpoint(""));
  EXPECT_STATUS(InvalidArgument, db_->CreateCheckpoint(path_));
}

// What lies where the checkpoint would be made is somebody's, unless it says otherwise.
TEST_F(CheckpointTest, LeavesWhatIsNotACheckpointInTheMaking) {
  Open();
  fs::create_directory(copy_ + ".tmp");
  std::ofstream(copy_ + ".tmp/mine") << "mine";
  EXPECT_STATUS(InvalidArgument, db_->CreateCheckpoint(copy_));
  EXPECT_EQ((std::vector<std::string>{"mine"}), NamesIn(copy_ + ".tmp"));
  fs::remove(copy_ + ".tmp/mine");
  Make();  // an empty one is what a crash may leave
  EXPECT_EQ("", ContentOf(OpenCopy()));
}

// What is left of one is emptied, but nothing behind a link in it.
TEST_F(CheckpointTest, EmptiesNothingBehindALink) {
  Open();
  Put("a", "1");
  const std::string other = dir_ / "other", left = copy_ + ".tmp";
  fs::create_directory(other);
  std::ofstream(other + "/precious") << "bytes";
  fs::create_directory(left);
  std::ofstream(left + "/CHECKPOINT") << "";
  fs::create_directory_symlink(other, left + "/ssd");
  Make();
  EXPECT_TRUE(fs::exists(other + "/precious"));
  EXPECT_FALSE(fs::exists(copy_ + "/ssd"));
}

TEST_F(CheckpointTest, RefusesNamesOfCheckpointsInTheMaking) {
  Open();
  EXPECT_TRUE(db_->CreateCheckpoint(copy_ + ".tmp").IsInvalidArgument());
  EXPECT_FALSE(fs::exists(copy_ + ".tmp"));
}

TEST_F(CheckpointTest, NotWithAnEnvOfTheUsers) {
  EnvWrapper env(Env::Default());
  options_.env = &env;
  Open();
  EXPECT_TRUE(db_->CreateCheckpoint(copy_).IsNotSupportedError());
  db_.reset();
  options_.env = Env::Default();
}

TEST_F(CheckpointTest, LeavesNothingOnAFullFileSystem) {
  const std::string target = dir_ / "mount";
  fs::create_directory(target);
  if (mount("miodb_test", target.c_str(), "tmpfs", 0, "size=262144") != 0) {
    GTEST_SKIP() << "cannot mount a tmpfs: " << strerror(errno);
  }
  Open();
  Fill(2000, 400);
  ASSERT_OK(db_->WaitForIdle());
  // The thread that prepares may have something more ready at the second reading, which is no part of the copies'. That
  // is less than all of them together would leave if each left a unit.
  const uint64_t before = Counter("pool-bytes-used");
  const uint64_t prepared = 64 * kKiB;
  for (int i = 0; i < 20; i++) {
    const Status s = db_->CreateCheckpoint(target + "/copy");
    EXPECT_STATUS(NoSpace, s);
    EXPECT_TRUE(NamesIn(target).empty());
  }
  umount2(target.c_str(), MNT_DETACH);
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_LE(before, Counter("pool-bytes-used"));
  EXPECT_GE(before + prepared, Counter("pool-bytes-used"));
  Make();
  CheckFilled(2000, 400);
}

// ulimit -f
TEST_F(CheckpointTest, LeavesNothingWhereFilesMayNotBeAsLarge) {
  const int exit = InChild([&] {
    Open();
    Fill(2000, 400);
    const struct rlimit limit = {256 * kKiB, 256 * kKiB};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    const Status s = db_->CreateCheckpoint(copy_);
    if (!s.IsNoSpace()) return 3;
    return fs::exists(copy_) || fs::exists(copy_ + ".tmp") ? 4 : 0;
  });
  EXPECT_EQ(0, exit);
}

// Files of another file system are copied.
TEST_F(CheckpointTest, OnAnotherFileSystemCopiesFiles) {
  const std::string target = dir_ / "mount";
  fs::create_directory(target);
  if (mount("miodb_test", target.c_str(), "tmpfs", 0, "size=67108864") != 0) {
    GTEST_SKIP() << "cannot mount a tmpfs: " << strerror(errno);
  }
  UseSsd();
  Open();
  const uint64_t count = 8 * kMiB / kValueBytes;
  Fill(count, kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  const std::string there = target + "/copy";
  EXPECT_OK(db_->CreateCheckpoint(there));
  CheckFilledIn(OpenCopy(there), count, kValueBytes);
  umount2(target.c_str(), MNT_DETACH);
}

TEST_F(CheckpointTest, SeveralAtOnce) {
  Open();
  Fill(1000, 200);
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      const Status s = db_->CreateCheckpoint(t < 2 ? copy_ : copy_ + std::to_string(t));
      if (s.ok()) made++;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(3, made.load());
  for (const std::string& name : {copy_, copy_ + "2", copy_ + "3"}) CheckFilledIn(OpenCopy(name), 1000, 200);
  EXPECT_FALSE(fs::exists(copy_ + ".tmp"));
}

// Kills a process at some moment of making a checkpoint, again and again; most_micros: after so long at most, or after
// as long as two of them take where that is longer.
void CheckpointTest::CutOff(uint64_t count, uint64_t rounds, uint64_t most_micros) {
  Open();
  Fill(count, kValueBytes);
  const uint64_t begin = NowMicros();
  Make();
  most_micros = std::max(most_micros, 2 * (NowMicros() - begin));
  Close();
  ASSERT_OK(DestroyDB(copy_, OptionsOfCopy(copy_)));
  Random random(11);
  int whole = 0;
  for (uint64_t round = 0; round < rounds && !HasFailure(); round++) {
    int ready[2];
    ASSERT_EQ(0, pipe(ready));
    const pid_t child = fork();
    if (child == 0) {
      Open();
      if (write(ready[1], "r", 1) != 1) _exit(1);
      db_->CreateCheckpoint(copy_).IgnoreError();
      pause();
    }
    char byte;
    ASSERT_EQ(1, read(ready[0], &byte, 1));
    close(ready[0]);
    close(ready[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(random.Uniform(random.OneIn(2) ? 2000 : most_micros)));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    if (fs::exists(copy_)) {
      whole++;
      CheckFilledIn(OpenCopy(), count, kValueBytes);
      ASSERT_OK(DestroyDB(copy_, OptionsOfCopy(copy_)));
      ASSERT_FALSE(fs::exists(copy_));
    }
    if (round % 4 != 3) continue;  // what several leave is the next one's to remove, too
    Open();
    Make();
    CheckFilled(count, kValueBytes);
    Close();
    ASSERT_OK(DestroyDB(copy_, OptionsOfCopy(copy_)));
    ASSERT_FALSE(fs::exists(copy_));
    ASSERT_FALSE(fs::exists(copy_ + ".tmp"));
  }
  EXPECT_GT(whole, 0);
}

TEST_F(CheckpointTest, CutOffLeavesAllOrNothing) { CutOff(1000, ByScale(30, 200, 1000), 12000); }

TEST_F(CheckpointTest, CutOffOverAnSsdTierLeavesAllOrNothing) {
  UseSsd();
  CutOff(8 * kMiB / kValueBytes, ByScale(15, 100, 500), 40000);
}

}  // namespace
}  // namespace miodb::test
