// Databases with their log in files: nothing acknowledged is lost with the process, and what is lost with a machine is
// always a suffix.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "src/db/places.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

class FileLogTest : public DbTestBase {
 protected:
  FileLogTest() { options_.log_mode = kLogFile; }

  static std::string Key(int i) { return "key" + std::to_string(1000 + i); }
  static std::string Value(int i) {
    return "value" + std::to_string(i) + std::string(static_cast<size_t>(i % 7) * 30, 'v');
  }
  void PutRange(int from, int to) {
    for (int i = from; i < to; i++) Put(Key(i), Value(i));
  }
  // A closed database: keys 0 to 19 are in tables, 20 to 39 only in the log.
  void MakeHalfFlushed() {
    Open();
    PutRange(0, 20);
    ASSERT_OK(db_->Flush());
    PutRange(20, 40);
    Close();
  }
  void CheckRange(int from, int to) {
    for (int i = from; i < to; i++) ASSERT_EQ(Value(i), Get(Key(i))) << i;
  }

  // How many of the keys from 0 on are there; a failure of the test if that is no prefix of count keys.
  int PrefixLength(int count) {
    int length = 0;
    while (length < count && Get(Key(length)) == Value(length)) length++;
    for (int i = length; i < count; i++) EXPECT_EQ(kNotFound, Get(Key(i))) << i << " is there and " << length << " not";
    return length;
  }

  std::vector<fs::path> LogFiles(const std::string& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".log") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  std::vector<fs::path> LogFiles() { return LogFiles(path_); }

  // Makes path_ a copy of the closed database as it is in from.
  void Restore(const std::string& from) {
    Close();
    fs::remove_all(path_);
    fs::copy(from, path_, fs::copy_options::recursive);
  }
};

TEST_F(FileLogTest, WritesSurviveReopeningWithEveryBlockSizeInAnyOrder) {
  int written = 0;
  for (const bool padding : {false, true}) {
    for (const size_t block : {256, 8192, 16384, 32768, 65536}) {
      options_.wal_block_size = block;
      options_.wal_padding = padding;
      Open();
      CheckRange(0, written);
      PutRange(written, written + 50);
      written += 50;
      Close();
    }
  }
  Open();
  CheckRange(0, written);
  PutRange(written, written + 1);
  EXPECT_FALSE(LogFiles().empty());
  ASSERT_OK(db_->Flush());
  Close();
  EXPECT_TRUE(LogFiles().empty());
  Open();
  CheckRange(0, written);
}

TEST_F(FileLogTest, BatchesDeletesAndLargeValuesComeBack) {
  Open();
  const std::string large(300000, 'l');
  Put("gone", "1");
  WriteBatch batch;
  batch.Put("a", "1");
  batch.Delete("gone");
  batch.Put("large", large);
  batch.Put("", "empty key");
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  Open();
  EXPECT_EQ("1", Get("a"));
  EXPECT_EQ(kNotFound, Get("gone"));
  EXPECT_EQ(large, Get("large"));
  EXPECT_EQ("empty key", Get(""));
}

TEST_F(FileLogTest, FlushedFilesGoAndTheRestIsReplayed) {
  Open();
  Fill(5000, 200);
  EXPECT_GT(Counter("flushes"), 5u);
  Close();
  EXPECT_LE(LogFiles().size(), 7u) << "one for each memtable that waits";
  Open();
  CheckFilled(5000, 200);
}

TEST_F(FileLogTest, TheModeMayChangeAtEveryOpen) {
  int written = 0;
  for (const LogMode mode : {kLogFile, kLogPmem, kLogFile, kLogOff, kLogFile, kLogFile, kLogPmem, kLogPmem, kLogOff}) {
    options_.log_mode = mode;
    Open();
    CheckRange(0, written);
    PutRange(written, written + 20);
    written += 20;
  }
  options_.log_mode = kLogPmem;
  Open();
  CheckRange(0, written);
}

// An Env that cannot make the mark of a log folder.
class NoMarkEnv final : public EnvWrapper {
 public:
  NoMarkEnv() : EnvWrapper(Env::Default()) {}
  Status NewWritableFile(const std::string& name, WritableFile** file) override {
    if (name.ends_with("WAL_OWNER")) return Status::IOError(name, "no room for a mark");
    return EnvWrapper::NewWritableFile(name, file);
  }
};

TEST_F(FileLogTest, AnOpenThatCannotMarkTheLogFolderLeavesNone) {
  NoMarkEnv env;
  options_.env = &env;
  options_.wal_dir = dir_ / "wal";
  const Status s = TryOpen();
  EXPECT_STATUS(IOError, s);
  EXPECT_TRUE(Mentions(s, "no room for a mark"));
  EXPECT_FALSE(fs::exists(options_.wal_dir)) << "made by the open that failed";
  EXPECT_FALSE(fs::exists(dir_ / "db"));
}

