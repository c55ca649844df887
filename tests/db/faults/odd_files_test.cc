// A FIFO, a device or a directory in the place of any file. Whatever is asked of the database says so, and does not
// wait for somebody to open the other end, or read what has no end.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "miodb/dumpfile.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

// Ends a test that waits for ever.
constexpr unsigned kMostSeconds = 120;

enum class Odd { kFifo, kDevice, kDirectory };

struct Case {
  const char* name;
  void (*set)(Options* options, const TestDir& dir);
};

const Case kCases[] = {
    {"Pool", [](Options*, const TestDir&) {}},
    {"LogFiles", [](Options* options, const TestDir&) { options->log_mode = kLogFile; }},
    {"SsdAndLogFolder",
     [](Options* options, const TestDir& dir) {
       options->log_mode = kLogFile;
       options->wal_dir = dir / "logs";
       options->ssd_path = dir / "ssd";
       options->nvm_budget = 64 * 1024;
     }},
    {"Volatile",
     [](Options* options, const TestDir& dir) {
       options->log_mode = kLogFile;
       options->wal_dir = dir / "logs";
       options->ssd_path = dir / "ssd";
       options->pool_path = "anonymous";
     }},
};

class OddFilesTest : public DbTestBase, public testing::WithParamInterface<Case> {
 protected:
  OddFilesTest() {
    GetParam().set(&options_, dir_);
    alarm(kMostSeconds);
  }
  ~OddFilesTest() override { alarm(0); }

  void Make() {
    Open();
    Fill(200, 1000);
    EXPECT_OK(db_->WaitForIdle());
    Fill(10, 100, 1);
    Close();
  }

  void Clear() {
    for (const char* folder : {"db", "logs", "ssd", "ssd.repaired", "ssd.damaged"}) fs::remove_all(dir_ / folder);
  }

  // Every file that a database of these options may have, there or not.
  std::vector<std::string> Names() {
    std::vector<std::string> names = {"db/LOST",       "db/pool.repaired", "db/pool.damaged",
                                      "db/repair.tmp", "db/LOG.old",       "ssd.repaired",
                                      "ssd.damaged",   "db/STORE.tmp",     "db"};
    const size_t fixed = names.size();
    for (const auto& entry : fs::recursive_directory_iterator(dir_.path())) {
      if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), dir_.path()));
    }
    std::sort(names.begin() + static_cast<std::ptrdiff_t>(fixed), names.end());
    return names;
  }

  static void Place(Odd odd, const std::string& path) {
    fs::remove_all(path);
    switch (odd) {
      case Odd::kFifo:
        ASSERT_EQ(0, mkfifo(path.c_str(), 0600));
        break;
      case Odd::kDevice:
        fs::create_symlink("/dev/zero", path);
        break;
      case Odd::kDirectory:
        fs::create_directory(path);
        break;
    }
  }

  void TryEverything() {
    if (TryOpen().ok()) {
      Get("key00000001");
      EXPECT_TRUE(db_->Put(WriteOptions(), "key", "value").ok() || true);
      db_->CompactRange(nullptr, nullptr);
    }
    Close();
    WritableFile* sink = nullptr;
    ASSERT_OK(options_.env->NewWritableFile(dir_ / "dump", &sink));
    const std::unique_ptr<WritableFile> owner(sink);
    for (const char* file : {"db/pool", "db/LOST", "db"}) DumpFile(options_.env, dir_ / file, sink).IgnoreError();
    RepairDB(path_, options_).IgnoreError();
    DestroyDB(path_, options_).IgnoreError();
  }
};

INSTANTIATE_TEST_SUITE_P(Databases, OddFilesTest, testing::ValuesIn(kCases),
                         [](const auto& param) { return std::string(param.param.name); });

TEST_P(OddFilesTest, NothingWaitsForThem) {
  Make();
  const std::vector<std::string> names = Names();
  EXPECT_GT(names.size(), 11u);
  for (const std::string& name : names) {
    for (const Odd odd : {Odd::kFifo, Odd::kDevice, Odd::kDirectory}) {
      SCOPED_TRACE(name + ", kind " + std::to_string(static_cast<int>(odd)));
      Clear();
      Make();
      Place(odd, dir_ / name);
      alarm(kMostSeconds);
      TryEverything();
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(OddFilesTest, APoolThatIsAFifoIsRefused) {
  if (options_.pool_path == "anonymous") GTEST_SKIP() << "has no file";
  Make();
  Place(Odd::kFifo, dir_ / "db/pool");
  const Status opened = TryOpen();
  EXPECT_STATUS(IOError, opened);
  EXPECT_TRUE(Mentions(opened, "db/pool")) << opened.ToString();
  EXPECT_TRUE(Mentions(opened, "not a file")) << opened.ToString();
  const Status repaired = RepairDB(path_, options_);
  EXPECT_FALSE(repaired.ok());
  EXPECT_TRUE(Mentions(repaired, "not a file")) << repaired.ToString();
}

}  // namespace
}  // namespace miodb::test
