// Backups: that damage anywhere is found, and what is left when making or restoring a generation is cut off or fails.

#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "miodb/env.h"
#include "tests/common/environment.h"
#include "tests/common/in_child.h"
#include "tests/db/copy/backup_fixture.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

class BackupFaultsTest : public BackupTest {
 protected:
  void CutOff(uint64_t rounds);
};

// As root, a file system of one megabyte.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& path) : path_(path) {
    fs::create_directory(path);
    mounted_ = mount("none", path.c_str(), "tmpfs", 0, "size=1m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }

 private:
  const std::string path_;
  bool mounted_ = false;
};

// ---- damage

// A flipped byte anywhere in record, mark or data is found by whoever reads it, and what is restored is right.
TEST_F(BackupFaultsTest, FindsEveryFlippedByte) {
  Open();
  Put("a", std::string(200, 'x'));
  ASSERT_OK(db_->Flush());
  Put("b", "2");
  Make();
  Random random(5);
  for (const std::string& file : FilesBelow(folder_)) {
    if (file.ends_with("BACKUP.lock")) continue;
    std::string bytes;
    ASSERT_OK(ReadFileToString(Env::Default(), file, &bytes));
    const uint64_t step = bytes.size() / ByScale(300, 3000, 100000) + 1;
    for (uint64_t at = 0; at < bytes.size() && !HasFailure(); at += 1 + random.Uniform(2 * step - 1)) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.Uniform(8)));
      std::ofstream(file, std::ios::binary) << damaged;
      EXPECT_TRUE(VerifyBackup(backup_, folder_, 0).IsCorruption()) << file << " at " << at;
      if (random.OneIn(20)) {
        EXPECT_TRUE(Restore(1).IsCorruption()) << file << " at " << at;
        EXPECT_FALSE(fs::exists(copy_));
        EXPECT_FALSE(fs::exists(copy_ + ".tmp"));
      }
    }
    for (uint64_t size = 0; size < bytes.size() && !HasFailure(); size += 1 + random.Uniform(4 * step)) {
      std::ofstream(file, std::ios::binary) << bytes.substr(0, size);
      EXPECT_TRUE(VerifyBackup(backup_, folder_, 0).IsCorruption()) << file << " cut to " << size;
    }
    std::ofstream(file, std::ios::binary) << bytes;
    ASSERT_OK(VerifyBackup(backup_, folder_, 0));
  }
}

// A damaged generation can be deleted, and what others have of their own stays.
TEST_F(BackupFaultsTest, DamagedGenerationsCanBeDeleted) {
  Open();
  Put("a", "1");
  Make();
  Put("b", "2");
  Make();
  std::ofstream(folder_ + "/generations/000002") << "damaged";
  EXPECT_STATUS(Corruption, db_->CreateBackup(backup_, folder_, nullptr));
  std::vector<BackupInfo> generations;
  EXPECT_STATUS(Corruption, ListBackups(folder_, &generations));
  EXPECT_EQ(1u, generations.size());
  ASSERT_OK(DeleteBackup(folder_, 2));
  CheckAll({{1, "(a->1)"}});
  Make();
  CheckAll({{1, "(a->1)"}, {2, "(a->1)(b->2)"}});
  // Blocks that a data file has lost are copied anew.
  fs::resize_file(folder_ + "/data/000001", 10);
  Make();
  EXPECT_STATUS(Corruption, VerifyBackup(backup_, folder_, 1));
  EXPECT_OK(VerifyBackup(backup_, folder_, 3));
}

// A table file that no record names has no hash to compare with: even with the right size it is made anew.
TEST_F(BackupFaultsTest, ATableFileThatWasLeftIsNotBelieved) {
  UseSsd();
  Open();
  for (uint64_t round = 0; round < 4; round++) Fill(4000, 300, round);
  Settle();
  const std::string shown = Forward(db_.get());
  Make();
  int damaged = 0;
  for (const std::string& file : FilesBelow(folder_ + "/tables")) {
    std::string bytes;
    ASSERT_OK(ReadFileToString(Env::Default(), file, &bytes));
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    fs::remove(file);  // the database has it by another name
    std::ofstream(file, std::ios::binary) << bytes;
    damaged++;
  }
  EXPECT_GT(damaged, 0);
  fs::remove(folder_ + "/generations/000001");
  Make();
  ASSERT_OK(VerifyBackup(backup_, folder_, 1));
  EXPECT_EQ(shown, Shows(1));
}

