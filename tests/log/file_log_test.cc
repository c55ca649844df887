// The set of log files: which are kept, for how long, and whose they are.

#include "src/log/file_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/log/file_log_format.h"
#include "src/log/file_log_reader.h"
#include "src/log/log_piece.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"

namespace miodb::test {
namespace {

constexpr uint64_t kPool = 0x1234;

// Counts syncs of log files by name, in order.
class SyncCountingEnv final : public EnvWrapper {
 public:
  SyncCountingEnv() : EnvWrapper(Env::Default()) {}

  Status NewWritableFile(const std::string& fname, WritableFile** result) override {
    WritableFile* file = nullptr;
    Status s = target()->NewWritableFile(fname, &file);
    if (s.ok()) *result = new File(this, fname.substr(fname.rfind('/') + 1), file);
    return s;
  }

  std::vector<std::string> synced;
  uint64_t range_synced = 0;
  bool fails_once = false;  // the next sync

 private:
  class File final : public WritableFile {
   public:
    File(SyncCountingEnv* env, std::string name, WritableFile* file) : env_(env), name_(std::move(name)), file_(file) {}
    Status Append(const Slice& data) override { return file_->Append(data); }
    Status Close() override { return file_->Close(); }
    Status Flush() override { return file_->Flush(); }
    Status Sync() override {
      env_->synced.push_back(name_);
      if (std::exchange(env_->fails_once, false)) return Status::IOError(name_, "lost");
      return file_->Sync();
    }
    Status RangeSync(uint64_t offset, uint64_t size) override {
      EXPECT_EQ(env_->range_synced, offset);
      env_->range_synced = offset + size;
      return file_->RangeSync(offset, size);
    }

   private:
    SyncCountingEnv* const env_;
    const std::string name_;
    const std::unique_ptr<WritableFile> file_;
  };
};

class FileLogTest : public testing::Test {
 protected:
  FileLogTest() {
    options_.env = &env_;
    options_.folder = dir_.path();
    options_.now_seconds = [this] { return now_; };
  }

  void Open(uint64_t pool = kPool) {
    log_.reset();
    log_ = std::make_unique<FileLog>(options_);
    ASSERT_OK(log_->Own(pool, pool, 1));
  }

  // Appends a single put.
  void Append(uint64_t sequence, bool sync = false, size_t value_bytes = 10) {
    const std::string value(value_bytes, 'v');
    ASSERT_OK(log_->Append({{kTypeValue, "key", value}}, sequence, sync));
  }

  std::vector<std::string> Names(const std::string& folder) {
    std::vector<std::string> names, logs;
    if (env_.FileExists(folder)) EXPECT_OK(env_.GetChildren(folder, &names));
    for (const std::string& name : names) {
      if (name.find(".log") != std::string::npos) logs.push_back(name);
    }
    std::sort(logs.begin(), logs.end());
    return logs;
  }
  std::vector<std::string> Files() { return Names(dir_.path()); }
  std::vector<std::string> Archive() { return Names(dir_ / "archive"); }

  using List = std::vector<std::string>;

