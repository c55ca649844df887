// The folder of log files: its owner, finding it in its place, and never taking another folder for it.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "miodb/backup.h"
#include "miodb/env.h"
#include "src/db/store/places.h"
#include "src/format/owner_mark.h"
#include "tests/db/space/file_log_fixture.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

using LogFolderTest = FileLogTest;

// An Env that cannot make the mark of a log folder.
class NoMarkEnv final : public EnvWrapper {
 public:
  NoMarkEnv() : EnvWrapper(Env::Default()) {}
  Status NewWritableFile(const std::string& name, WritableFile** file) override {
    if (name.ends_with("WAL_OWNER")) return Status::IOError(name, "no room for a mark");
    return EnvWrapper::NewWritableFile(name, file);
  }
};

TEST_F(LogFolderTest, AnOpenThatCannotMarkTheLogFolderLeavesNone) {
  NoMarkEnv env;
  options_.env = &env;
  options_.wal_dir = dir_ / "wal";
  const Status s = TryOpen();
  EXPECT_STATUS(IOError, s);
  EXPECT_TRUE(Mentions(s, "no room for a mark"));
  EXPECT_FALSE(fs::exists(options_.wal_dir)) << "made by the open that failed";
  EXPECT_FALSE(fs::exists(dir_ / "db"));
}

TEST_F(LogFolderTest, FilesInAnotherModeAreReplayedFromWhereTheyWere) {
  options_.wal_dir = dir_ / "wal";
  Open();
  PutRange(0, 20);
  Close();
  EXPECT_EQ(1u, LogFiles(options_.wal_dir).size());
  EXPECT_TRUE(LogFiles().empty());
  const std::string wal_dir = options_.wal_dir;
  options_.wal_dir.clear();
  options_.log_mode = kLogPmem;
  Open();
  CheckRange(0, 20);
  ASSERT_OK(db_->Flush());
  Close();
  EXPECT_TRUE(LogFiles(wal_dir).empty());
}

TEST_F(LogFolderTest, AnotherFolderIsRefused) {
  Open();
  PutRange(0, 20);
  Close();
  for (const bool needed : {true, false}) {
    options_.wal_dir = dir_ / "wal";
    const Status s = TryOpen();
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_TRUE(Mentions(s, "wal_dir") && Mentions(s, options_.wal_dir) && Mentions(s, path_ + "/STORE"))
        << s.ToString();
    EXPECT_FALSE(fs::exists(options_.wal_dir));
    EXPECT_EQ(!needed, MoveStore(path_, options_).ok());
    if (!needed) break;
    options_.wal_dir.clear();
    Open();
    ASSERT_OK(db_->Flush());
    Close();
  }
  Open();
  PutRange(20, 40);
  Open();
  CheckRange(0, 40);
  EXPECT_TRUE(LogFiles().empty());
}

TEST_F(LogFolderTest, ALogThatIsNotThereIsNotTakenForAnEmptyOne) {
  const std::string logs = dir_ / "wal", other = dir_ / "other";
  options_.wal_dir = logs;
  MakeHalfFlushed();
  fs::rename(logs, dir_ / "unmounted");
  for (const LogMode mode : {kLogFile, kLogPmem, kLogOff}) {
    for (const std::string& wal_dir : {logs, other, std::string()}) {
      options_.log_mode = mode;
      options_.wal_dir = wal_dir;
      const Status s = TryOpen();
      if (mode == kLogFile && wal_dir != logs) {
        EXPECT_STATUS(InvalidArgument, s);
        EXPECT_STATUS(InvalidArgument, MoveStore(path_, options_));
      } else {
        EXPECT_STATUS(Corruption, s);
      }
      EXPECT_TRUE(Mentions(s, logs));
      EXPECT_FALSE(fs::exists(logs) || fs::exists(other)) << "nothing half-created is left";
    }
  }
  // An empty folder where a disk is to be mounted is no log either.
  fs::create_directory(logs);
  options_.wal_dir = logs;
  EXPECT_STATUS(Corruption, TryOpen());
  fs::remove(logs);
  // The log may be moved, and is found there in every mode.
  fs::rename(dir_ / "unmounted", other);
  options_.wal_dir = other;
  ASSERT_OK(MoveStore(path_, options_));
  options_.wal_dir.clear();
  Open();
  CheckRange(0, 40);
  Close();
  fs::rename(other, logs);
  options_.wal_dir = logs;
  ASSERT_OK(MoveStore(path_, options_));
  options_.log_mode = kLogFile;
  Open();
  PutRange(40, 60);
  Close();
  // Whoever says so does without it.
  fs::remove_all(logs);
  EXPECT_TRUE(Mentions(TryOpen(), "RepairDB does without"));
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  CheckRange(0, 40);
  EXPECT_EQ(kNotFound, Get(Key(40)));
}