// The database was put back to an earlier state and has drawn a number again: the name of a table file says nothing of
// the values in it.
TEST_F(BackupFaultsTest, ATableFileOfAnotherHistoryIsNotShared) {
  UseSsd();
  Open();
  for (uint64_t round = 0; round < 4; round++) Fill(4000, 300, round);
  Settle();
  Make();
  const std::string shown = Shows(1);
  const std::vector<std::string> kept = FilesBelow(folder_ + "/tables");
  ASSERT_FALSE(kept.empty());
  Close();
  int changed = 0;
  for (const std::string& file : FilesBelow(ssd_)) {
    if (!file.ends_with(".sst")) continue;
    std::string bytes;
    ASSERT_OK(ReadFileToString(Env::Default(), file, &bytes));
    bytes[100] = static_cast<char>(bytes[100] ^ 1);
    fs::remove(file);  // the folder has it by another name
    std::ofstream(file, std::ios::binary) << bytes;
    changed++;
  }
  ASSERT_GT(changed, 0);
  Open();
  const Status s = db_->CreateBackup(backup_, folder_, nullptr);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_NE(std::string::npos, s.ToString().find("put back to an earlier state")) << s.ToString();
  Close();
  EXPECT_OK(VerifyBackup(backup_, folder_, 1));
  EXPECT_EQ(kept, FilesBelow(folder_ + "/tables"));
  EXPECT_EQ(shown, Shows(1));
}

TEST_F(BackupFaultsTest, AFolderThatHasLostItsMarkStaysItsDatabases) {
  Open();
  Put("a", "1");
  Make();
  ASSERT_OK(Restore(1));
  fs::remove(folder_ + "/BACKUP");
  {
    const std::unique_ptr<DB> copy = OpenCopy();
    ASSERT_NE(nullptr, copy);
    EXPECT_STATUS(InvalidArgument, copy->CreateBackup(backup_, folder_, nullptr));
    EXPECT_FALSE(fs::exists(folder_ + "/BACKUP"));
  }
  fs::remove_all(copy_);
  Make();
  EXPECT_EQ(2u, List().size());
  CheckAll({{1, "(a->1)"}, {2, "(a->1)"}});
  // The newest record is damaged besides: an older one says whose the folder is, and then that one can be deleted.
  std::ofstream(folder_ + "/generations/000002") << "damaged";
  fs::remove(folder_ + "/BACKUP");
  EXPECT_STATUS(Corruption, db_->CreateBackup(backup_, folder_, nullptr));
  ASSERT_OK(DeleteBackup(folder_, 2));
  Make();
  CheckAll({{1, "(a->1)"}, {2, "(a->1)"}});
}

TEST_F(BackupFaultsTest, APoolWithTheNameOfTheSsdTierIsRefused) {
  Open();
  Make();
  Options options = OptionsOfCopy(copy_);
  for (const char* name : {"/ssd", "//ssd", "/./ssd"}) {
    options.pool_path = copy_ + name;
    EXPECT_STATUS(InvalidArgument, RestoreBackup(options, backup_, folder_, 1, copy_));
    EXPECT_FALSE(fs::exists(copy_ + ".tmp"));
  }
}

