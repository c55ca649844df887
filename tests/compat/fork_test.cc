// A child of fork() and the databases that its parent has open. LevelDB promises nothing here; bindings delete their
// objects in children all the same.

#include <leveldb/filter_policy.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/compat/leveldb_fixture.h"

namespace {

using leveldb::Slice;
using leveldb::Status;

class ForkTest : public LevelDBTest {
 protected:
  // Forks. The child calls the function, which returns whether all was right, and ends; one that hangs is killed.
  template <typename Function>
  static pid_t Fork(Function function) {
    const pid_t child = fork();
    if (child != 0) return child;
    alarm(60);
    _exit(function() ? 0 : 1);
  }
  static void ExpectFine(pid_t child) {
    int status = -1;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(0, WEXITSTATUS(status));
  }
  template <typename Function>
  static void InChild(Function function) {
    ExpectFine(Fork(function));
  }

  std::string Everything() {
    const std::unique_ptr<leveldb::Iterator> iterator = NewIterator();
    iterator->SeekToFirst();
    return Forward(iterator.get());
  }

  static bool SaysWhy(const Status& s) {
    return s.IsIOError() && s.ToString().find("opened before fork()") != std::string::npos;
  }
};

TEST_F(ForkTest, EveryCallInTheChildSaysWhyItDoesNothing) {
  Put("a", "1");
  InChild([this] {
    leveldb::WriteBatch batch;
    batch.Put("b", "2");
    std::string value = "as it was";
    leveldb::PinnableSlice pinned;
    std::vector<std::string> values;
    bool fine = SaysWhy(db_->Put(leveldb::WriteOptions(), "b", "2"));
    fine = fine && SaysWhy(db_->Delete(leveldb::WriteOptions(), "a"));
    fine = fine && SaysWhy(db_->Write(leveldb::WriteOptions(), &batch));
    fine = fine && SaysWhy(db_->Get(leveldb::ReadOptions(), "a", &value)) && value == "as it was";
    fine = fine && SaysWhy(db_->Get(leveldb::ReadOptions(), "a", &pinned));
    fine = fine && SaysWhy(db_->MultiGet(leveldb::ReadOptions(), {"a", "b"}, &values)[1]);
    const std::unique_ptr<leveldb::Iterator> iterator = NewIterator();
    iterator->SeekToFirst();
    fine = fine && !iterator->Valid() && SaysWhy(iterator->status());
    fine = fine && SaysWhy(db_->Flush()) && SaysWhy(db_->WaitForIdle()) && SaysWhy(db_->EndTrace());
    fine = fine && !db_->GetProperty("leveldb.stats", &value) && db_->GetSnapshot() == nullptr;
    const leveldb::Range range("a", "z");
    uint64_t size = 77;
    db_->GetApproximateSizes(&range, 1, &size);
    db_->CompactRange(nullptr, nullptr);
    db_->StopWaiting();
    return fine && size == 0;
  });
  EXPECT_EQ("a=1", Everything());
}

// Counts the messages of each process. A logger with a lock could be held by a thread that a child does not have.
class CountingLogger final : public leveldb::Logger {
 public:
  void Logv(const char*, va_list) override { messages++; }
  std::atomic<int> messages{0};
};

TEST_F(ForkTest, NoCallInTheChildLogs) {
  CountingLogger logger;
  options_.info_log = &logger;
  Reopen();
  Put("a", "1");
  InChild([this, &logger] {
    const int before = logger.messages;
    db_->CompactRange(nullptr, nullptr);
    const leveldb::Range range("a", "z");
    uint64_t size;
    db_->GetApproximateSizes(&range, 1, &size);
    db_->Flush().IgnoreError();
    db_->WaitForIdle().IgnoreError();
    db_->EndTrace().IgnoreError();
    db_->StopWaiting();
    db_.reset();
    return logger.messages == before;
  });
  EXPECT_EQ("1", Get("a"));
  Close();
}

TEST_F(ForkTest, AnIteratorOfTheParentEndsWithTheReasonInTheChild) {
  Put("a", "1");
  Put("b", "2");
  const std::unique_ptr<leveldb::Iterator> iterator = NewIterator();
  iterator->SeekToFirst();
  InChild([&] {
    iterator->Next();
    const bool fine = !iterator->Valid() && SaysWhy(iterator->status());
    iterator->Seek("a");
    return fine && !iterator->Valid();
  });
  EXPECT_EQ("a=1 b=2", Forward(iterator.get()));
}

TEST_F(ForkTest, WhatIsDeletedInTheChildIsLeftAsItIs) {
  Put("a", "1");
  std::unique_ptr<leveldb::Iterator> iterator = NewIterator();
  iterator->SeekToFirst();
  int cleaned = 0;
  iterator->RegisterCleanup([](void* count, void*) { ++*static_cast<int*>(count); }, &cleaned, nullptr);
  const leveldb::Snapshot* const snapshot = db_->GetSnapshot();
  leveldb::PinnableSlice pinned;
  ASSERT_OK(db_->Get(leveldb::ReadOptions(), "a", &pinned));
  InChild([&] {
    iterator.reset();
    db_->ReleaseSnapshot(snapshot);
    pinned.Reset();
    Close();
    return cleaned == 1 && TryOpen().IsIOError();  // the parent has it
  });
  EXPECT_EQ(0, cleaned);
  Put("b", "2");
  EXPECT_EQ("(none)", Get("b", snapshot));
  db_->ReleaseSnapshot(snapshot);
  EXPECT_EQ("a=1", Forward(iterator.get()));
  iterator.reset();
  EXPECT_EQ(1, cleaned);
  EXPECT_EQ("1", pinned.ToString());
  pinned.Reset();
  Churn();
  Reopen();
  EXPECT_EQ("a=1 b=2", Everything());
}

TEST_F(ForkTest, ChildrenMadeInTheMiddleOfWritesAndMergesDoNotHang) {
  std::atomic<bool> stop{false};
  std::atomic<int> written{0};
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; w++) {
    writers.emplace_back([&, w] {
      const std::string value(500, 'v');
      for (int i = 0; !stop; i++) {
        EXPECT_OK(db_->Put(leveldb::WriteOptions(), std::to_string(w) + "." + std::to_string(i % 3000), value));
        ++written;
      }
    });
  }
  for (int i = 0; i < 20; i++) {
    const int before = written;
    while (written < before + 500) std::this_thread::yield();
    InChild([this] {
      const bool told = SaysWhy(db_->Put(leveldb::WriteOptions(), "child", "x"));
      Close();
      return told;
    });
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  Reopen();
  EXPECT_EQ("(none)", Get("child"));
}

TEST_F(ForkTest, TheChildOpensDatabasesOfItsOwnAndLaterTheParents) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "a child's threads can get ids of its parent's, which ThreadSanitizer takes for still running";
#endif
  Put("a", "1");
  int closed[2];
  ASSERT_EQ(0, pipe(closed));
  const pid_t child = Fork([&] {
    Close();
    leveldb::DB* own = nullptr;
    if (!leveldb::DB::Open(options_, dir_ / "own", &own).ok()) return false;
    bool fine = own->Put(leveldb::WriteOptions(), "mine", "1").ok();
    delete own;
    char byte;
    fine = fine && read(closed[0], &byte, 1) == 1 && TryOpen().ok() && Get("a") == "1";
    if (fine) Put("b", "2");
    Close();
    return fine;
  });
  Close();
  ASSERT_EQ(1, write(closed[1], "x", 1));
  ExpectFine(child);
  Reopen();
  EXPECT_EQ("a=1 b=2", Everything());
  close(closed[0]);
  close(closed[1]);
}

// Or a server that was killed could not start again while one of its helpers runs.
TEST_F(ForkTest, AChildDoesNotKeepTheLockOfAParentThatDied) {
  Close();
  int runs[2], ends[2];
  ASSERT_EQ(0, pipe(runs));
  ASSERT_EQ(0, pipe(ends));
  InChild([&] {
    Reopen();
    Put("a", "1");
    Fork([&] {
      close(ends[1]);
      char byte = 'x';
      return write(runs[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 0;  // until the test has closed its end
    });
    char byte;
    return read(runs[0], &byte, 1) == 1;  // and dies without closing
  });
  Reopen();
  EXPECT_EQ("1", Get("a"));
  for (const int fd : {runs[0], runs[1], ends[0], ends[1]}) close(fd);
}

}  // namespace
