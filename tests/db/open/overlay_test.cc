// A database in the lower layer of an overlay file system, as of a container's image: its files are copied to the upper
// layer by the first open for writing, and a reader that has mapped the lower ones is told.
//
// Skipped where such a file system cannot be mounted.

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "tests/common/db_test_base.h"
#include "tests/common/in_child.h"

namespace miodb::test {
namespace {

constexpr int kNoOverlay = 77;

class OverlayTest : public DbTestBase {
 protected:
  OverlayTest() : lower_(dir_ / "lower"), merged_(dir_ / "merged") {
    for (const char* name : {"lower", "upper", "work", "merged"}) std::filesystem::create_directory(dir_ / name);
    path_ = lower_ + "/db";
  }

  // In mounts of this process alone. Without the rights of root a user has them in a name space of users.
  bool Mount() const {
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    const std::string layers = "lowerdir=" + lower_ + ",upperdir=" + dir_ / "upper" + ",workdir=" + dir_ / "work";
    return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           mount("overlay", merged_.c_str(), "overlay", 0, layers.c_str()) == 0;
  }

  const std::string lower_, merged_;
};

TEST_F(OverlayTest, AReaderOfTheLowerLayerIsToldThatTheFilesWereCopied) {
  options_.nvm_regions.resize(1);
  options_.nvm_regions[0].path = path_ + "/region";
  Open();
  Put("a", "1");
  Close();
  const int code = InChild([this] {
    if (!Mount()) return kNoOverlay;
    const std::string path = merged_ + "/db";
    DB *reader = nullptr, *second = nullptr;
    std::string value;
    options_.nvm_regions[0].path = path + "/region";
    if (!DB::OpenReader(options_, path, &reader).ok()) return 1;
    if (!reader->Refresh().ok() || !reader->Get(ReadOptions(), "a", &value).ok() || value != "1") return 2;
    std::unique_ptr<DB> db;
    if (!OpenDb(options_, path, &db).ok() || !db->Put(WriteOptions(), "a", "2").ok()) return 3;
    const Status s = reader->Refresh();
    if (!s.IsIOError() || s.ToString().find("open a new one") == std::string::npos) return 4;
    if (!DB::OpenReader(options_, path, &second).ok()) return 5;
    if (!second->Get(ReadOptions(), "a", &value).ok() || value != "2") return 6;
    if (!db->Put(WriteOptions(), "a", "3").ok() || !second->Refresh().ok()) return 7;
    if (!second->Get(ReadOptions(), "a", &value).ok() || value != "3") return 8;
    delete reader;
    delete second;
    return 0;
  });
  if (code == kNoOverlay) GTEST_SKIP() << "no overlay file system can be mounted here";
  EXPECT_EQ(0, code);
}

}  // namespace
}  // namespace miodb::test