// A process that was forked in the midst of a call has a copy of its descriptor.
TEST_F(BackupFaultsTest, AChildKeepsNobodyFromTheFolder) {
  Open();
  Put("a", "1");
  Make();
  pid_t child = -1;
  BackupOptions options;
  options.progress = [&](uint64_t, uint64_t) {
    if (child < 0) {
      child = fork();
      if (child == 0) {
        pause();
        _exit(0);
      }
    }
    return true;
  };
  EXPECT_OK(db_->CreateBackup(options, folder_, nullptr));
  ASSERT_GT(child, 0);
  EXPECT_OK(db_->CreateBackup(backup_, folder_, nullptr));
  EXPECT_OK(DeleteBackup(folder_, 1));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST_F(BackupFaultsTest, AnSsdTierInTheDirectoryHasItsName) {
  UseSsd();
  Open();
  Put("a", "1");
  Make();
  Options options = OptionsOfCopy(copy_);
  options.ssd_path = copy_ + "/tier";
  const Status s = RestoreBackup(options, backup_, folder_, 1, copy_);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_FALSE(fs::exists(copy_));
  EXPECT_FALSE(fs::exists(copy_ + ".tmp"));
  EXPECT_EQ("(a->1)", Shows(1));
}

// ---- errors and crashes

TEST_F(BackupFaultsTest, ProgressEndsAndCancels) {
  Open();
  Fill(8000, 800);
  uint64_t last = 0, whole = 0;
  backup_.progress = [&](uint64_t done, uint64_t all) {
    EXPECT_GE(done, last);
    last = done;
    whole = all;
    return true;
  };
  const BackupInfo info = Make();
  EXPECT_EQ(info.bytes, last);
  EXPECT_EQ(info.bytes, whole);
  Fill(8000, 800, 1);
  ASSERT_OK(db_->WaitForIdle());
  backup_.progress = [](uint64_t done, uint64_t all) { return done < all; };
  EXPECT_STATUS(IOError, db_->CreateBackup(backup_, folder_, nullptr));
  EXPECT_EQ(1u, List().size());
  const uint64_t left = fs::file_size(folder_ + "/data/000002");
  EXPECT_GT(left, 0u);
  EXPECT_STATUS(IOError, VerifyBackup(backup_, folder_, 1));
  EXPECT_STATUS(IOError, Restore(1));
  EXPECT_FALSE(fs::exists(copy_ + ".tmp"));
  backup_.progress = nullptr;
  Make();
  EXPECT_LE(fs::file_size(folder_ + "/data/000002"), left + 64 * kKiB);  // what was copied was taken up
  ASSERT_OK(VerifyBackup(backup_, folder_, 0));
}

TEST_F(BackupFaultsTest, KeepsToARate) {
  Open();
  Fill(500, 1000);
  backup_.bytes_per_second = 2 * kMiB;
  const auto start = std::chrono::steady_clock::now();
  const BackupInfo info = Make();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_GE(seconds + 0.2, static_cast<double>(info.new_bytes) / (2 * kMiB));
}

TEST_F(BackupFaultsTest, OneAtATime) {
  Open();
  Fill(500, 1000);
  Make();
  Put("a", "1");
  backup_.progress = [&](uint64_t, uint64_t) {
    EXPECT_STATUS(IOError, db_->CreateBackup(BackupOptions(), folder_, nullptr));
    EXPECT_STATUS(IOError, DeleteBackup(folder_, 1));
    EXPECT_OK(VerifyBackup(BackupOptions(), folder_, 1));
    EXPECT_EQ(1u, List().size());
    return true;
  };
  Make();
  backup_.progress = [&](uint64_t, uint64_t) {
    EXPECT_STATUS(IOError, DeleteBackup(folder_, 1));
    EXPECT_OK(VerifyBackup(BackupOptions(), folder_, 2));
    return true;
  };
  EXPECT_OK(VerifyBackup(backup_, folder_, 1));
}

// A file that may not become as long as it has to be stands for a file system that is full.
TEST_F(BackupFaultsTest, AFailureLeavesWhatThereWas) {
  Open();
  Put("a", "1");
  Make();
  const std::vector<std::string> before = FilesBelow(folder_);
  Fill(4000, 800);
  rlimit whole, limit;
  ASSERT_EQ(0, getrlimit(RLIMIT_FSIZE, &whole));
  limit = whole;
  limit.rlim_cur = kMiB;
  ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
  const Status s = db_->CreateBackup(backup_, folder_, nullptr);
  const Status restored = Restore(1);
  ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &whole));
  EXPECT_STATUS(NoSpace, s);
  EXPECT_EQ(before, FilesBelow(folder_));
  EXPECT_EQ(restored.ok(), fs::exists(copy_));
  fs::remove_all(copy_);
  Make();
  EXPECT_EQ("(a->1)", Shows(1));
  ASSERT_OK(VerifyBackup(backup_, folder_, 0));
}

TEST_F(BackupFaultsTest, AFullDiskLeavesWhatThereWas) {
  const std::string place = dir_ / "small";
  const SmallDisk disk(place);
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount a tmpfs: " << strerror(errno);
  Open();
  Put("a", "1");
  BackupInfo info;
  ASSERT_OK(db_->CreateBackup(backup_, place + "/backup", &info));
  const std::vector<std::string> before = FilesBelow(place);
  Fill(4000, 800);
  const Status s = db_->CreateBackup(backup_, place + "/backup", &info);
  EXPECT_NE(std::string::npos, s.ToString().find("No space left")) << s.ToString();
  EXPECT_EQ(before, FilesBelow(place));
  EXPECT_OK(VerifyBackup(backup_, place + "/backup", 0));
  Make();
  for (const std::string pool : {"", "/pool"}) {
    Options options = OptionsOfCopy(copy_);
    if (!pool.empty()) options.pool_path = place + pool;
    const std::string directory = pool.empty() ? place + "/copy" : copy_;
    EXPECT_FALSE(RestoreBackup(options, backup_, folder_, 0, directory).ok());
    EXPECT_EQ(before, FilesBelow(place));
    EXPECT_FALSE(fs::exists(directory));
    EXPECT_FALSE(fs::exists(directory + ".tmp"));
  }
}