TEST_F(FileLogTest, FilesInAnotherModeAreReplayedFromWhereTheyWere) {
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

TEST_F(FileLogTest, AnotherFolderIsRefused) {
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

TEST_F(FileLogTest, ALogThatIsNotThereIsNotTakenForAnEmptyOne) {
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

TEST_F(FileLogTest, AFolderThatWasLeftIsNotTakenForTheLog) {
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

TEST_F(FileLogTest, ALogThatWasGivenUpNeverComesBack) {
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

TEST_F(FileLogTest, ALogWithoutWritesIsNotMissed) {
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

TEST_F(FileLogTest, TheLogOfAPoolThatIsGoneIsNotTakenForTheNextOnes) {
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
  Open();
  PutRange(20, 40);
  Open();
  CheckRange(0, 40);
}

TEST_F(FileLogTest, ALogIsNotForgottenWhileItsDiskIsAwayToo) {
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

TEST_F(FileLogTest, APoolDoesNotTakeTheLogOfOneThatWasInItsPlace) {
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

TEST_F(FileLogTest, ARepairLeavesTheLogOfAnotherDatabaseAlone) {
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

TEST_F(FileLogTest, ADamagedFileThatSaysWhereTheLogIsIsNamed) {
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

TEST_F(FileLogTest, ARepairSaysThatTheLogIsNotThere) {
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

TEST_F(FileLogTest, ADatabaseDoesNotTakeAnothersLog) {
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

TEST_F(FileLogTest, ALostPoolIsNotTakenForANewDatabase) {
  Open();
  PutRange(0, 20);
  Close();
  fs::remove(path_ + "/pool");  // a pool on tmpfs, after the machine was switched off
  EXPECT_STATUS(InvalidArgument, TryOpen());
  EXPECT_EQ(1u, LogFiles().size()) << "the log is kept";
}

TEST_F(FileLogTest, DestroyRemovesLogsAndArchive) {
  options_.wal_dir = dir_ / "wal";
  options_.wal_size_limit_mb = 1;
  MakeHalfFlushed();
  EXPECT_TRUE(fs::exists(options_.wal_dir + "/archive"));
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(fs::exists(options_.wal_dir));
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(FileLogTest, AnArchivedFileCanBePutBack) {
  options_.wal_size_limit_mb = 1;
  options_.wal_block_size = 4096;
  Open();
  PutRange(0, 20);
  ASSERT_OK(db_->Flush());
  Close();
  int put_back = 0;
  for (const auto& entry : fs::directory_iterator(path_ + "/archive")) {
    fs::copy(entry.path(), path_ + "/" + entry.path().stem().string());
    put_back++;
  }
  ASSERT_EQ(1, put_back);
  Open();
  CheckRange(0, 20);
  EXPECT_EQ(20u, Counter("entries")) << "what is flushed is not replayed";
}

TEST_F(FileLogTest, ARepairKeepsWhatIsInLogFiles) {
  Open();
  PutRange(0, 20);
  ASSERT_OK(db_->Flush());
  PutRange(20, 40);
  Put(Key(3), "newer");
  Delete(Key(4));
  Close();
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_TRUE(LogFiles().empty());
  Open();
  EXPECT_EQ("newer", Get(Key(3)));
  EXPECT_EQ(kNotFound, Get(Key(4)));
  CheckRange(5, 40);
  PutRange(40, 50);
  Open();
  CheckRange(5, 50);
}

TEST_F(FileLogTest, TooMuchLogForcesAFlush) {
  options_.write_buffer_size = 64 << 20;
  options_.max_total_wal_size = 100 * 1024;
  Open();
  for (int i = 0; i < 2000; i++) Put(Key(i), std::string(1000, 'x'));
  ASSERT_OK(db_->Flush());
  EXPECT_GT(Counter("flushes"), 1u);
}

TEST_F(FileLogTest, CountersTellWhatIsWritten) {
  options_.wal_block_size = 4096;
  options_.wal_padding = true;
  options_.write_buffer_size = 1 << 20;
  Open();
  for (int i = 0; i < 100; i++) Put(Key(i), std::string(1000, 'x'));
  EXPECT_GT(Counter("log-file-bytes"), 100u * 1007);
  EXPECT_EQ(33u * (4096 - 3 * (1000 + 7 + 22 + 1)), Counter("log-file-bytes-padding")) << "three records a block";
  EXPECT_EQ(0u, Counter("log-file-syncs"));
  WriteOptions sync;
  sync.sync = true;
  ASSERT_OK(db_->Put(sync, "a", "b"));
  EXPECT_EQ(1u, Counter("log-file-syncs"));
  EXPECT_EQ(0u, Counter("nvm-bytes-log"));
}

// ---- Damage

class FileLogDamageTest : public FileLogTest {
 protected:
  static constexpr int kKeys = 60;

  // A closed database with kKeys keys in two log files, as if the process had died before the first one's flush.
  void Make(bool padding) {
    options_.wal_padding = padding;
    options_.wal_block_size = 512;
    Close();
    fs::remove_all(path_);
    Open();
    PutRange(0, kKeys / 2);
    Close();
    saved_ = dir_ / "saved";
    fs::remove_all(saved_);
    fs::copy(path_, saved_, fs::copy_options::recursive);
    Open();
    PutRange(kKeys / 2, kKeys);
    Close();
    const fs::path second = LogFiles().back();
    fs::copy(second, fs::path(saved_) / second.filename());
    files_ = LogFiles(saved_);
    ASSERT_EQ(2u, files_.size());
  }

  // Opens a copy of which the file has this content.
  Status OpenWith(size_t file, const std::string& content) {
    Restore(saved_);
    std::ofstream(fs::path(path_) / files_[file].filename(), std::ios::binary) << content;
    return TryOpen();
  }

  std::string Content(size_t file) {
    std::ifstream in(files_[file], std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }

  std::string saved_;
  std::vector<fs::path> files_;
};

TEST_F(FileLogDamageTest, ATornTailLosesASuffixAndNothingComesBack) {
  for (const bool padding : {false, true}) {
    Make(padding);
    const std::string content = Content(1);
    int last = -1;
    for (size_t size = 0; size <= content.size(); size += 37) {
      ASSERT_OK(OpenWith(1, content.substr(0, size)));
      const int found = PrefixLength(kKeys);
      EXPECT_GE(found, std::max(last, kKeys / 2)) << "cut at " << size;
      last = found;
      Put("after", "1");
      Open();
      EXPECT_EQ(found, PrefixLength(kKeys));
      EXPECT_EQ("1", Get("after"));
    }
    EXPECT_GT(last, kKeys - 3);
  }
}

TEST_F(FileLogDamageTest, AHoleEndsTheLogAndWhatFollowedNeverComesBack) {
  Make(false);
  const std::string content = Content(0);
  for (size_t at = 0; at < content.size(); at += 301) {
    std::string damaged = content;
    for (size_t i = at; i < std::min(at + 40, content.size()); i++) damaged[i] = '\0';
    ASSERT_OK(OpenWith(0, damaged));
    const int found = PrefixLength(kKeys);
    EXPECT_LT(found, kKeys / 2) << "the second file is behind the hole";
    // As many writes as are missing, so that a leftover of the old log would fit behind them.
    for (int i = found; i < kKeys / 2; i++) Put("new" + std::to_string(i), "1");
    Open();
    EXPECT_EQ(found, PrefixLength(kKeys));
    for (int i = found; i < kKeys / 2; i++) EXPECT_EQ("1", Get("new" + std::to_string(i)));
    ASSERT_OK(db_->Flush());
    Open();
    EXPECT_EQ(found, PrefixLength(kKeys));
  }
}

TEST_F(FileLogDamageTest, WithParanoidChecksAHoleIsCorruption) {
  Make(false);
  std::string damaged = Content(0);
  damaged[damaged.size() / 2] ^= 1;
  options_.paranoid_checks = true;
  Status s = OpenWith(0, damaged);
  EXPECT_STATUS(Corruption, s);
  EXPECT_TRUE(Mentions(s, "log file 000001-512.log at offset "));
  s = OpenWith(0, Content(0).substr(0, 1000));
  EXPECT_STATUS(Corruption, s);
  EXPECT_TRUE(Mentions(s, "are missing"));
  EXPECT_OK(OpenWith(1, Content(1).substr(0, 1000)));  // a torn tail is no damage
}

TEST_F(FileLogDamageTest, AMissingFileEndsTheLog) {
  Make(false);
  Restore(saved_);
  fs::remove(fs::path(path_) / files_[0].filename());
  Open();
  EXPECT_EQ(0, PrefixLength(kKeys));
}

// The peer program is there when the real LevelDB is (tests/compat).
TEST_F(FileLogTest, LevelDbReadsTheFiles) {
  const std::string peer = std::string(MIODB_TEST_BINARY_DIR) + "/tests/compat/table_dump_peer_main";
  if (!fs::exists(peer)) GTEST_SKIP() << "LevelDB is not installed";
  for (const bool padding : {false, true}) {
    options_.wal_padding = padding;
    options_.write_buffer_size = 4 << 20;
    Open();
    PutRange(0, 2000);
    Delete(Key(5));
    Close();
    const std::string folder = dir_ / (padding ? "padded" : "plain");
    fs::create_directory(folder);
    for (const fs::path& file : LogFiles()) fs::copy(file, fs::path(folder) / file.filename());
    FILE* const pipe = popen((peer + " --repair " + folder).c_str(), "r");
    ASSERT_NE(nullptr, pipe);
    int lines = 0;
    for (char line[4096]; fgets(line, sizeof(line), pipe) != nullptr;) lines++;
    EXPECT_EQ(0, pclose(pipe));
    EXPECT_EQ(1999, lines);
    ASSERT_OK(DestroyDB(path_, options_));
  }
}

}  // namespace
}  // namespace miodb::test
