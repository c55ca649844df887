// A process whose standard descriptors are closed: no file of a database gets one of their numbers, and what the
// program prints reaches no file of the database.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "miodb/backup.h"
#include "miodb/env.h"
#include "tests/common/db_test_base.h"
#include "tests/common/in_child.h"

namespace miodb::test {
namespace {

// Which of the three are closed: all sets but the empty one.
class StandardDescriptorsTest : public DbTestBase, public testing::WithParamInterface<int> {
 protected:
  bool IsClosed(int fd) const { return (GetParam() >> fd & 1) != 0; }

  // Each closed one can still not be used, and nothing was printed anywhere.
  bool StayUseless() const {
    for (int fd = 0; fd <= 2; fd++) {
      char byte = 'x';
      if (IsClosed(fd) && (write(fd, &byte, 1) >= 0 || read(fd, &byte, 1) >= 0)) return false;
    }
    return true;
  }

  // Every kind of file, and every call that makes one. The number of the call that failed, or 0.
  int UseMuch() const {
    const auto works = [this](const Status& s) { return s.ok() && StayUseless(); };
    std::unique_ptr<DB> db, reader;
    if (!works(OpenDb(options_, path_, &db))) return 1;
    for (int i = 0; i < 2000; i++) {
      if (!db->Put(WriteOptions(), FilledKey(static_cast<uint64_t>(i)), std::string(200, 'v')).ok()) return 2;
    }
    DB* opened = nullptr;
    if (!works(DB::OpenReader(options_, path_, &opened))) return 3;
    reader.reset(opened);
    if (!works(db->WaitForIdle())) return 4;
    if (!works(db->CreateCheckpoint(dir_ / "checkpoint"))) return 5;
    if (!works(db->CreateBackup(BackupOptions(), dir_ / "backups", nullptr))) return 6;
    if (!works(RestoreBackup(Options(), BackupOptions(), dir_ / "backups", 0, dir_ / "restored"))) return 7;
    std::vector<std::string> names;
    if (!works(Env::Default()->GetChildren(path_, &names))) return 8;
    reader.reset();
    db.reset();
    Options with_log = options_;
    with_log.ssd_path.clear();
    with_log.wal_dir = dir_ / "logs";
    with_log.log_mode = kLogFile;
    if (!works(OpenDb(with_log, dir_ / "logged", &db))) return 11;
    db.reset();
    if (!works(RepairDB(path_, options_))) return 9;
    return works(OpenDb(options_, path_, &db)) ? 0 : 10;
  }
};

TEST_P(StandardDescriptorsTest, AreNoFilesOfADatabase) {
  options_.ssd_path = dir_ / "ssd";
  options_.nvm_budget = 64 << 10;
  EXPECT_EQ(0, InChild([this] {
              for (int fd = 0; fd <= 2; fd++) {
                if (IsClosed(fd)) close(fd);
              }
              return UseMuch();
            }));
  Open();
  EXPECT_EQ(std::string(200, 'v'), Get(FilledKey(1999)));
}

// What a process has not closed stays what it is.
TEST_P(StandardDescriptorsTest, ThatAreOpenAreLeftAlone) {
  EXPECT_EQ(0, InChild([this] {
              struct stat before[3], after;
              for (int fd = 0; fd <= 2; fd++) {
                if (IsClosed(fd) ? close(fd) != 0 : fstat(fd, &before[fd]) != 0) return 1;
              }
              std::unique_ptr<DB> db;
              if (!OpenDb(options_, path_, &db).ok()) return 2;
              for (int fd = 0; fd <= 2; fd++) {
                if (!IsClosed(fd) && (fstat(fd, &after) != 0 || after.st_ino != before[fd].st_ino)) return 3;
              }
              return 0;
            }));
}

INSTANTIATE_TEST_SUITE_P(Closed, StandardDescriptorsTest, testing::Range(1, 8));

}  // namespace
}  // namespace miodb::test
