// Backups: that every generation restores to what the database had at the call, that a generation copies little more
// than what is new, and what is refused. copies_test.cc has the promises of every kind of copy.

#include <sys/stat.h>

#include <fstream>

#include "tests/db/copy/backup_fixture.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

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
    ASSERT_OK(DestroyDB(copy_, OptionsOfCopy(copy_)));
    EXPECT_FALSE(fs::exists(copy_));
    if (generation == 1) ASSERT_OK(DeleteBackup(folder_, 1));
  }
  ASSERT_OK(DeleteBackup(folder_, 2));
  EXPECT_TRUE(fs::is_empty(folder_ + "/tables"));
}

// Little more than the writes since the last generation is copied: the log, its tables, and the record. Merges would
// write indexes anew meanwhile.
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

// If other generations have a part of a data file, the rest of the file becomes a hole.
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

// ---- places

class BackupPlacesTest : public BackupTest {
 protected:
  // Makes a generation with a key, and the options of a copy of it whose pool lies outside.
  Options MakeForElsewhere() {
    Open();
    Put("a", "1");
    Make();
    Options options = OptionsOfCopy(copy_);
    options.pool_path = dir_ / "elsewhere";
    return options;
  }
};

TEST_F(BackupPlacesTest, ARestoredDatabaseThatNobodyOpenedIsDestroyedAsAWhole) {
  Options options = MakeForElsewhere();
  ASSERT_OK(RestoreBackup(options, backup_, folder_, 1, copy_));
  EXPECT_TRUE(fs::exists(options.pool_path));
  ASSERT_OK(DestroyDB(copy_, options));
  EXPECT_FALSE(fs::exists(options.pool_path));
  EXPECT_FALSE(fs::exists(copy_));
}

TEST_F(BackupPlacesTest, RestoresToAnyPoolPath) {
  Options options = MakeForElsewhere();
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

}  // namespace
}  // namespace miodb::test
