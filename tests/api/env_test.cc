#include "miodb/env.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "miodb/comparator.h"
#include "miodb/options.h"
#include "src/util/threads/mutex.h"
#include "tests/common/random/random.h"

namespace miodb {
namespace {

#define ASSERT_OK(expression)                        \
  do {                                               \
    const Status status_ = (expression);             \
    ASSERT_TRUE(status_.ok()) << status_.ToString(); \
  } while (false)

// Gives every test an empty directory of its own.
class EnvTest : public testing::Test {
 public:
  void SetUp() override {
    std::string base;
    ASSERT_OK(env_->GetTestDirectory(&base));
    dir_ = base + "/env_test-" + std::to_string(::getpid()) + "-" +
           testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_OK(env_->CreateDir(dir_));
  }

  void TearDown() override {
    std::vector<std::string> children;
    ASSERT_OK(env_->GetChildren(dir_, &children));
    for (const std::string& child : children) {
      if (child != "." && child != "..") ASSERT_OK(env_->RemoveFile(dir_ + "/" + child));
    }
    ASSERT_OK(env_->RemoveDir(dir_));
  }

  std::string Name(const std::string& name) const { return dir_ + "/" + name; }

  std::unique_ptr<WritableFile> Create(const std::string& fname) {
    WritableFile* file = nullptr;
    const Status s = env_->NewWritableFile(fname, &file);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return std::unique_ptr<WritableFile>(file);
  }

  std::string Content(const std::string& fname) {
    std::string data;
    const Status s = ReadFileToString(env_, fname, &data);
    return s.ok() ? data : s.ToString();
  }