TEST_F(LogFolderTest, AFolderThatWasLeftIsNotTakenForTheLog) {
  Open();  // in the database directory
  PutRange(0, 20);
  ASSERT_OK(db_->Flush());
  Close();
  const std::string logs = dir_ / "wal";
  options_.wal_dir = logs;
  ASSERT_OK(MoveStore(path_, options_));
  Open();
  PutRange(20, 40);
  Close();
  fs::rename(logs, dir_ / "unmounted");
  for (const LogMode mode : {kLogFile, kLogPmem}) {
    options_.log_mode = mode;
    options_.wal_dir.clear();
    const Status s = TryOpen();
    EXPECT_FALSE(s.ok());
    EXPECT_TRUE(Mentions(s, logs));
  }
  fs::rename(dir_ / "unmounted", logs);
  Open();
  CheckRange(0, 40);
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(fs::exists(path_)) << "what the first log left there is gone too";
}

TEST_F(LogFolderTest, ALogThatWasGivenUpNeverComesBack) {
  const std::string logs = dir_ / "wal";
  options_.wal_dir = logs;
  MakeHalfFlushed();
  fs::rename(logs, dir_ / "unmounted");
  ASSERT_OK(RepairDB(path_, options_));
  options_.log_mode = kLogPmem;
  Open();
  for (int i = 0; i < 25; i++) Put(Key(i), "newer");
  ASSERT_OK(db_->Flush());
  Close();
  fs::rename(dir_ / "unmounted", logs);
  options_.log_mode = kLogFile;
  const Status s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, logs));
  fs::remove_all(logs);
  Open();
  EXPECT_EQ("newer", Get(Key(24)));
  EXPECT_EQ(kNotFound, Get(Key(30)));
}

TEST_F(LogFolderTest, ALogWithoutWritesIsNotMissed) {
  const std::string logs = dir_ / "wal";
  for (const LogMode mode : {kLogFile, kLogPmem, kLogOff}) {
    options_.log_mode = kLogFile;
    options_.wal_dir = logs;
    Open();
    PutRange(0, 20);
    ASSERT_OK(db_->Flush());
    Close();
    fs::remove_all(logs);
    options_.log_mode = mode;
    options_.wal_dir = dir_ / "other";
    if (mode == kLogFile) ASSERT_OK(MoveStore(path_, options_));
    Open();
    CheckRange(0, 20);
    PutRange(20, 30);
    ASSERT_OK(db_->Flush());
    Close();
    fs::remove_all(options_.wal_dir);
    options_.wal_dir = logs;
    if (mode == kLogFile) ASSERT_OK(MoveStore(path_, options_));
  }
  // Nor is one that was replayed with another mode.
  options_.log_mode = kLogFile;
  options_.wal_dir = logs;
  Open();
  PutRange(30, 40);
  Close();
  options_.log_mode = kLogPmem;
  Open();
  ASSERT_OK(db_->Flush());
  Close();
  fs::remove_all(logs);
  Open();
  CheckRange(0, 40);
}

TEST_F(LogFolderTest, TheLogOfAPoolThatIsGoneIsNotTakenForTheNextOnes) {
  options_.wal_dir = dir_ / "wal";
  Open();
  PutRange(0, 20);
  Close();
  fs::remove(path_ + "/pool");
  options_.log_mode = kLogPmem;
  EXPECT_STATUS(InvalidArgument, TryOpen());
  fs::remove(path_ + "/STORE");
  options_.log_mode = kLogFile;
  EXPECT_STATUS(InvalidArgument, TryOpen());  // it has writes
  EXPECT_FALSE(fs::exists(path_ + "/STORE"));
  options_.log_mode = kLogPmem;
  Open();
  for (const auto& file : LogFiles(options_.wal_dir)) fs::remove(file);
  EXPECT_EQ(kNotFound, Get(Key(0)));
  PutRange(0, 20);
  Open();
  CheckRange(0, 20);
  options_.log_mode = kLogFile;
  EXPECT_STATUS(InvalidArgument, TryOpen());  // it says whose it is
  fs::remove(options_.wal_dir + "/WAL_OWNER");
  Open();
  PutRange(20, 40);
  Open();
  CheckRange(0, 40);
}

