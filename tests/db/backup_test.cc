// Backups: that every generation restores to what the database had at the call, that a generation copies little more
// than what is new, that damage anywhere is found, and what is left when making one is cut off or fails.

#include "miodb/backup.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "miodb/env.h"
#include "tests/common/environment.h"
#include "tests/common/in_child.h"
#include "tests/common/model_test_base.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

uint64_t BytesBelow(const std::string& folder) {
  uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

class BackupTest : public ModelTestBase {
 protected:
  BackupTest() : folder_(dir_ / "backup"), copy_(dir_ / "copy") {}

  BackupInfo Make() {
    BackupInfo info;
    EXPECT_OK(db_->CreateBackup(backup_, folder_, &info));
    return info;
  }

  std::vector<BackupInfo> List() const {
    std::vector<BackupInfo> generations;
    EXPECT_OK(ListBackups(folder_, &generations));
    return generations;
  }

  Options OptionsOf(const std::string& directory) const {
    Options options = options_;
    options.create_if_missing = false;
    options.pool_path.clear();
    options.nvm_regions.clear();
    options.wal_dir.clear();
    options.ssd_path = options_.ssd_path.empty() ? "" : directory + "/ssd";
    return options;
  }

  std::unique_ptr<DB> OpenCopy() const {
    DB* db = nullptr;
    EXPECT_OK(DB::Open(OptionsOf(copy_), copy_, &db));
    return std::unique_ptr<DB>(db);
  }

  Status Restore(uint64_t generation) { return RestoreBackup(OptionsOf(copy_), backup_, folder_, generation, copy_); }

  // What a generation has.
  std::string Shows(uint64_t generation) {
    const Status s = Restore(generation);
    if (!s.ok()) return s.ToString();
    std::string forward = "cannot be opened";
    {
      const std::unique_ptr<DB> copy = OpenCopy();
      if (copy != nullptr) forward = Forward(copy.get());
    }
    fs::remove_all(copy_);
    EXPECT_FALSE(fs::exists(copy_ + ".tmp"));
    return forward;
  }

  // All that is listed, against what each has to have.
  void CheckAll(const std::map<uint64_t, std::string>& models) {
    ASSERT_OK(VerifyBackup(backup_, folder_, 0));
    const std::vector<BackupInfo> generations = List();
    ASSERT_EQ(models.size(), generations.size());
    for (const BackupInfo& info : generations) {
      ASSERT_EQ(1u, models.count(info.generation)) << info.generation;
      ASSERT_EQ(models.at(info.generation), Shows(info.generation)) << info.generation;
    }
  }

  // Generations of a database that flushes, merges and is opened again between writes, some of which are deleted.
  void CheckAtRandom(uint64_t seed, int rounds) {
    Random random(seed);
    Model model(BytewiseComparator());
    const bool closes = options_.pool_path != "anonymous";
    std::map<uint64_t, std::string> models;
    for (int round = 0; round < rounds && !HasFailure(); round++) {
      WriteSome(&random, static_cast<int>(random.Uniform(200)), &model);
      if (random.OneIn(4)) ASSERT_OK(db_->Flush());
      if (random.OneIn(6)) Settle();
      if (closes && random.OneIn(6)) Open();
      if (random.OneIn(4)) ASSERT_OK(db_->CreateSavepoint(std::to_string(round)));
      models[Make().generation] = Text(model.Snapshot());
      WriteSome(&random, static_cast<int>(random.Uniform(20)), &model);
      if (models.size() > 3 || random.OneIn(5)) {
        const auto gone = std::next(models.begin(), static_cast<long>(random.Uniform(models.size())));
        ASSERT_OK(DeleteBackup(folder_, gone->first));
        models.erase(gone);
      }
      if (round % 4 == 3 || round + 1 == rounds) CheckAll(models);
    }
  }

  static std::vector<std::string> FilesBelow(const std::string& folder) {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  void CutOff(uint64_t rounds);

  BackupOptions backup_;
  const std::string folder_;
  const std::string copy_;
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

TEST_F(BackupTest, GenerationsAreStatesOfTheirMoments) {
  Open();
  Put("a", "1");
  Put("b", "2");
  const BackupInfo first = Make();
  EXPECT_EQ(1u, first.generation);
  EXPECT_GT(first.micros, 0u);
  ASSERT_OK(db_->Flush());
  Put("c", "3");
  EXPECT_EQ(2u, Make().generation);
  Delete("a");
  EXPECT_EQ(3u, Make().generation);
  CheckAll({{1, "(a->1)(b->2)"}, {2, "(a->1)(b->2)(c->3)"}, {3, "(b->2)(c->3)"}});
  EXPECT_EQ("(b->2)(c->3)", Shows(0));
  ASSERT_OK(DeleteBackup(folder_, 2));
  CheckAll({{1, "(a->1)(b->2)"}, {3, "(b->2)(c->3)"}});
  ASSERT_OK(DeleteBackup(folder_, 1));
  CheckAll({{3, "(b->2)(c->3)"}});
  ASSERT_OK(DeleteBackup(folder_, 3));
  CheckAll({});
  EXPECT_TRUE(fs::is_empty(folder_ + "/data"));
  EXPECT_STATUS(NotFound, Restore(0));
  Make();
  EXPECT_EQ("(b->2)(c->3)", Shows(0));
}

TEST_F(BackupTest, OfAnEmptyDatabase) {
  Open();
  Make();
  CheckAll({{1, ""}});
}

TEST_F(BackupTest, AtRandomMoments) {
  for (uint64_t seed = 1; seed <= ByScale(2, 10, 60) && !HasFailure(); seed++) {
    SCOPED_TRACE(seed);
    Close();
    fs::remove_all(folder_);
    ASSERT_OK(DestroyDB(path_, options_));
    Open();
    CheckAtRandom(seed, 20);
  }
}

TEST_F(BackupTest, WithTheLogOff) {
  options_.log_mode = kLogOff;
  Open();
  CheckAtRandom(7, 12);
}

TEST_F(BackupTest, WithTheLogInFiles) {
  options_.log_mode = kLogFile;
  Open();
  CheckAtRandom(8, 12);
}

TEST_F(BackupTest, OfAVolatilePoolLasts) {
  options_.pool_path = "anonymous";
  options_.log_mode = kLogOff;
  Open();
  CheckAtRandom(10, 12);
  Put("last", "1");
  Make();
  Close();
  ASSERT_OK(Restore(0));
  std::string value;
  EXPECT_OK(OpenCopy()->Get(ReadOptions(), "last", &value));
  EXPECT_EQ("1", value);
}

TEST_F(BackupTest, OverAnSsdTierHasEachFileOnce) {
  UseSsd();
  Open();
  const uint64_t count = 8 * kMiB / kValueBytes;
  Fill(count, kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_GT(Counter("ssd-files"), 0u);
  Make();
  Fill(count / 4, kValueBytes, 1);
  ASSERT_OK(db_->WaitForIdle());
  Make();
  Fill(count, kValueBytes, 2);
  ASSERT_OK(VerifyBackup(backup_, folder_, 0));
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  const std::string file = FilesIn(folder_ + "/tables", ".sst").front();
  {
    std::fstream damaged(file, std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekg(100);
    const char byte = static_cast<char>(damaged.get());
    damaged.seekp(100);
    damaged.put(static_cast<char>(byte ^ 1)).flush();
    EXPECT_STATUS(Corruption, VerifyBackup(backup_, folder_, 0));
    damaged.seekp(100);
    damaged.put(byte);
  }
  for (const uint64_t generation : {2, 1, 2}) {
    ASSERT_OK(Restore(generation));
    std::unique_ptr<DB> copy = OpenCopy();
    ASSERT_NE(nullptr, copy);
    db_.swap(copy);
    for (uint64_t i = 0; i < count; i += 7) {
      ASSERT_EQ(FilledValue(i, kValueBytes, generation == 2 && i < count / 4 ? 1 : 0), Get(FilledKey(i))) << i;
    }
    Fill(100, kValueBytes, 3);
    db_.swap(copy);
    copy.reset();
    ASSERT_OK(DestroyDB(copy_, OptionsOf(copy_)));
    EXPECT_FALSE(fs::exists(copy_));
    if (generation == 1) ASSERT_OK(DeleteBackup(folder_, 1));
  }
  ASSERT_OK(DeleteBackup(folder_, 2));
  EXPECT_TRUE(fs::is_empty(folder_ + "/tables"));
}

TEST_F(BackupTest, HasFamiliesAndNoSavepoints) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("f", &family));
  ASSERT_OK(db_->Put(WriteOptions(), family, "a", "1"));
  ASSERT_OK(db_->CreateSavepoint("s"));
  Make();
  ASSERT_OK(Restore(1));
  const std::unique_ptr<DB> copy = OpenCopy();
  ASSERT_NE(nullptr, copy);
  ASSERT_OK(copy->GetColumnFamily("f", &family));
  std::string value;
  ASSERT_OK(copy->Get(ReadOptions(), family, "a", &value));
  EXPECT_EQ("1", value);
  std::vector<SavepointInfo> savepoints;
  ASSERT_OK(copy->ListSavepoints(&savepoints));
  EXPECT_TRUE(savepoints.empty());
}

// Of what was written since the last generation little more is copied: the log, its tables, and the record. Merges
// would write indexes anew meanwhile.
TEST_F(BackupTest, CopiesWhatIsNew) {
  options_.pool_size = 512 * kMiB;
  options_.write_buffer_size = 4 * kMiB;
  options_.level_trigger = 64;
  options_.settle_after_idle_ms = 0;
  Open();
  const uint64_t count = 24 * kMiB / 1000;
  Fill(count, 1000);
  ASSERT_OK(db_->WaitForIdle());
  Make();
  EXPECT_LE(Make().new_bytes, 64 * kKiB);
  for (const uint64_t mib : {1, 4, 9}) {
    const uint64_t before = BytesBelow(folder_), written = mib * kMiB;
    for (uint64_t i = 0; i < written / 1000; i++) Put("new" + std::to_string(mib * count + i), std::string(1000, 'v'));
    const BackupInfo info = Make();
    EXPECT_LE(info.new_bytes * 100, written * 115) << mib;
    EXPECT_EQ(BytesBelow(folder_) - before, info.new_bytes) << mib;
  }
}

// Of a data file that other generations have a part of, the rest becomes a hole.
TEST_F(BackupTest, DeletingGivesSpaceBack) {
  Open();
  Fill(4000, 800);
  ASSERT_OK(db_->WaitForIdle());
  Make();
  Fill(2000, 800, 1);
  ASSERT_OK(db_->WaitForIdle());
  Make();
  const auto stored = [&] {
    struct stat info = {};
    EXPECT_EQ(0, stat((folder_ + "/data/000001").c_str(), &info));
    return static_cast<uint64_t>(info.st_blocks) * 512;
  };
  const uint64_t before = stored();
  ASSERT_OK(DeleteBackup(folder_, 1));
  if (!fs::exists(folder_ + "/data/000001")) GTEST_SKIP() << "nothing was shared";
  EXPECT_LT(stored(), before);
  EXPECT_GT(stored(), 0u);
  ASSERT_OK(VerifyBackup(backup_, folder_, 0));
}

// Writers count in keys of their own, two in each batch: every generation has a prefix of each one's batches.
TEST_F(BackupTest, BesideWriters) {
  options_.write_buffer_size = 256 * 1024;
  Open();
  constexpr int kWriters = 2;
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  std::vector<std::atomic<uint64_t>> acknowledged(kWriters);
  for (int w = 0; w < kWriters; w++) {
    writers.emplace_back([&, w] {
      for (uint64_t i = 1; !stop.load(); i++) {
        WriteBatch batch;
        batch.Put("a" + std::to_string(w), std::to_string(i));
        batch.Put("b" + std::to_string(w), std::to_string(i) + std::string(w == 0 ? 2000 : 50, '.'));
        if (!db_->Write(WriteOptions(), &batch).ok()) break;
        acknowledged[static_cast<size_t>(w)].store(i);
      }
    });
  }
  for (uint64_t round = 0; round < ByScale(8, 50, 300) && !HasFailure(); round++) {
    std::vector<uint64_t> least;
    for (const auto& count : acknowledged) least.push_back(count.load());
    Make();
    ASSERT_OK(Restore(0));
    std::unique_ptr<DB> copy = OpenCopy();
    ASSERT_NE(nullptr, copy);
    for (size_t w = 0; w < kWriters; w++) {
      std::string a, b;
      if (!copy->Get(ReadOptions(), "a" + std::to_string(w), &a).ok()) a = "0";
      if (!copy->Get(ReadOptions(), "b" + std::to_string(w), &b).ok()) b = "0";
      EXPECT_EQ(std::stoull(a), std::stoull(b)) << "writer " << w << " in round " << round;
      EXPECT_GE(std::stoull(a), least[w]) << "writer " << w << " in round " << round;
    }
    copy.reset();
    fs::remove_all(copy_);
  }
  stop.store(true);
  for (std::thread& writer : writers) writer.join();
}

// ---- places

TEST_F(BackupTest, RestoresToAnyPoolPath) {
  Open();
  Put("a", "1");
  Make();
  Options options = OptionsOf(copy_);
  options.pool_path = dir_ / "elsewhere";
  std::ofstream(options.pool_path + ".restoring") << "left of one that was cut off";
  ASSERT_OK(RestoreBackup(options, backup_, folder_, 1, copy_));
  EXPECT_FALSE(fs::exists(options.pool_path + ".restoring"));
  // What is left between the naming of the pool and that of the directory is known by STORE.
  fs::rename(copy_, copy_ + ".tmp");
  std::ofstream(copy_ + ".tmp/CHECKPOINT") << "";
  ASSERT_OK(RestoreBackup(options, backup_, folder_, 1, copy_));
  NvmRegion region;
  region.path = dir_ / "region";
  region.limit = 32 * kMiB;
  options.nvm_regions = {region};
  DB* opened = nullptr;
  ASSERT_OK(DB::Open(options, copy_, &opened));
  EXPECT_EQ("(a->1)", Forward(opened));
  delete opened;
  // Neither takes the place of anything.
  EXPECT_STATUS(InvalidArgument, RestoreBackup(options, backup_, folder_, 1, copy_ + "2"));
  options.pool_path = dir_ / "third";
  EXPECT_STATUS(InvalidArgument, RestoreBackup(options, backup_, folder_, 1, copy_));
  EXPECT_FALSE(fs::exists(options.pool_path));
  EXPECT_FALSE(fs::exists(copy_ + "2"));
  options.pool_path = copy_ + "2/inside";
  options.nvm_regions.clear();
  ASSERT_OK(RestoreBackup(options, backup_, folder_, 1, copy_ + "2"));
  ASSERT_OK(DB::Open(options, copy_ + "2", &opened));
  EXPECT_EQ("(a->1)", Forward(opened));
  delete opened;
}

TEST_F(BackupTest, OfSeveralRegionsIsOneFile) {
  options_.pool_size = 4 * kMiB;
  NvmRegion region;
  region.path = dir_ / "second";
  region.limit = 32 * kMiB;
  options_.nvm_regions = {region};
  Open();
  Fill(8000, 800);
  Make();
  options_.pool_size = 64 * kMiB;
  ASSERT_OK(Restore(1));
  std::unique_ptr<DB> copy = OpenCopy();
  ASSERT_NE(nullptr, copy);
  db_.swap(copy);
  CheckFilled(8000, 800);
  db_.swap(copy);
}

TEST_F(BackupTest, RefusesFoldersThatAreSomethingElse) {
  Open();
  Put("a", "1");
  EXPECT_STATUS(InvalidArgument, db_->CreateBackup(backup_, path_, nullptr));
  EXPECT_STATUS(InvalidArgument, db_->CreateBackup(backup_, "", nullptr));
  EXPECT_STATUS(InvalidArgument, db_->CreateBackup(backup_, dir_ / "missing/backup", nullptr));
  fs::create_directory(folder_);
  std::ofstream(folder_ + "/mine") << "mine";
  EXPECT_STATUS(InvalidArgument, db_->CreateBackup(backup_, folder_, nullptr));
  EXPECT_EQ((std::vector<std::string>{folder_ + "/mine"}), FilesBelow(folder_));
  fs::remove(folder_ + "/mine");
  Make();  // one without anything in it is as good as none
  std::vector<BackupInfo> generations;
  EXPECT_STATUS(NotFound, ListBackups(dir_ / "missing", &generations));
  EXPECT_STATUS(InvalidArgument, ListBackups(path_, &generations));
  EXPECT_STATUS(NotFound, VerifyBackup(backup_, folder_, 7));
  EXPECT_STATUS(NotFound, Restore(7));
  EXPECT_STATUS(NotFound, DeleteBackup(folder_, 7));
  EXPECT_STATUS(InvalidArgument, DeleteBackup(folder_, 0));
  fs::create_directory(copy_);
  EXPECT_STATUS(InvalidArgument, Restore(1));
  EXPECT_TRUE(fs::is_empty(copy_));
  fs::remove(copy_);
  CheckAll({{1, "(a->1)"}});
}

TEST_F(BackupTest, RefusesAnotherDatabase) {
  Open();
  Make();
  ASSERT_OK(Restore(1));
  const std::unique_ptr<DB> copy = OpenCopy();
  ASSERT_NE(nullptr, copy);
  const Status s = copy->CreateBackup(backup_, folder_, nullptr);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_NE(std::string::npos, s.ToString().find("another database")) << s.ToString();
  EXPECT_EQ(1u, List().size());
}

TEST_F(BackupTest, RefusesOneOfAVolatilePoolWithAnSsdTier) {
  options_.pool_path = "anonymous";
  options_.log_mode = kLogFile;
  options_.ssd_path = ssd_;
  Open();
  EXPECT_TRUE(db_->CreateBackup(backup_, folder_, nullptr).IsNotSupportedError());
  EXPECT_FALSE(fs::exists(folder_));
}

// ---- damage

// A flipped byte anywhere in record, mark or data is found by whoever reads it, and what is restored is right.
TEST_F(BackupTest, FindsEveryFlippedByte) {
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
TEST_F(BackupTest, DamagedGenerationsCanBeDeleted) {
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
  // What a data file has lost is copied anew.
  fs::resize_file(folder_ + "/data/000001", 10);
  Make();
  EXPECT_STATUS(Corruption, VerifyBackup(backup_, folder_, 1));
  EXPECT_OK(VerifyBackup(backup_, folder_, 3));
}

// ---- errors and crashes

TEST_F(BackupTest, ProgressEndsAndCancels) {
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

TEST_F(BackupTest, KeepsToARate) {
  Open();
  Fill(500, 1000);
  backup_.bytes_per_second = 2 * kMiB;
  const auto start = std::chrono::steady_clock::now();
  const BackupInfo info = Make();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_GE(seconds + 0.2, static_cast<double>(info.new_bytes) / (2 * kMiB));
}

TEST_F(BackupTest, OneAtATime) {
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
TEST_F(BackupTest, AFailureLeavesWhatThereWas) {
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
  EXPECT_STATUS(IOError, s);
  EXPECT_EQ(before, FilesBelow(folder_));
  EXPECT_EQ(restored.ok(), fs::exists(copy_));
  fs::remove_all(copy_);
  Make();
  EXPECT_EQ("(a->1)", Shows(1));
  ASSERT_OK(VerifyBackup(backup_, folder_, 0));
}

TEST_F(BackupTest, AFullDiskLeavesWhatThereWas) {
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
    Options options = OptionsOf(copy_);
    if (!pool.empty()) options.pool_path = place + pool;
    const std::string directory = pool.empty() ? place + "/copy" : copy_;
    EXPECT_FALSE(RestoreBackup(options, backup_, folder_, 0, directory).ok());
    EXPECT_EQ(before, FilesBelow(place));
    EXPECT_FALSE(fs::exists(directory));
    EXPECT_FALSE(fs::exists(directory + ".tmp"));
  }
}

// A restore that is killed at any moment leaves nothing that keeps the next one from its work.
TEST_F(BackupTest, RestoringIsRepeatedAfterAKill) {
  UseSsd();
  Open();
  const uint64_t count = 5 * kMiB / kValueBytes;
  Fill(count, kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_GT(Counter("ssd-files"), 0u);
  Make();
  Close();
  Random random(13);
  Options options = OptionsOf(copy_);
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
void BackupTest::CutOff(uint64_t rounds) {
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

TEST_F(BackupTest, CutOffLeavesAllOrNothing) { CutOff(ByScale(25, 100, 500)); }

TEST_F(BackupTest, CutOffOverAnSsdTierLeavesAllOrNothing) {
  UseSsd();
  CutOff(ByScale(8, 40, 200));
}

}  // namespace
}  // namespace miodb::test