  Env* const env_ = Env::Default();
  std::string dir_;
};

TEST_F(EnvTest, TheDefaultIsOneObjectAndTheDefaultOfOptions) {
  EXPECT_EQ(Env::Default(), Env::Default());
  const Options options;
  EXPECT_EQ(Env::Default(), options.env);
  EXPECT_EQ(BytewiseComparator(), options.comparator);
}

TEST_F(EnvTest, WhatIsAppendedInPiecesOfAnySizeReadsBack) {
  Random random(14);
  const std::string fname = Name("file");
  const std::unique_ptr<WritableFile> writer = Create(fname);
  std::string expected;
  for (int i = 0; i < 200; ++i) {
    const std::string piece = random.Bytes(random.Skewed(18));
    ASSERT_OK(writer->Append(piece));
    expected += piece;
    if (random.OneIn(20)) {
      ASSERT_OK(writer->Flush());
      ASSERT_TRUE(Content(fname) == expected);
    }
    if (random.OneIn(50)) ASSERT_OK(writer->Sync());
  }
  ASSERT_OK(writer->Close());
  ASSERT_TRUE(Content(fname) == expected);
  uint64_t size;
  ASSERT_OK(env_->GetFileSize(fname, &size));
  EXPECT_EQ(expected.size(), size);

  SequentialFile* opened;
  ASSERT_OK(env_->NewSequentialFile(fname, &opened));
  const std::unique_ptr<SequentialFile> sequential(opened);
  std::string scratch(1 << 18, '\0');
  size_t at = 0;
  while (at < expected.size()) {
    Slice got;
    if (random.OneIn(5)) {
      const size_t n = random.Uniform(1000);
      ASSERT_OK(sequential->Skip(n));
      at += n;
    }
    const size_t n = random.Skewed(17) + 1;
    ASSERT_OK(sequential->Read(n, &got, &scratch[0]));
    const std::string wanted = at < expected.size() ? expected.substr(at, n) : "";
    ASSERT_TRUE(got == Slice(wanted)) << at;
    at += n;
  }
  Slice got;
  ASSERT_OK(sequential->Read(1, &got, &scratch[0]));
  EXPECT_TRUE(got.empty());
}

TEST_F(EnvTest, RandomReadsGiveWhatIsThereAndNoMore) {
  ASSERT_OK(WriteStringToFile(env_, "0123456789", Name("file")));
  RandomAccessFile* opened;
  ASSERT_OK(env_->NewRandomAccessFile(Name("file"), &opened));
  const std::unique_ptr<RandomAccessFile> file(opened);
  char scratch[20];
  Slice got;
  ASSERT_OK(file->Read(3, 4, &got, scratch));
  EXPECT_EQ("3456", got.ToString());
  ASSERT_OK(file->Read(8, 20, &got, scratch));
  EXPECT_EQ("89", got.ToString());
  ASSERT_OK(file->Read(10, 1, &got, scratch));
  EXPECT_TRUE(got.empty());
  ASSERT_OK(file->Read(1000, 1, &got, scratch));
  EXPECT_TRUE(got.empty());
  ASSERT_OK(file->Read(0, 0, &got, scratch));
  EXPECT_TRUE(got.empty());
}

TEST_F(EnvTest, AWritableFileCutsWhatWasThereAndAnAppendableOneKeepsIt) {
  ASSERT_OK(WriteStringToFile(env_, "old content", Name("file")));
  ASSERT_OK(WriteStringToFile(env_, "new", Name("file")));
  EXPECT_EQ("new", Content(Name("file")));

  for (const char* fname : {"file", "fresh"}) {
    WritableFile* opened;
    ASSERT_OK(env_->NewAppendableFile(Name(fname), &opened));
    const std::unique_ptr<WritableFile> file(opened);
    ASSERT_OK(file->Append(" and more"));
    ASSERT_OK(file->Sync());
  }
  EXPECT_EQ("new and more", Content(Name("file")));
  EXPECT_EQ(" and more", Content(Name("fresh")));
}

TEST_F(EnvTest, TheDestructorWritesOutTheBuffer) {
  std::unique_ptr<WritableFile> file = Create(Name("file"));
  ASSERT_OK(file->Append("hello"));
  EXPECT_EQ("", Content(Name("file")));  // still in the buffer
  file.reset();
  EXPECT_EQ("hello", Content(Name("file")));
}

TEST_F(EnvTest, AClosedFileRefusesEveryCall) {
  const std::unique_ptr<WritableFile> file = Create(Name("file"));
  ASSERT_OK(file->Close());
  EXPECT_TRUE(file->Append("x").IsIOError());
  EXPECT_TRUE(file->Flush().IsIOError());
  EXPECT_TRUE(file->Sync().IsIOError());
  EXPECT_TRUE(file->Close().IsIOError());
}

TEST_F(EnvTest, AFailedWriteStaysAnError) {
  if (!env_->FileExists("/dev/full")) GTEST_SKIP() << "no device that is always full";
  WritableFile* opened;
  ASSERT_OK(env_->NewWritableFile("/dev/full", &opened));
  const std::unique_ptr<WritableFile> file(opened);
  ASSERT_OK(file->Append("x"));
  const Status first = file->Flush();
  EXPECT_TRUE(first.IsIOError());
  EXPECT_EQ(0u, first.ToString().find("IO error: /dev/full: ")) << first.ToString();
  EXPECT_EQ(first.ToString(), file->Append("y").ToString());
  EXPECT_EQ(first.ToString(), file->Flush().ToString());
  EXPECT_EQ(first.ToString(), file->Sync().ToString());
  EXPECT_EQ(first.ToString(), file->Close().ToString());
}

// Nobody may ever open the other end of a FIFO, and a device has no end.
TEST_F(EnvTest, WhatIsNoFileIsRefusedWithoutWaiting) {
  const std::string fifo = Name("fifo"), folder = Name("folder");
  ASSERT_EQ(0, ::mkfifo(fifo.c_str(), 0600));
  ASSERT_OK(env_->CreateDir(folder));
  for (const std::string& fname : {fifo, folder, std::string("/dev/zero")}) {
    SequentialFile* sequential = nullptr;
    RandomAccessFile* random_access = nullptr;
    FileLock* lock = nullptr;
    std::string data;
    for (const Status& s :
         {env_->NewSequentialFile(fname, &sequential), env_->NewRandomAccessFile(fname, &random_access),
          env_->NewDirectRandomAccessFile(fname, &random_access), ReadFileToString(env_, fname, &data),
          env_->LockFile(fname, &lock)}) {
      EXPECT_FALSE(s.ok());
      EXPECT_NE(std::string::npos, s.ToString().find(fname)) << s.ToString();
    }
  }
  for (const std::string& fname : {fifo, folder}) {
    WritableFile* writable = nullptr;
    Logger* logger = nullptr;
    for (const Status& s : {env_->NewWritableFile(fname, &writable), env_->NewAppendableFile(fname, &writable),
                            env_->NewDirectWritableFile(fname, &writable), env_->NewLogger(fname, &logger)}) {
      EXPECT_FALSE(s.ok());
      EXPECT_NE(std::string::npos, s.ToString().find(fname)) << s.ToString();
    }
  }
  ASSERT_OK(env_->RemoveDir(folder));
}

TEST_F(EnvTest, WhatDoesNotExistIsNotFoundAndNamesTheFile) {
  const std::string fname = Name("missing");
  SequentialFile* sequential = reinterpret_cast<SequentialFile*>(1);
  RandomAccessFile* random_access = reinterpret_cast<RandomAccessFile*>(1);
  WritableFile* writable = reinterpret_cast<WritableFile*>(1);
  FileLock* lock = reinterpret_cast<FileLock*>(1);
  Logger* logger = reinterpret_cast<Logger*>(1);
  std::vector<std::string> children{"x"};
  std::string data = "x";
  uint64_t size = 1;
  const std::vector<Status> statuses = {
      env_->NewSequentialFile(fname, &sequential),
      env_->NewRandomAccessFile(fname, &random_access),
      env_->NewWritableFile(fname + "/file", &writable),
      env_->LockFile(fname + "/file", &lock),
      env_->NewLogger(fname + "/file", &logger),
      env_->GetChildren(fname, &children),
      env_->GetFileSize(fname, &size),
      env_->RemoveFile(fname),
      env_->RemoveDir(fname),
      env_->RenameFile(fname, Name("other")),
      env_->CreateDir(fname + "/dir"),
      ReadFileToString(env_, fname, &data),
      WriteStringToFile(env_, "data", fname + "/file"),
  };
  for (const Status& s : statuses) {
    EXPECT_TRUE(s.IsNotFound()) << s.ToString();
    EXPECT_EQ(0u, s.ToString().find("NotFound: " + fname)) << s.ToString();
  }
  EXPECT_EQ(nullptr, sequential);
  EXPECT_EQ(nullptr, random_access);
  EXPECT_EQ(nullptr, writable);
  EXPECT_EQ(nullptr, lock);
  EXPECT_EQ(nullptr, logger);
  EXPECT_TRUE(children.empty());
  EXPECT_EQ(0u, size);
  EXPECT_EQ("", data);
  EXPECT_FALSE(env_->FileExists(fname));
}

TEST_F(EnvTest, DirectoriesListRenameAndRemove) {
  ASSERT_OK(WriteStringToFile(env_, "1", Name("a")));
  ASSERT_OK(WriteStringToFile(env_, "2", Name("b")));
  ASSERT_OK(env_->RenameFile(Name("a"), Name("b")));  // replaces b
  ASSERT_OK(WriteStringToFile(env_, "3", Name("c")));
  std::vector<std::string> children;
  ASSERT_OK(env_->GetChildren(dir_, &children));
  children.erase(std::remove_if(children.begin(), children.end(), [](const std::string& s) { return s[0] == '.'; }),
                 children.end());
  std::sort(children.begin(), children.end());
  EXPECT_EQ((std::vector<std::string>{"b", "c"}), children);
  EXPECT_EQ("1", Content(Name("b")));
  EXPECT_TRUE(env_->CreateDir(dir_).IsIOError());  // exists
  EXPECT_TRUE(env_->RemoveDir(dir_).IsIOError());  // not empty
  EXPECT_TRUE(env_->FileExists(dir_));
}

TEST_F(EnvTest, TheDeprecatedNamesStillWork) {
  ASSERT_OK(WriteStringToFile(env_, "1", Name("a")));
  ASSERT_OK(env_->DeleteFile(Name("a")));
  EXPECT_FALSE(env_->FileExists(Name("a")));
  ASSERT_OK(env_->CreateDir(Name("dir")));
  ASSERT_OK(env_->DeleteDir(Name("dir")));
  EXPECT_FALSE(env_->FileExists(Name("dir")));
}

TEST_F(EnvTest, ASecondLockOfThisProcessFailsUnderAnyName) {
  FileLock* lock;
  ASSERT_OK(env_->LockFile(Name("LOCK"), &lock));
  FileLock* second;
  const Status s = env_->LockFile(Name("LOCK"), &second);
  EXPECT_TRUE(s.IsIOError());
  EXPECT_EQ("IO error: lock " + Name("LOCK") + ": already held by process", s.ToString());  // LevelDB's words
  EXPECT_EQ(nullptr, second);
  EXPECT_TRUE(env_->LockFile(dir_ + "/./LOCK", &second).IsIOError());
  ASSERT_OK(env_->UnlockFile(lock));
  ASSERT_OK(env_->LockFile(Name("LOCK"), &lock));
  ASSERT_OK(env_->UnlockFile(lock));
}

// Whether a child process gets the lock.
bool ChildCanLock(const std::string& fname) {
  const pid_t child = ::fork();
  if (child == 0) {
    // Through a program of its own, because after fork this one still knows the lock as its own.
    ::execlp("flock", "flock", "--nonblock", "--conflict-exit-code", "9", fname.c_str(), "true", nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_NE(127, WEXITSTATUS(status)) << "the program flock is missing";
  return WEXITSTATUS(status) == 0;
}

TEST_F(EnvTest, ALockKeepsOtherProcessesOut) {
  FileLock* lock;
  ASSERT_OK(env_->LockFile(Name("LOCK"), &lock));
  // Reading the file and closing it again must not end the lock.
  EXPECT_EQ("", Content(Name("LOCK")));
  EXPECT_FALSE(ChildCanLock(Name("LOCK")));
  ASSERT_OK(env_->UnlockFile(lock));
  EXPECT_TRUE(ChildCanLock(Name("LOCK")));
}

TEST_F(EnvTest, ARemovedLockFileDoesNotBlockItsSuccessor) {
  FileLock* old_lock;
  ASSERT_OK(env_->LockFile(Name("LOCK"), &old_lock));
  ASSERT_OK(env_->RemoveFile(Name("LOCK")));
  FileLock* lock;
  ASSERT_OK(env_->LockFile(Name("LOCK"), &lock));
  ASSERT_OK(env_->UnlockFile(old_lock));
  FileLock* second;
  EXPECT_TRUE(env_->LockFile(Name("LOCK"), &second).IsIOError());
  ASSERT_OK(env_->UnlockFile(lock));
}

TEST_F(EnvTest, OfManyThreadsOneGetsTheLock) {
  std::atomic<int> got{0};
  std::atomic<FileLock*> winner{nullptr};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      FileLock* lock;
      if (env_->LockFile(Name("LOCK"), &lock).ok()) {
        ++got;
        winner = lock;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(1, got);
  ASSERT_OK(env_->UnlockFile(winner));
}

// Collects numbers from other threads.
struct Collector {
  Mutex mu;
  CondVar cv{&mu};
  std::vector<int> numbers GUARDED_BY(mu);

  void Add(int n) {
    MutexLock lock(&mu);
    numbers.push_back(n);
    cv.SignalAll();
  }

  std::vector<int> WaitFor(size_t count) {
    MutexLock lock(&mu);
    while (numbers.size() < count) cv.Wait();
    return numbers;
  }
};

struct Task {
  Collector* collector;
  int number;

  static void Run(void* arg) {
    const auto* task = static_cast<Task*>(arg);
    task->collector->Add(task->number);
  }
};

TEST_F(EnvTest, ScheduledWorkRunsInItsOrder) {
  Collector collector;
  std::vector<Task> tasks;
  std::vector<int> expected;
  for (int i = 0; i < 100; ++i) {
    tasks.push_back({&collector, i});
    expected.push_back(i);
  }
  for (Task& task : tasks) env_->Schedule(&Task::Run, &task);
  EXPECT_EQ(expected, collector.WaitFor(100));
}

TEST_F(EnvTest, ScheduledWorkMaySchedule) {
  struct Chain {
    Env* env;
    Collector collector;
    int left = 10;

    static void Run(void* arg) {
      auto* chain = static_cast<Chain*>(arg);
      if (--chain->left > 0) {
        chain->env->Schedule(&Chain::Run, chain);
      } else {
        chain->collector.Add(0);
      }
    }
  };
  Chain chain;
  chain.env = env_;
  env_->Schedule(&Chain::Run, &chain);
  chain.collector.WaitFor(1);
}

TEST_F(EnvTest, StartedThreadsRunBesideEachOther) {
  Collector collector;
  struct Waiter {
    Collector* collector;
    int number;
    static void Run(void* arg) {
      const auto* self = static_cast<Waiter*>(arg);
      self->collector->Add(self->number);
      self->collector->WaitFor(3);  // ends only if all three are running
      self->collector->Add(10 + self->number);
    }
  };
  Waiter waiters[] = {{&collector, 0}, {&collector, 1}, {&collector, 2}};
  for (Waiter& waiter : waiters) env_->StartThread(&Waiter::Run, &waiter);
  std::vector<int> numbers = collector.WaitFor(6);
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ((std::vector<int>{0, 1, 2, 10, 11, 12}), numbers);
}

TEST_F(EnvTest, SleepTakesAtLeastItsTime) {
  const uint64_t start = env_->NowMicros();
  env_->SleepForMicroseconds(5000);
  EXPECT_GE(env_->NowMicros() - start, 5000u);
  env_->SleepForMicroseconds(0);
  env_->SleepForMicroseconds(-1);
}

TEST_F(EnvTest, TheLoggerWritesOneStampedLineForEachMessage) {
  Logger* opened;
  ASSERT_OK(env_->NewLogger(Name("LOG"), &opened));
  std::unique_ptr<Logger> logger(opened);
  const std::string big(5000, 'x');
  Log(logger.get(), "plain");
  Log(logger.get(), "number %d, text %s\n", 42, "abc");
  Log(logger.get(), "%s", big.c_str());
  Log(logger.get(), "%s", "");
  Log(nullptr, "to nobody %d", 1);
  logger.reset();
  ASSERT_OK(env_->NewLogger(Name("LOG"), &opened));  // keeps what is there
  logger.reset(opened);
  Log(logger.get(), "reopened");

  std::string content = Content(Name("LOG"));
  std::vector<std::string> messages;
  while (!content.empty()) {
    const size_t end = content.find('\n');
    ASSERT_NE(std::string::npos, end);
    const std::string line = content.substr(0, end);
    content.erase(0, end + 1);
    // "2024-01-31T13:05:09.123456Z 4711 message"
    ASSERT_GT(line.size(), 28u) << line;
    EXPECT_EQ('-', line[4]);
    EXPECT_EQ('T', line[10]);
    EXPECT_EQ("Z ", line.substr(26, 2));
    messages.push_back(line.substr(line.find(' ', 28) + 1));
  }
  EXPECT_EQ((std::vector<std::string>{"plain", "number 42, text abc", big, "", "reopened"}), messages);
}

TEST_F(EnvTest, LinesOfManyThreadsAreNotMixed) {
  Logger* opened;
  ASSERT_OK(env_->NewLogger(Name("LOG"), &opened));
  const std::unique_ptr<Logger> logger(opened);
  std::vector<std::thread> threads;
  for (char c = 'a'; c < 'e'; ++c) {
    threads.emplace_back([&logger, c] {
      for (int i = 0; i < 200; ++i) Log(logger.get(), "%s", std::string(300, c).c_str());
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string content = Content(Name("LOG"));
  for (char c = 'a'; c < 'e'; ++c) {
    const std::string line = " " + std::string(300, c) + "\n";
    int found = 0;
    for (size_t at = content.find(line); at != std::string::npos; at = content.find(line, at + 1)) ++found;
    EXPECT_EQ(200, found);
  }
}

// An Env written when RemoveFile and RemoveDir had their old names.
class OldEnv : public EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;
  Status RemoveFile(const std::string& fname) override { return Env::RemoveFile(fname); }
  Status RemoveDir(const std::string& dirname) override { return Env::RemoveDir(dirname); }
  Status DeleteFile(const std::string& fname) override {
    deleted += fname;
    return Status::OK();
  }
  Status DeleteDir(const std::string& dirname) override {
    deleted += dirname;
    return Status::OK();
  }
  Status NewAppendableFile(const std::string& fname, WritableFile** result) override {
    return Env::NewAppendableFile(fname, result);
  }

  std::string deleted;
};

TEST_F(EnvTest, TheDefaultsReachTheOldNamesAndRefuseToAppend) {
  OldEnv old(env_);
  ASSERT_OK(old.RemoveFile("a"));
  ASSERT_OK(old.RemoveDir("b"));
  EXPECT_EQ("ab", old.deleted);
  WritableFile* file = reinterpret_cast<WritableFile*>(1);
  EXPECT_TRUE(old.NewAppendableFile("c", &file).IsNotSupportedError());
  EXPECT_EQ(nullptr, file);
}

TEST_F(EnvTest, AWrapperPassesCallsOn) {
  EnvWrapper wrapper(env_);
  EXPECT_EQ(env_, wrapper.target());
  ASSERT_OK(WriteStringToFile(&wrapper, "through", Name("file")));
  EXPECT_EQ("through", Content(Name("file")));
  EXPECT_TRUE(wrapper.FileExists(Name("file")));
  ASSERT_OK(wrapper.DeleteFile(Name("file")));  // the old name ends in the target's RemoveFile
  EXPECT_FALSE(env_->FileExists(Name("file")));
}

// Fails to close what it wrote.
class FailingEnv : public EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;
  Status NewWritableFile(const std::string& fname, WritableFile** result) override {
    WritableFile* real;
    Status s = EnvWrapper::NewWritableFile(fname, &real);
    if (s.ok()) *result = new FailingFile(real);
    return s;
  }

 private:
  class FailingFile : public WritableFile {
   public:
    explicit FailingFile(WritableFile* real) : real_(real) {}
    Status Append(const Slice& data) override { return real_->Append(data); }
    Status Close() override { return Status::IOError("close", "fails"); }
    Status Flush() override { return real_->Flush(); }
    Status Sync() override { return real_->Sync(); }

   private:
    const std::unique_ptr<WritableFile> real_;
  };
};

TEST_F(EnvTest, WriteStringToFileLeavesNoHalfFileBehind) {
  FailingEnv failing(env_);
  EXPECT_EQ("IO error: close: fails", WriteStringToFile(&failing, "data", Name("file")).ToString());
  EXPECT_FALSE(env_->FileExists(Name("file")));
}

}  // namespace
}  // namespace miodb