TEST_F(LogFolderTest, ALogIsNotForgottenWhileItsDiskIsAwayToo) {
  options_.wal_dir = dir_ / "wal";
  Open();
  PutRange(0, 20);
  Close();
  fs::rename(path_ + "/pool", dir_ / "pool");
  fs::rename(options_.wal_dir, dir_ / "unmounted");
  for (const LogMode mode : {kLogFile, kLogPmem, kLogOff}) {
    options_.log_mode = mode;
    EXPECT_STATUS(InvalidArgument, TryOpen());
    EXPECT_FALSE(fs::exists(path_ + "/pool"));
  }
  fs::rename(dir_ / "pool", path_ + "/pool");
  fs::rename(dir_ / "unmounted", options_.wal_dir);
  Open();
  CheckRange(0, 20);
}

TEST_F(LogFolderTest, APoolDoesNotTakeTheLogOfOneThatWasInItsPlace) {
  Open();
  PutRange(0, 20);
  ASSERT_OK(db_->Flush());
  Close();
  fs::rename(path_ + "/pool", dir_ / "pool");
  fs::rename(path_ + "/STORE", dir_ / "STORE");
  Open();
  for (int i = 0; i < 30; i++) Put(Key(i), "of the other pool");
  Close();
  fs::rename(path_ + "/pool", dir_ / "other_pool");
  fs::rename(dir_ / "pool", path_ + "/pool");
  const Status s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "another pool"));
  EXPECT_STATUS(InvalidArgument, RepairDB(path_, options_));
  EXPECT_EQ(1u, LogFiles().size()) << "it stays";
  // Nor with its own STORE.
  fs::rename(path_ + "/STORE", dir_ / "other_STORE");
  fs::rename(dir_ / "STORE", path_ + "/STORE");
  EXPECT_STATUS(InvalidArgument, TryOpen());
  EXPECT_STATUS(InvalidArgument, RepairDB(path_, options_));
  EXPECT_EQ(1u, LogFiles().size()) << "it stays";
  fs::rename(dir_ / "other_STORE", path_ + "/STORE");
  fs::rename(path_ + "/pool", dir_ / "pool");
  fs::rename(dir_ / "other_pool", path_ + "/pool");
  Open();
  EXPECT_EQ("of the other pool", Get(Key(29)));
}

TEST_F(LogFolderTest, ARepairLeavesTheLogOfAnotherDatabaseAlone) {
  options_.wal_dir = dir_ / "wal";
  Open();
  PutRange(0, 20);
  Close();
  const std::string first = path_;
  fs::rename(options_.wal_dir, dir_ / "of_first");
  path_ = dir_ / "second";
  Open();
  Put(Key(50), "of the second");
  Close();
  const size_t files = LogFiles(options_.wal_dir).size();
  EXPECT_STATUS(InvalidArgument, RepairDB(first, options_));  // it could not be opened with this wal_dir
  Options without_files = options_;
  without_files.log_mode = kLogPmem;
  ASSERT_OK(RepairDB(first, without_files));
  EXPECT_EQ(files, LogFiles(options_.wal_dir).size());
  Open();
  EXPECT_EQ("of the second", Get(Key(50)));
  path_ = first;
  options_.log_mode = kLogPmem;
  Open();
  EXPECT_EQ(kNotFound, Get(Key(50)));
}