  TestDir dir_;
  SyncCountingEnv env_;
  uint64_t now_ = 1000;
  FileLog::Options options_;
  std::unique_ptr<FileLog> log_;
};

// The system tells it once.
TEST_F(FileLogTest, ASyncThatFailedFailsForEver) {
  Open();
  Append(1);
  env_.fails_once = true;
  EXPECT_STATUS(IOError, log_->Sync());
  EXPECT_STATUS(IOError, log_->Sync());
}

TEST_F(FileLogTest, TheLastNumberIsRefused) {
  Open();
  const std::string last = dir_ / LogFileName(kMostLogNumber, options_.block_size);
  ASSERT_OK(WriteStringToFile(&env_, "", last));
  LogPiece piece;
  piece.kind = LogPiece::Kind::kFile;
  piece.file = {kMostLogNumber, options_.block_size};
  piece.verdict = LogVerdict::kDrop;
  EXPECT_STATUS(Corruption, log_->Adopt({piece}));
  EXPECT_TRUE(env_.FileExists(last));
}

// Not by an assertion: the number comes from the name of a file.
TEST_F(FileLogTest, TheFileBehindTheLastNumberIsRefused) {
  Open();
  LogPiece piece;
  piece.kind = LogPiece::Kind::kFile;
  piece.file = {kMostLogNumber - 1, options_.block_size};
  piece.verdict = LogVerdict::kDrop;
  ASSERT_OK(WriteStringToFile(&env_, "", dir_ / piece.file.name()));
  ASSERT_OK(log_->Adopt({piece}));
  Append(1);
  log_->EndFile();
  EXPECT_STATUS(Corruption, log_->Append({{kTypeValue, "key", "value"}}, 2, false));
}

TEST_F(FileLogTest, AFileThatSomebodyElseRemovedKeepsNoOther) {
  for (const uint64_t archive_bytes : {0, 1 << 20}) {
    options_.archive_bytes = archive_bytes;
    Open();
    const uint64_t first = Files().size();
    EXPECT_EQ(0u, first);
    for (uint64_t sequence = 1; sequence <= 3; sequence++) {
      Append(sequence);
      log_->EndFile();
    }
    ASSERT_EQ(3u, Files().size());
    ASSERT_OK(env_.RemoveFile(dir_ / Files()[0]));
    ASSERT_OK(log_->Retire(3));
    EXPECT_TRUE(Files().empty());
    EXPECT_EQ(0u, log_->live_bytes());
  }
}

TEST_F(FileLogTest, AFileIsRemovedOnceAllOfItIsFlushed) {
  Open();
  Append(1);
  Append(2);
  log_->EndFile();
  Append(3);
  EXPECT_EQ((List{"000001.log", "000002.log"}), Files());
  ASSERT_OK(log_->Retire(1));
  EXPECT_EQ(2u, Files().size());
  ASSERT_OK(log_->Retire(2));
  EXPECT_EQ(List{"000002.log"}, Files());
  ASSERT_OK(log_->Retire(3));
  EXPECT_EQ(List{"000002.log"}, Files()) << "the current file stays";
  log_->EndFile();
  ASSERT_OK(log_->Retire(3));
  EXPECT_TRUE(Files().empty());
  EXPECT_EQ(0u, log_->live_bytes());
  EXPECT_GT(log_->bytes_written(), 0u);
}

TEST_F(FileLogTest, SyncCoversOlderFilesFirst) {
  Open();
  Append(1);
  log_->EndFile();
  Append(2);
  log_->EndFile();
  Append(3);
  EXPECT_TRUE(env_.synced.empty());
  Append(4, true);
  EXPECT_EQ((List{"000001.log", "000002.log", "000003.log"}), env_.synced);
  env_.synced.clear();
  log_->EndFile();
  Append(5, true);
  EXPECT_EQ(List{"000004.log"}, env_.synced) << "what was synced is not synced again";
}

TEST_F(FileLogTest, BytesPerSyncStartsWritingEverySoManyBytes) {
  options_.bytes_per_sync = 1000;
  Open();
  for (uint64_t i = 1; i <= 20; i++) Append(i, false, 100);
  EXPECT_GE(env_.range_synced, 1000u);
  EXPECT_LT(log_->bytes_written() - env_.range_synced, 1000u);
  EXPECT_TRUE(env_.synced.empty());
}

TEST_F(FileLogTest, TheArchiveIsTrimmedByAge) {
  options_.archive_seconds = 100;
  Open();
  Append(1);
  log_->EndFile();
  Append(2);
  log_->EndFile();
  ASSERT_OK(log_->Retire(1));
  EXPECT_EQ(List{"000001.log.1000"}, Archive());
  EXPECT_EQ(List{"000002.log"}, Files());
  log_->TrimArchive();
  now_ = 1060;
  ASSERT_OK(log_->Retire(2));
  now_ = 1099;
  log_->TrimArchive();
  EXPECT_EQ(2u, Archive().size());
  now_ = 1100 + 50;
  log_->TrimArchive();
  EXPECT_EQ(List{"000002.log.1060"}, Archive());
  Open();
  ASSERT_OK(log_->Adopt({}));
  Append(3);
  EXPECT_EQ(List{"000003.log"}, Files()) << "numbers go on behind those of the archive";
  now_ = 1160 + 50;
  log_->TrimArchive();
  EXPECT_TRUE(Archive().empty());
}

TEST_F(FileLogTest, TheLongestAgeIsForEver) {
  options_.archive_seconds = UINT64_MAX;
  Open();
  Append(1);
  log_->EndFile();
  ASSERT_OK(log_->Retire(1));
  now_ += uint64_t{1} << 40;
  log_->TrimArchive();
  EXPECT_EQ(List{"000001.log.1000"}, Archive());
}

TEST_F(FileLogTest, TheArchiveIsTrimmedBySizeOldestFirst) {
  options_.archive_bytes = 2500;
  Open();
  for (uint64_t i = 1; i <= 4; i++) {
    Append(i, false, 1000);
    log_->EndFile();
    ASSERT_OK(log_->Retire(i));
    now_++;
  }
  EXPECT_EQ(4u, Archive().size());
  log_->TrimArchive();
  EXPECT_EQ((List{"000003.log.1002", "000004.log.1003"}), Archive());
}

TEST_F(FileLogTest, AFolderIsOnePoolsAlone) {
  Open();
  FileLog second(options_);
  EXPECT_STATUS(IOError, second.Own(kPool, kPool, 1));  // it is open
  Append(1);
  log_.reset();
  FileLog other(options_);
  const Status s = other.Own(kPool + 1, kPool, 1);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "000001.log"));
  EXPECT_TRUE(Mentions(s, "another pool"));
}

