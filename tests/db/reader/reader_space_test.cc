// Readers in other processes and the space of the pool: who waits for whom, what a full pool says, and what happens to
// readers when the database is taken away under them.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "miodb/env.h"
#include "miodb/updates.h"
#include "tests/common/environment.h"
#include "tests/common/in_child.h"
#include "tests/common/reader_test_base.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

uint64_t Now() { return Env::Default()->NowMicros(); }

class ReaderSpaceTest : public ReaderTestBase {
 protected:
  // Writes until the pool has all that it may have.
  void WriteUntilFull(DB* db) const {
    for (uint64_t round = 1; round < 60; round++) {
      for (uint64_t i = 0; i < 1000; i++) {
        const Status s = db->Put(WriteOptions(), FilledKey(i), FilledValue(i, 400, round));
        if (s.IsNoSpace()) return;
        EXPECT_OK(s);
      }
    }
    FAIL() << "there is always space";
  }

  // A process that fills the pool and is killed, so that its files stay as long as they are.
  void CrashAWriter() const {
    const int ended = InChild([this] {
      DB* db = nullptr;
      if (!DB::Open(options_, path_, &db).ok()) return 1;
      for (uint64_t round = 1; round < 30; round++) {
        for (uint64_t i = 0; i < 1000; i++) {
          const Status s = db->Put(WriteOptions(), FilledKey(i), FilledValue(i, 400, round));
          if (!s.ok() && !s.IsNoSpace()) return 2;
          if (s.IsNoSpace()) round = 30;
        }
      }
      kill(getpid(), SIGKILL);
      return 3;
    });
    ASSERT_EQ(1000 + SIGKILL, ended);
  }