// An open with these options refuses the folder, so a repair changes nothing: with log files, without them, and with a
// mark that no database has made.
TEST_F(LogFolderTest, ARepairRefusesAFolderThatTheOpenBehindItWouldRefuse) {
  for (const std::string name : {"logged", "flushed", "forged"}) {
    options_.wal_dir = dir_ / ("wal_" + name);
    options_.log_mode = kLogFile;
    path_ = dir_ / ("owner_" + name);
    Open();
    PutRange(0, 20);
    if (name != "logged") ASSERT_OK(db_->Flush());
    Close();
    ASSERT_EQ(name != "logged", LogFiles(options_.wal_dir).empty());
    const OwnerMark forged{OwnerKind::kLog, 0, 77, 1};
    const std::string mark = options_.wal_dir + "/WAL_OWNER";
    if (name == "forged") ASSERT_OK(WriteStringToFile(Env::Default(), forged.Encode(), mark));
    path_ = dir_ / ("other_" + name);
    options_.log_mode = kLogPmem;
    Open();
    PutRange(0, 30);
    Close();
    options_.log_mode = kLogFile;
    const Status opened = TryOpen(), repaired = RepairDB(path_, options_);
    EXPECT_STATUS(InvalidArgument, repaired);
    EXPECT_EQ(opened.ToString(), repaired.ToString());
    EXPECT_FALSE(fs::exists(path_ + "/LOST"));
    options_.log_mode = kLogPmem;
    Open();
    CheckRange(0, 30);
    Close();
  }
}

TEST_F(LogFolderTest, ADamagedFileThatSaysWhereTheLogIsIsNamed) {
  Open();
  PutRange(0, 20);
  Close();
  ASSERT_OK(WriteStringToFile(Env::Default(), "nowhere", path_ + "/STORE"));
  const Status s = TryOpen();
  EXPECT_STATUS(Corruption, s);
  EXPECT_TRUE(Mentions(s, path_ + "/STORE"));
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(LogFolderTest, ARepairSaysThatTheLogIsNotThere) {
  options_.wal_dir = dir_ / "wal";
  MakeHalfFlushed();
  fs::remove_all(options_.wal_dir);
  ASSERT_OK(RepairDB(path_, options_));
  std::string lost;
  ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/LOST", &lost));
  EXPECT_NE(std::string::npos, lost.find(options_.wal_dir + ": does not hold the log of this database")) << lost;
  Open();
  CheckRange(0, 20);
  EXPECT_EQ(kNotFound, Get(Key(20)));
}

TEST_F(LogFolderTest, ADatabaseDoesNotTakeAnothersLog) {
  options_.wal_dir = dir_ / "wal";
  Open();
  PutRange(0, 20);
  const std::string first = path_;
  std::unique_ptr<DB> second;
  EXPECT_STATUS(IOError, OpenDb(options_, dir_ / "second", &second));  // the first has it open
  EXPECT_FALSE(fs::exists(dir_ / "second"));
  Close();
  path_ = dir_ / "second";
  const Status s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "another pool"));
  EXPECT_FALSE(fs::exists(path_)) << "nothing half-created is left";
  path_ = first;
  Open();
  CheckRange(0, 20);
}

// All that the first one had in its log is in tables, and its folder is its own all the same.
TEST_F(LogFolderTest, ADatabaseDoesNotTakeAnothersFolderWithoutLogFiles) {
  options_.wal_dir = dir_ / "wal";
  Open();
  PutRange(0, 20);
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db_->CreateBackup(BackupOptions(), dir_ / "backups", nullptr));
  Close();
  ASSERT_TRUE(LogFiles(options_.wal_dir).empty());
  const std::string first = path_;
  ASSERT_OK(RestoreBackup(options_, BackupOptions(), dir_ / "backups", 0, dir_ / "restored"));
  for (const char* name : {"restored", "new"}) {
    path_ = dir_ / name;
    const Status s = TryOpen();
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_TRUE(Mentions(s, "give another Options::wal_dir"));
  }
  EXPECT_FALSE(fs::exists(path_)) << "nothing half-created is left";
  path_ = first;
  Open();
  CheckRange(0, 20);
  Close();
  path_ = dir_ / "restored";
  options_.wal_dir = dir_ / "other";
  Open();
  CheckRange(0, 20);
}

TEST_F(LogFolderTest, ALostPoolIsNotTakenForANewDatabase) {
  Open();
  PutRange(0, 20);
  Close();
  fs::remove(path_ + "/pool");  // a pool on tmpfs, after the machine was switched off
  EXPECT_STATUS(InvalidArgument, TryOpen());
  EXPECT_EQ(1u, LogFiles().size()) << "the log is kept";
}

}  // namespace
}  // namespace miodb::test
