// Databases with their log in files: nothing acknowledged is lost with the process, and what is lost with a machine is
// always a suffix.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/common/paths.h"
#include "tests/db/space/file_log_fixture.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

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

TEST_F(FileLogTest, AnEmptyBatchWithSyncMakesTheWritesBeforeItDurable) {
  Open();
  Put("a", "1");
  WriteBatch empty;
  ASSERT_OK(db_->Write(WriteOptions(), &empty));
  EXPECT_EQ(0u, Counter("log-file-syncs"));
  WriteOptions sync;
  sync.sync = true;
  ASSERT_OK(db_->Write(sync, &empty));
  EXPECT_EQ(1u, Counter("log-file-syncs"));
  ASSERT_OK(db_->Flush());  // the file has ended, and the next one is not there yet
  EXPECT_OK(db_->Write(sync, &empty));
  EXPECT_EQ("(a->1)", Forward(db_.get()));
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
  const std::string peer = BinaryDir() + "/tests/compat/table_dump_peer_main";
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