  std::string InfoLog() const {
    std::ifstream file(path_ + "/LOG");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
};

// An open finds all that is free held, as far as it knows, and waits until the reader looks away.
TEST_F(ReaderSpaceTest, AnOpenWaitsForAReaderThatHoldsTheSpace) {
  options_.pool_size = 8 * kMiB;
  Open();
  Fill(1000, 400);
  Close();
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  for (int round = 0; round < 3; round++) {
    std::unique_ptr<Iterator> walk(reader->NewIterator(ReadOptions()));
    walk->SeekToFirst();
    ASSERT_TRUE(walk->Valid());
    CrashAWriter();
    std::thread looks_away([&] {
      usleep(700000);
      walk.reset();
    });
    Open();
    looks_away.join();
    ASSERT_NE(nullptr, db_);
    Fill(1000, 400, 3);
    CheckFilled(1000, 400, 3);
    Close();
    ASSERT_OK(reader->Refresh());
  }
}

// What readers hold is no reason to refuse a limit, and what says that the pool is full tells of them.
TEST_F(ReaderSpaceTest, WhatReadersHoldIsTold) {
  options_.pool_size = 16 * kMiB;
  Open();
  Fill(1000, 400);
  Close();
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  const std::unique_ptr<Iterator> walk(reader->NewIterator(ReadOptions()));
  CrashAWriter();
  options_.pool_size = 8 * kMiB;
  Status s = TryOpen();
  for (uint64_t i = 0; s.ok() && i < 20000; i++) {
    s = db_->Put(WriteOptions(), FilledKey(i % 1000), FilledValue(i % 1000, 400, i));
  }
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  EXPECT_NE(std::string::npos, s.ToString().find("for readers in other processes")) << s.ToString();
}

// The first write that is refused waits a little for readers, and those that follow do not.
TEST_F(ReaderSpaceTest, AFullPoolDoesNotWaitAtEachWrite) {
  options_.pool_size = 8 * kMiB;
  Open();
  Fill(1000, 400);
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  std::unique_ptr<Iterator> walk(reader->NewIterator(ReadOptions()));
  WriteUntilFull(db_.get());
  const uint64_t start = Now();
  int refused = 0;
  for (uint64_t i = 0; i < 50; i++) {
    refused += db_->Put(WriteOptions(), FilledKey(i), FilledValue(i, 400, 99)).IsNoSpace();
  }
  EXPECT_GT(refused, 25);
  EXPECT_LT(Now() - start, 50u * 50000);
  walk.reset();
  ASSERT_OK(reader->Refresh());
  for (uint64_t round = 100; round < 110; round++) Fill(1000, 400, round);
  CheckFilled(1000, 400, 109);
}

// Who follows and has everything waits for the next write, which a full pool would refuse for as long as he keeps
// space.
TEST_F(ReaderSpaceTest, AnUpdateStreamAtItsEndKeepsNoSpace) {
  options_.pool_size = 8 * kMiB;
  Open();
  Fill(1000, 400);
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  std::unique_ptr<UpdateIterator> updates[2];
  ASSERT_OK(db_->GetUpdatesSince(db_->GetLatestSequenceNumber(), &updates[0]));
  ASSERT_OK(reader->Refresh());
  ASSERT_OK(reader->GetUpdatesSince(db_->GetLatestSequenceNumber(), &updates[1]));
  for (auto& stream : updates) {
    EXPECT_TRUE(stream->Valid());
    stream->Next();
    EXPECT_FALSE(stream->Valid());
    EXPECT_OK(stream->status());
  }
  for (uint64_t round = 1; round < 30; round++) Fill(1000, 400, round);
  CheckFilled(1000, 400, 29);
  ASSERT_OK(db_->Put(WriteOptions(), "a", "1"));
  ASSERT_OK(reader->Refresh());
  for (auto& stream : updates) {
    stream->Next();
    EXPECT_TRUE(stream->status().IsNotFound()) << "what was written meanwhile is in the log no more";
  }
}

// A follower that stands still at a batch keeps what it has read ahead, and no space of the pool. It is told when it
// comes too late.
TEST_F(ReaderSpaceTest, AnUpdateStreamBetweenTwoBatchesKeepsNoSpace) {
  options_.pool_size = 8 * kMiB;
  options_.keep_log_bytes = kMiB;
  Open();
  Fill(1000, 400);
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  std::unique_ptr<UpdateIterator> updates[2];
  const uint64_t first = db_->GetLatestSequenceNumber() - 500;
  ASSERT_OK(db_->GetUpdatesSince(first, &updates[0]));
  ASSERT_OK(reader->GetUpdatesSince(first, &updates[1]));
  for (uint64_t round = 1; round < 30 && !HasFailure(); round++) {
    Fill(1000, 400, round);
    ASSERT_OK(reader->Refresh());
  }
  CheckFilled(1000, 400, 29);
  for (auto& stream : updates) {
    uint64_t next = first;
    for (; stream->Valid(); stream->Next()) {
      ASSERT_EQ(next, stream->sequence());
      next = stream->last_sequence() + 1;
    }
    EXPECT_GT(next, first);
    EXPECT_TRUE(stream->status().IsNotFound()) << stream->status().ToString();
  }
}

// A child that deletes what its parent has takes nothing from what the parent pinned.
TEST_F(ReaderSpaceTest, AChildTakesNoPinFromItsParent) {
  options_.pool_size = 8 * kMiB;
  Open();
  Fill(1000, 400);
  std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  std::unique_ptr<UpdateIterator> updates;
  ASSERT_OK(reader->GetUpdatesSince(reader->GetLatestSequenceNumber(), &updates));
  std::unique_ptr<Iterator> walk(reader->NewIterator(ReadOptions()));
  ASSERT_EQ(0, InChild([&] {
              updates.reset();
              walk.reset();
              reader.reset();
              return 0;
            }));
  WriteUntilFull(db_.get());
  uint64_t count = 0;
  for (walk->SeekToFirst(); walk->Valid(); walk->Next()) count++;
  EXPECT_OK(walk->status());
  EXPECT_EQ(1000u, count);
}

// What came free while a reader looked goes back to the file system once it looks away, though nobody allocates.
TEST_F(ReaderSpaceTest, HeldSpaceIsGivenBackAtLast) {
  Open();
  Fill(20000, 400);
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  std::unique_ptr<Iterator> walk(reader->NewIterator(ReadOptions()));
  ASSERT_OK(db_->DeleteRange(WriteOptions(), FilledKey(0), FilledKey(30000)));
  Settle();
  const uint64_t held = Counter("pool-bytes-held");
  EXPECT_GT(held, 4 * kMiB);
  walk.reset();
  for (int wait = 0; wait < 5000 && Counter("pool-bytes-held") > 0; wait++) usleep(1000);
  EXPECT_EQ(0u, Counter("pool-bytes-held"));
  Close();
  struct stat info;
  ASSERT_EQ(0, stat((path_ + "/pool").c_str(), &info));
  EXPECT_LT(static_cast<uint64_t>(info.st_blocks) * 512, held / 2);
}

// A child of a reader's process does not keep what the reader pinned.
TEST_F(ReaderSpaceTest, AChildOfADeadReaderKeepsNoSpace) {
  options_.pool_size = 8 * kMiB;
  Open();
  Fill(1000, 400);
  Close();
  int ready[2];
  ASSERT_EQ(0, pipe(ready));
  const pid_t child = fork();
  if (child == 0) {
    DB* reader = nullptr;
    if (!DB::OpenReader(options_, path_, &reader).ok()) _exit(1);
    Iterator* const walk = reader->NewIterator(ReadOptions());
    walk->SeekToFirst();
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      for (;;) pause();
    }
    if (write(ready[1], &grandchild, sizeof(grandchild)) != sizeof(grandchild)) _exit(2);
    for (;;) pause();
  }
  pid_t grandchild = 0;
  ASSERT_EQ(static_cast<ssize_t>(sizeof(grandchild)), read(ready[0], &grandchild, sizeof(grandchild)));
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  ASSERT_EQ(0, kill(grandchild, 0));
  Open();
  for (uint64_t round = 1; round < 20; round++) Fill(1000, 400, round);
  CheckFilled(1000, 400, 19);
  EXPECT_EQ(0u, Counter("pool-bytes-held"));
  kill(grandchild, SIGKILL);
  close(ready[0]);
  close(ready[1]);
}

