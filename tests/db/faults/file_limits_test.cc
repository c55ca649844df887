// Files that must not get larger: what a database cannot write is an error of the call, and no signal.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "miodb/env.h"
#include "tests/common/db_test_base.h"
#include "tests/common/in_child.h"

namespace miodb::test {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

class FileLimitsTest : public DbTestBase {
 protected:
  enum Exit : int { kRefused = 10, kNeverRefused, kNotOpened, kWrongError, kWrongRead };

  // Opens the database and puts until a put fails: kRefused if it says why, and all that was put can be read.
  int PutUntilRefused(const std::string& reason) {
    Status s = TryOpen();
    if (!s.ok()) return Say(s, kNotOpened);
    int written = 0;
    for (; s.ok() && written < 100000; written++) {
      s = db_->Put(WriteOptions(), "put" + std::to_string(written), std::string(4000, 'v'));
    }
    if (s.ok()) return kNeverRefused;
    if (s.ToString().find(reason) == std::string::npos) return Say(s, kWrongError);
    for (int i = 0; i + 1 < written; i++) {
      if (Get("put" + std::to_string(i)) != std::string(4000, 'v')) return kWrongRead;
    }
    Close();
    return kRefused;
  }

  static int Say(const Status& s, int exit) {
    fprintf(stderr, "%s\n", s.ToString().c_str());
    return exit;
  }

  static void LimitFiles(uint64_t bytes) {
    const struct rlimit limit = {bytes, bytes};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
  }
};

struct LimitCase {
  const char* name;
  LogMode log_mode;
};

std::ostream& operator<<(std::ostream& out, const LimitCase& c) { return out << c.name; }

class LimitedFileSizes : public FileLimitsTest, public testing::WithParamInterface<LimitCase> {};

// ulimit -f
TEST_P(LimitedFileSizes, ArePutsThatFailAndNoSignal) {
  options_.log_mode = GetParam().log_mode;
  options_.pool_size = 64 * kMiB;
  const uint64_t limit = GetParam().log_mode == kLogFile ? 4 * kMiB : 16 * kMiB;
  options_.write_buffer_size = GetParam().log_mode == kLogFile ? 32 * kMiB : 256 * 1024;
  const int exit = InChild([&] {
    LimitFiles(limit);
    return PutUntilRefused("ulimit -f");
  });
  EXPECT_EQ(kRefused, exit);
  // Without the limit it goes on.
  ASSERT_OK(TryOpen());
  Put("after", "all");
  EXPECT_EQ(std::string(4000, 'v'), Get("put0"));
}

INSTANTIATE_TEST_SUITE_P(All, LimitedFileSizes,
                         testing::Values(LimitCase{"PoolLog", kLogPmem}, LimitCase{"FileLog", kLogFile}),
                         [](const auto& limited) { return limited.param.name; });

TEST_F(FileLimitsTest, AnInfoLogAtTheLimitLosesItsMessagesAlone) {
  options_.pool_size = 2 * kMiB;
  const int exit = InChild([&] {
    Logger* log = nullptr;
    if (!Env::Default()->NewLogger(dir_ / "LOG", &log).ok()) return 3;
    const std::unique_ptr<Logger> owned(log);
    LimitFiles(4096);
    for (int i = 0; i < 200; i++) Log(log, "%s", std::string(100, 'x').c_str());
    return 0;
  });
  EXPECT_EQ(0, exit);
  EXPECT_LE(std::filesystem::file_size(dir_ / "LOG"), 4096u);
}

// A program that ignores or handles the signal, or has one waiting, finds all as it was.
TEST_F(FileLimitsTest, TheSignalsOfTheProgramAreLeftAlone) {
  const int exit = InChild([&] {
    sigset_t set, now;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    WritableFile* file = nullptr;
    if (!Env::Default()->NewWritableFile(dir_ / "file", &file).ok()) return 3;
    const std::unique_ptr<WritableFile> owned(file);
    LimitFiles(4096);
    const auto write = [&] { return file->Append(std::string(10000, 'x')).ok() && file->Flush().ok(); };
    if (write()) return 4;
    pthread_sigmask(SIG_SETMASK, nullptr, &now);
    if (sigismember(&now, SIGXFSZ) != 0) return 5;
    sigpending(&now);
    if (sigismember(&now, SIGXFSZ) != 0) return 6;
    return 0;
  });
  EXPECT_EQ(0, exit);
}

// In file mode, what waits for the disk is what has something there.
TEST_F(FileLimitsTest, ASyncedPutSyncsThePoolOnlyIfItsLogIsThere) {
  for (const LogMode mode : {kLogPmem, kLogFile, kLogOff}) {
    const std::string name = std::to_string(static_cast<int>(mode));
    SCOPED_TRACE(name);
    path_ = dir_ / name;
    options_.persist_mode = kPersistFile;
    options_.log_mode = mode;
    Open();
    ASSERT_OK(db_->WaitForIdle());
    const uint64_t before = Counter("nvm-fences");
    WriteOptions synced;
    synced.sync = true;
    for (int i = 0; i < 200; i++) ASSERT_OK(db_->Put(synced, "key", std::to_string(i)));
    const uint64_t fences = Counter("nvm-fences") - before;
    // Background threads have a few of their own.
    if (mode == kLogPmem) {
      EXPECT_GE(fences, 200u);
    } else {
      EXPECT_LT(fences, 100u);
    }
    Close();
  }
}

}  // namespace
}  // namespace miodb::test
