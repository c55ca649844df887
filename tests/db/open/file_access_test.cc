// Access to the files of a database: the owner alone, or a group that Options::file_access asks for, whatever the
// umask.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "miodb/env.h"
#include "miodb/trace.h"
#include "src/util/files/posix_file.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKiB = 1024;

mode_t ModeOf(const std::string& path) {
  struct stat info;
  EXPECT_EQ(0, ::lstat(path.c_str(), &info)) << path;
  return info.st_mode & 07777;
}

class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  const mode_t before_;
};

class FileAccessTestBase : public DbTestBase {
 protected:
  // Everything below dir_, and the names of the files.
  std::set<std::string> CheckModes(FileAccess access) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_.path())) {
      const mode_t wanted = entry.is_directory() ? FolderMode(access) : FileMode(access);
      EXPECT_EQ(wanted, ModeOf(entry.path().string())) << entry.path();
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  // All that a database makes is there now.
  void MakeMuch() {
    options_.ssd_path = dir_ / "ssd";
    options_.wal_dir = dir_ / "logs";
    options_.log_mode = kLogFile;
    options_.wal_ttl_seconds = 1000;
    options_.nvm_budget = 64 * kKiB;
    options_.nvm_regions.resize(1);
    options_.nvm_regions[0].path = dir_ / "region";
    Open();
    Open();  // LOG.old
    std::unique_ptr<TraceWriter> writer;
    ASSERT_OK(NewFileTraceWriter(dir_ / "trace", &writer));
    ASSERT_OK(db_->StartTrace(TraceOptions(), std::move(writer)));
    Fill(3000, 100);
    Settle();
    ASSERT_OK(db_->EndTrace());
    Put("in the log", "1");
  }
};

class FileAccessTest : public FileAccessTestBase, public testing::WithParamInterface<std::tuple<FileAccess, mode_t>> {};

TEST_P(FileAccessTest, IsThatOfAllFilesAndFolders) {
  const auto [access, mask] = GetParam();
  const Umask umask(mask);
  options_.file_access = access;
  MakeMuch();
  // The writer of a trace is the program's, and makes its file for its owner.
  EXPECT_EQ(FileMode(FileAccess::kOwner), ModeOf(dir_ / "trace"));
  ASSERT_OK(Env::Default()->RemoveFile(dir_ / "trace"));
  const std::set<std::string> names = CheckModes(access);
  for (const std::string name : {"pool", "region", "LOCK", "LOG", "LOG.old", "archive", "ssd", "logs", "db"}) {
    EXPECT_EQ(1u, names.count(name)) << name;
  }
  EXPECT_GT(Counter("ssd-files"), 0u);
  Close();
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_EQ(1u, CheckModes(access).count("LOST"));
  options_.nvm_regions.clear();
  Open();
  EXPECT_EQ("1", Get("in the log"));
  Settle();  // files that jobs replace come and go
  CheckModes(access);
}

TEST_P(FileAccessTest, IsThatOfWhatAVolatilePoolLeaves) {
  const auto [access, mask] = GetParam();
  const Umask umask(mask);
  options_.file_access = access;
  options_.pool_path = "anonymous";
  options_.log_mode = kLogFile;
  options_.ssd_path = dir_ / "ssd";
  options_.pool_size = 1024 * kKiB;
  Open();
  Fill(3000, 100);
  Open();
  CheckFilled(3000, 100);
  Settle();
  EXPECT_EQ(1u, CheckModes(access).count("STORE"));
  Close();
  ASSERT_OK(RepairDB(path_, options_));
  CheckModes(access);
}

TEST_P(FileAccessTest, IsThatOfDirectWrites) {
  const auto [access, mask] = GetParam();
  const Umask umask(mask);
  WritableFile* file = nullptr;
  const Status s = Env::WithAccess(access)->NewDirectWritableFile(dir_ / "file", &file);
  if (s.IsNotSupportedError()) GTEST_SKIP() << s.ToString();
  ASSERT_OK(s);
  delete file;
  CheckModes(access);
}

INSTANTIATE_TEST_SUITE_P(Accesses, FileAccessTest,
                         testing::Combine(testing::Values(FileAccess::kOwner, FileAccess::kGroupReads,
                                                          FileAccess::kGroupWrites),
                                          testing::Values(mode_t{0}, mode_t{022}, mode_t{0777})));

class ExistingFilesTest : public FileAccessTestBase {};

TEST_F(ExistingFilesTest, KeepTheirMode) {
  Open();
  Put("a", "1");
  Close();
  for (const std::string name : {"/pool", "/LOCK"}) ASSERT_EQ(0, ::chmod((path_ + name).c_str(), 0640));
  ASSERT_EQ(0, ::chmod(path_.c_str(), 0750));
  options_.file_access = FileAccess::kGroupWrites;
  Open();
  EXPECT_EQ("1", Get("a"));
  for (const std::string name : {"/pool", "/LOCK"}) EXPECT_EQ(mode_t{0640}, ModeOf(path_ + name));
  EXPECT_EQ(mode_t{0750}, ModeOf(path_));
}

TEST_F(ExistingFilesTest, KeepTheirModeWhenAnEnvWritesThem) {
  Env* const env = Env::Default();
  ASSERT_OK(WriteStringToFile(env, "old", dir_ / "file"));
  ASSERT_EQ(0, ::chmod((dir_ / "file").c_str(), 0664));
  ASSERT_OK(WriteStringToFile(env, "new", dir_ / "file"));
  WritableFile* opened = nullptr;
  ASSERT_OK(env->NewAppendableFile(dir_ / "file", &opened));
  delete opened;
  EXPECT_EQ(mode_t{0664}, ModeOf(dir_ / "file"));
}

// A link may lead to a file that is not there yet.
TEST_F(ExistingFilesTest, AreMadeBehindALinkToNothing) {
  std::filesystem::create_symlink(dir_ / "target", dir_ / "link");
  ASSERT_OK(WriteStringToFile(Env::Default(), "text", dir_ / "link"));
  EXPECT_EQ(uint64_t{4}, std::filesystem::file_size(dir_ / "target"));
  EXPECT_EQ(FileMode(FileAccess::kOwner), ModeOf(dir_ / "target") | FileMode(FileAccess::kOwner));
}

// An Env of the user's decides for its files, and may have the library decide.
TEST_F(FileAccessTestBase, OfAnEnvOfTheUsersIsTheEnvs) {
  EnvWrapper env(Env::WithAccess(FileAccess::kGroupReads));
  options_.env = &env;
  options_.file_access = FileAccess::kGroupReads;
  MakeMuch();
  ASSERT_OK(Env::Default()->RemoveFile(dir_ / "trace"));
  CheckModes(FileAccess::kGroupReads);
  Close();  // env goes first
}

}  // namespace
}  // namespace miodb::test