// Where there is no room for the page the database is as good as any, and says that nobody else can read.
TEST_F(ReaderSpaceTest, WithoutRoomForThePageNobodyElseReads) {
  Open();
  Put("a", "1");
  Close();
  fs::remove(path_ + "/READERS");
  const std::string mount_point = dir_ / "small";
  fs::create_directory(mount_point);
  if (mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "cannot mount";
  options_.pool_path = dir_ / "pool";
  path_ = mount_point + "/db";
  Open();  // with room
  Put("a", "1");
  Close();
  fs::remove(path_ + "/READERS");
  std::ofstream(mount_point + "/filler") << std::string(65536, 'x');
  Open();
  if (db_ != nullptr) {
    EXPECT_EQ("1", Get("a"));
    DB* reader = nullptr;
    const Status s = DB::OpenReader(options_, path_, &reader);
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    EXPECT_FALSE(fs::exists(path_ + "/READERS"));
  }
  fs::remove(mount_point + "/filler");
  Open();
  EXPECT_NE(nullptr, OpenReader());
  Close();
  umount(mount_point.c_str());
}

// ---- the database goes

TEST_F(ReaderSpaceTest, SaysThatTheDatabaseIsGone) {
  Open();
  Put("a", "1");
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  const std::unique_ptr<Iterator> walk(reader->NewIterator(ReadOptions()));
  Close();
  const auto refused = [&] {
    const Status s = reader->Refresh();
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    EXPECT_NE(std::string::npos, s.ToString().find("removed or replaced")) << s.ToString();
    std::string value;
    EXPECT_TRUE(reader->Get(ReadOptions(), "a", &value).IsIOError());
  };
  ASSERT_OK(DestroyDB(path_, options_));
  refused();
  Open();  // another one under the same name
  Put("a", "2");
  refused();
  walk->SeekToFirst();
  ASSERT_TRUE(walk->Valid());
  EXPECT_EQ("1", walk->value().ToString());
  std::string value;
  ASSERT_OK(OpenReader()->Get(ReadOptions(), "a", &value));
  EXPECT_EQ("2", value);
}

TEST_F(ReaderSpaceTest, SaysThatTheDatabaseWasRepaired) {
  Open();
  Put("a", "1");
  Close();
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_TRUE(reader->Refresh().IsIOError());
  std::string value;
  ASSERT_OK(OpenReader()->Get(ReadOptions(), "a", &value));
  EXPECT_EQ("1", value);
}

TEST_F(ReaderSpaceTest, SaysThatTheLogWentIntoFiles) {
  Open();
  Put("a", "1");
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  options_.log_mode = kLogFile;
  Open();
  Put("a", "2");
  EXPECT_TRUE(reader->Refresh().IsNotSupportedError());
  options_.log_mode = kLogPmem;
  Open();
  ASSERT_OK(db_->Flush());
  Open();  // which leaves the files that nothing is in any more
  ASSERT_OK(reader->Refresh());
  std::string value;
  ASSERT_OK(reader->Get(ReadOptions(), "a", &value));
  EXPECT_EQ("2", value);
}

// ---- what comes while a reader looks

// Keys of the first family are never seen as keys of the default one.
TEST_F(ReaderSpaceTest, TheFirstFamilyIsNeverSeenInTheDefaultOne) {
  const uint64_t rounds = ByScale(20, 100, 1000);
  for (uint64_t round = 0; round < rounds && !HasFailure(); round++) {
    Open();
    Put("a", "1");
    const std::unique_ptr<DB> reader = OpenReader();
    ASSERT_NE(nullptr, reader);
    std::thread writer([&] {
      ColumnFamilyHandle* family = nullptr;
      ASSERT_OK(db_->CreateColumnFamily("f", &family));
      for (int i = 0; i < 200; i++) ASSERT_OK(db_->Put(WriteOptions(), family, std::to_string(i), "2"));
    });
    for (int look = 0; look < 100; look++) {
      ASSERT_OK(reader->Refresh());
      ASSERT_EQ("(a->1)", Forward(reader.get()));
    }
    writer.join();
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
  }
}

TEST_F(ReaderSpaceTest, ARefreshedIteratorOfAnIdleReaderIsNew) {
  Open();
  Put("a", "1");
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  const std::unique_ptr<Iterator> walk(reader->NewIterator(ReadOptions()));
  for (int i = 2; i < 6; i++) {
    usleep(150000);
    Put("a", std::to_string(i));
    ASSERT_OK(walk->Refresh());
    walk->SeekToFirst();
    ASSERT_TRUE(walk->Valid());
    EXPECT_EQ(std::to_string(i), walk->value().ToString());
  }
}

// ---- the SSD tier

class ReaderTierTest : public ReaderSpaceTest {
 protected:
  ReaderTierTest() { UseSsd(); }
};

TEST_F(ReaderTierTest, EqualsTheModelAtEveryStep) {
  Random random(Seeds(1).front());
  Model model(BytewiseComparator());
  Open();
  std::unique_ptr<DB> reader = OpenReader();
  const int rounds = static_cast<int>(ByScale(40, 100, 1000));
  for (int round = 0; round < rounds && !HasFailure(); round++) {
    ASSERT_NE(nullptr, reader);
    for (int i = 0; i < 8; i++) {
      const std::string key = "large" + std::to_string(random.Uniform(300)), value = random.Bytes(6000);
      Put(key, value);
      model.Put(key, value);
    }
    WriteSome(&random, static_cast<int>(random.Uniform(200)), &model);
    if (random.OneIn(6)) Settle();
    if (random.OneIn(8)) Open();
    if (random.OneIn(8)) reader = OpenReader();
    ASSERT_OK(reader->Refresh());
    ASSERT_EQ(Text(model.Snapshot()), Forward(reader.get())) << round;
  }
  EXPECT_GT(Counter("ssd-files"), 0u);
}

// The files that a walk has not opened yet are in a directory that has got another name.
TEST_F(ReaderTierTest, SaysThatTheDatabaseWasRepairedWhereAWalkFindsNoFile) {
  Open();
  Fill(8000, 400);
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_GT(Counter("ssd-files"), 0u);
  Close();
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  const std::unique_ptr<Iterator> walk(reader->NewIterator(ReadOptions()));
  ASSERT_OK(RepairDB(path_, options_));
  walk->SeekToFirst();
  while (walk->Valid()) walk->Next();
  EXPECT_STATUS(IOError, walk->status());
  EXPECT_TRUE(Mentions(walk->status(), "open a new one"));
}

// Table files that compactions take out stay for as long as an iterator needs them, over a new open too.
TEST_F(ReaderTierTest, FilesThatAnIteratorNeedsStay) {
  Open();
  Fill(8000, 400);
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  std::unique_ptr<Iterator> walk(reader->NewIterator(ReadOptions()));
  for (uint64_t round = 1; round < 4; round++) {
    for (uint64_t i = 0; i < 8000; i++) {
      const Status s = db_->Put(WriteOptions(), FilledKey(i), FilledValue(i, 400, round));
      if (s.IsNoSpace()) break;
      ASSERT_OK(s);
    }
    if (round != 2) continue;
    options_.pool_size += kMiB;  // the new owner finds all of the rest held
    Open();
    ASSERT_NE(nullptr, db_);
  }
  uint64_t seen = 0;
  for (walk->SeekToFirst(); walk->Valid(); walk->Next(), seen++) {
    ASSERT_EQ(FilledKey(seen), walk->key().ToString());
    ASSERT_EQ(FilledValue(seen, 400, 0), walk->value().ToString());
  }
  ASSERT_OK(walk->status());
  EXPECT_EQ(8000u, seen);
  walk.reset();
  ASSERT_OK(reader->Refresh());
  Open();
  for (uint64_t round = 4; round < 8; round++) Fill(8000, 400, round);
  Settle();
  Open();
  const auto files = [this] {
    uint64_t count = 0;
    for (const auto& entry : fs::directory_iterator(ssd_)) count += entry.path().extension() == ".sst";
    return count;
  };
  for (int wait = 0; wait < 5000 && files() != Counter("ssd-files"); wait++) usleep(1000);
  EXPECT_EQ(Counter("ssd-files"), files());
  ASSERT_OK(reader->Refresh());
  EXPECT_EQ(Forward(db_.get()), Forward(reader.get()));
}

}  // namespace
}  // namespace miodb::test