TEST_F(FileLogTest, AFolderWithoutLogFilesChangesHands) {
  Open();
  Append(1);
  log_->EndFile();
  ASSERT_OK(log_->Retire(1));
  Open(kPool + 1);
  Append(1);
  log_.reset();
  FileLog first(options_);
  EXPECT_STATUS(InvalidArgument, first.Own(kPool, kPool, 1));
}

TEST_F(FileLogTest, WhatRecoveryRefusedIsGoneBeforeAnythingIsAppended) {
  Open();
  for (uint64_t i = 1; i <= 3; i++) {
    Append(i);
    log_->EndFile();
  }
  Open();
  env_.synced.clear();
  std::vector<LogPiece> pieces(3);
  for (uint64_t i = 0; i < 3; i++) {
    pieces[i].kind = LogPiece::Kind::kFile;
    pieces[i].file = {i + 1, kUsualLogBlock};
    pieces[i].last_sequence = i + 1;
  }
  pieces[0].verdict = LogVerdict::kKeep;
  ASSERT_OK(log_->Adopt(pieces));
  EXPECT_EQ((List{"000001.log", "000004.log"}), Files());
  EXPECT_EQ(List{"000004.log"}, env_.synced) << "this sync makes the removals durable";
  Append(2);
  EXPECT_EQ((List{"000001.log", "000004.log"}), Files());
  ASSERT_OK(log_->Retire(1));
  EXPECT_EQ(List{"000004.log"}, Files());
}

TEST_F(FileLogTest, DestroyLeavesForeignFiles) {
  options_.archive_bytes = 1 << 20;
  options_.block_size = 512;
  Open();
  Append(1);
  log_->EndFile();
  ASSERT_OK(log_->Retire(1));
  Append(2);
  log_.reset();
  ASSERT_OK(WriteStringToFile(&env_, "x", dir_ / "mine"));
  // A crash leaves these of a log file that was being cut, and of a mark that was being replaced.
  ASSERT_OK(WriteStringToFile(&env_, "x", dir_ / Files().back() + ".tmp"));
  ASSERT_OK(WriteStringToFile(&env_, "x", dir_ / "WAL_OWNER.tmp"));
  ASSERT_OK(FileLog::Destroy(&env_, dir_.path(), nullptr));
  std::vector<std::string> names;
  ASSERT_OK(env_.GetChildren(dir_.path(), &names));
  names.erase(std::remove_if(names.begin(), names.end(), [](const std::string& n) { return n[0] == '.'; }),
              names.end());
  EXPECT_EQ(List{"mine"}, names);
}

}  // namespace
}  // namespace miodb::test