// A restore that is killed at any moment leaves nothing that keeps the next one from its work.
TEST_F(BackupFaultsTest, RestoringIsRepeatedAfterAKill) {
  UseSsd();
  Open();
  const uint64_t count = 5 * kMiB / kValueBytes;
  Fill(count, kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_GT(Counter("ssd-files"), 0u);
  Make();
  Close();
  Random random(13);
  Options options = OptionsOfCopy(copy_);
  options.pool_path = dir_ / "restored_pool";
  options.ssd_path = dir_ / "restored_ssd";
  for (uint64_t round = 0; round < ByScale(20, 100, 500) && !HasFailure(); round++) {
    const uint64_t share = random.Uniform(1100);
    const int status = InChild([&] {
      BackupOptions dies;
      dies.progress = [&](uint64_t done, uint64_t all) {
        if (done * 1000 >= all * share) kill(getpid(), SIGKILL);
        return true;
      };
      std::thread([share] {
        std::this_thread::sleep_for(std::chrono::microseconds(share * 30));
        kill(getpid(), SIGKILL);
      }).detach();
      return RestoreBackup(options, dies, folder_, 1, copy_).ok() ? 0 : 1;
    });
    ASSERT_TRUE(status == 0 || status == 1000 + SIGKILL) << status;
    if (round % 3 != 2 && !fs::exists(copy_)) continue;  // what several leave is the next one's
    if (!fs::exists(copy_)) ASSERT_OK(RestoreBackup(options, backup_, folder_, 1, copy_));
    DB* opened = nullptr;
    ASSERT_OK(DB::Open(options, copy_, &opened));
    db_.reset(opened);
    for (uint64_t i = 0; i < count; i += 97) ASSERT_EQ(FilledValue(i, kValueBytes, 0), Get(FilledKey(i))) << i;
    Close();
    ASSERT_OK(DestroyDB(copy_, options));
    for (const std::string& path : {copy_ + ".tmp", copy_, options.pool_path, options.ssd_path}) {
      ASSERT_FALSE(fs::exists(path)) << path;
    }
  }
}

// Kills a process at some byte of making a generation, again and again. Power loss may leave less of the files that it
// was writing: so these are cut to any length.
void BackupFaultsTest::CutOff(uint64_t rounds) {
  Random random(12);
  Model model(BytewiseComparator());
  std::map<uint64_t, std::string> models;
  for (uint64_t round = 0; round < rounds && !HasFailure(); round++) {
    Open();
    WriteSome(&random, static_cast<int>(random.Uniform(150)), &model);
    if (random.OneIn(3)) Fill(random.Uniform(3000), 700, static_cast<int>(round));
    if (random.OneIn(4)) ASSERT_OK(db_->Flush());
    const std::string now = Forward(db_.get());
    Close();
    const uint64_t share = random.Uniform(1200);
    const uint64_t micros = random.Uniform(4000);
    const int status = InChild([&] {
      Open();
      BackupOptions dies;
      dies.progress = [&](uint64_t done, uint64_t all) {
        if (done * 1000 >= all * share) kill(getpid(), SIGKILL);
        return true;
      };
      if (random.OneIn(3)) {
        dies.progress = nullptr;
        std::thread([micros] {
          std::this_thread::sleep_for(std::chrono::microseconds(micros));
          kill(getpid(), SIGKILL);
        }).detach();
      }
      db_->CreateBackup(dies, folder_, nullptr).IgnoreError();
      return 0;
    });
    ASSERT_TRUE(status == 0 || status == 1000 + SIGKILL) << status;
    const uint64_t next = models.empty() ? 1 : models.rbegin()->first + 1;
    char name[16];
    snprintf(name, sizeof(name), "/%06d", static_cast<int>(next));
    const std::string data = folder_ + "/data" + name, record = folder_ + "/generations" + name;
    if (fs::exists(record)) {
      models[next] = now;
    } else {
      for (const std::string& file : {data, record + ".tmp"}) {
        if (fs::exists(file) && random.OneIn(2)) fs::resize_file(file, random.Uniform(fs::file_size(file) + 1));
      }
    }
    if (fs::exists(folder_ + "/BACKUP")) CheckAll(models);
    if (!random.OneIn(3)) continue;  // what several leave is the next one's, too
    Open();
    models[Make().generation] = now;
    Close();
    CheckAll(models);
    while (models.size() > 3) {
      ASSERT_OK(DeleteBackup(folder_, models.begin()->first));
      models.erase(models.begin());
    }
  }
  EXPECT_FALSE(models.empty());
}

TEST_F(BackupFaultsTest, CutOffLeavesAllOrNothing) { CutOff(ByScale(25, 100, 500)); }

TEST_F(BackupFaultsTest, CutOffOverAnSsdTierLeavesAllOrNothing) {
  UseSsd();
  CutOff(ByScale(8, 40, 200));
}

}  // namespace
}  // namespace miodb::test
