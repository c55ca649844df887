// The places of a database's parts: an open refuses options that name others than STORE, and MoveStore changes them.

#include "src/db/store/places.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "src/db/store/store_file.h"
#include "src/format/file_names.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

// A database with every part in a place of its own.
class PlacesTest : public DbTestBase {
 protected:
  PlacesTest() { UsePlaces(dir_ / "parts"); }

  void UsePlaces(const std::string& folder) {
    fs::create_directories(folder);
    options_.log_mode = kLogFile;
    options_.pool_path = folder + "/the_pool";
    options_.nvm_regions.resize(1);
    options_.nvm_regions[0].path = folder + "/region";
    options_.nvm_regions[0].limit = 4 << 20;
    options_.wal_dir = folder + "/logs";
    options_.ssd_path = folder + "/ssd";
  }

  // A write is in the log alone.
  void Make() {
    Open();
    Put("flushed", "1");
    ASSERT_OK(db_->Flush());
    Put("logged", "2");
    Close();
  }

  void ExpectAll() {
    Open();
    EXPECT_EQ("1", Get("flushed"));
    EXPECT_EQ("2", Get("logged"));
    Close();
  }

  std::string Store() const {
    std::string bytes;
    EXPECT_OK(ReadFileToString(Env::Default(), path_ + "/STORE", &bytes));
    return bytes;
  }

  struct Part {
    const char* flag;
    std::string* option;
  };
  // The log first: an open may flush what it holds.
  std::vector<Part> Parts() {
    return {{"wal", &options_.wal_dir},
            {"pool", &options_.pool_path},
            {"region", &options_.nvm_regions[0].path},
            {"ssd", &options_.ssd_path}};
  }

  void ExpectNotMoved(const std::string& text) {
    const std::string before = Store();
    const Status s = MoveStore(path_, options_);
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_TRUE(Mentions(s, text)) << s.ToString();
    EXPECT_TRUE(before == Store());
  }
};

TEST_F(PlacesTest, AnotherPlaceIsRefusedUntilItIsSaidThatThePartWasMoved) {
  Make();
  for (const Part& part : Parts()) {
    SCOPED_TRACE(part.flag);
    const std::string old_place = *part.option, place = dir_ / (std::string("moved_") + part.flag);
    *part.option = place;
    if (part.flag != std::string("region")) {  // a region that is not there stands for one that is elsewhere
      const Status s = TryOpen();
      EXPECT_STATUS(InvalidArgument, s);
      EXPECT_TRUE(Mentions(s, old_place) && Mentions(s, "miodb_move --" + std::string(part.flag) + "=" + place))
          << s.ToString();
      EXPECT_FALSE(fs::exists(place));
    }
    const std::string before = Store();
    EXPECT_FALSE(MoveStore(path_, options_).ok()) << "nothing lies there";
    EXPECT_TRUE(before == Store());
    fs::rename(old_place, place);
    const Status s = TryOpen();
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_TRUE(Mentions(s, old_place) && Mentions(s, place)) << s.ToString();
    EXPECT_FALSE(fs::exists(old_place));
    if (part.flag != std::string("region")) EXPECT_STATUS(InvalidArgument, RepairDB(path_, options_));
    EXPECT_FALSE(fs::exists(old_place));
    ASSERT_OK(MoveStore(path_, options_));
    ASSERT_OK(MoveStore(path_, options_));
    ExpectAll();
  }
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(fs::exists(path_));
  for (const Part& part : Parts()) EXPECT_FALSE(fs::exists(*part.option)) << part.flag;
}

TEST_F(PlacesTest, TheDirectoryMovesWithWhatLiesInIt) {
  UsePlaces(path_ + "/parts");
  Make();
  for (const bool copied : {false, true}) {
    const std::string to = dir_ / (copied ? "copy" : "renamed");
    if (copied) {
      fs::copy(path_, to, fs::copy_options::recursive);
    } else {
      fs::rename(path_, to);
    }
    path_ = to;
    UsePlaces(path_ + "/parts");
    ExpectAll();
    UsePlaces(dir_ / "elsewhere");
    EXPECT_STATUS(InvalidArgument, TryOpen());
    UsePlaces(path_ + "/parts");
  }
}

TEST_F(PlacesTest, TheDefaultIsAPlaceToo) {
  options_.pool_path.clear();
  options_.wal_dir.clear();
  Make();
  options_.pool_path = path_ + "/pool";
  options_.wal_dir = path_;
  ExpectAll();
  options_.pool_path = dir_ / "pool";
  fs::rename(path_ + "/pool", options_.pool_path);
  EXPECT_STATUS(InvalidArgument, TryOpen());
  ASSERT_OK(MoveStore(path_, options_));
  ExpectAll();
  options_.pool_path.clear();
  EXPECT_STATUS(InvalidArgument, TryOpen());
  EXPECT_FALSE(fs::exists(path_ + "/pool"));
}

// Folders are compared name by name: a folder with a longer name lies beside, whatever its name begins with.
TEST_F(PlacesTest, WhatLiesInTheDirectoryIsToldByNames) {
  const auto below = [](const char* folder, const char* path) { return PathBelow(folder, path).value_or("outside"); };
  EXPECT_EQ("c", below("/a/b", "/a/b/c"));
  EXPECT_EQ("c/d", below("/a/b/", "/a//b/./c//d/"));
  EXPECT_EQ("c", below("a", "./a/c"));
  EXPECT_EQ("c", below("/", "/c"));
  for (const char* path : {"/a/bc", "/a/bc/d", "/a", "/a/b", "/a/b/", "a/b/c", "/a/b/../c", "/a/b/c/../../d", ""}) {
    EXPECT_EQ("outside", below("/a/b", path)) << path;
  }
  EXPECT_EQ("/no/such/path", RealPath("//no/./such//path/"));
  EXPECT_EQ("no/such", RealPath("./no/such/"));
  // So a directory is moved with what lies in it, also where it was named with a slash at its end.
  UsePlaces(path_ + "/parts");
  path_ += "/";
  Make();
  path_ = dir_ / "db";
  fs::rename(path_, dir_ / "renamed");
  path_ = dir_ / "renamed";
  UsePlaces(path_ + "/parts");
  ExpectAll();
  ASSERT_OK(DestroyDB(path_ + "/", options_));
  EXPECT_FALSE(fs::exists(options_.pool_path));
}

// As root may move another user's database.
TEST_F(PlacesTest, StoreKeepsItsModeAndItsOwner) {
  Make();
  const std::string store = path_ + "/STORE", place = dir_ / "moved_logs";
  ASSERT_EQ(0, ::chmod(store.c_str(), 0640));
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(0, ::chown(store.c_str(), 1234, 4321));
  }
  struct stat before, after;
  ASSERT_EQ(0, ::stat(store.c_str(), &before));
  fs::rename(options_.wal_dir, place);
  options_.wal_dir = place;
  ASSERT_OK(MoveStore(path_, options_));
  ASSERT_EQ(0, ::stat(store.c_str(), &after));
  EXPECT_NE(before.st_ino, after.st_ino);
  EXPECT_EQ(before.st_mode, after.st_mode);
  EXPECT_EQ(before.st_uid, after.st_uid);
  EXPECT_EQ(before.st_gid, after.st_gid);
  ExpectAll();
}

TEST_F(PlacesTest, AnotherNameOfTheSamePlaceIsNoMove) {
  Make();
  fs::create_directory_symlink(dir_ / "parts", dir_ / "link");
  UsePlaces(dir_ / "link");
  ExpectAll();
  UsePlaces(dir_ / "parts");
  ExpectAll();
}

TEST_F(PlacesTest, WhatTheDatabaseDoesNotUseHasNoPlace) {
  Make();
  options_.log_mode = kLogPmem;
  options_.wal_dir = dir_ / "anywhere";
  options_.nvm_regions.clear();
  ExpectAll();
  EXPECT_FALSE(fs::exists(options_.wal_dir));
}

TEST_F(PlacesTest, APartThatIsMadeLaterMayBeAnywhere) {
  const Options all = options_;
  options_.log_mode = kLogPmem;
  options_.ssd_path.clear();
  options_.nvm_regions.clear();
  Make();
  options_ = all;
  ExpectAll();
  options_.wal_dir = dir_ / "other";
  EXPECT_STATUS(InvalidArgument, TryOpen());
  options_ = all;
  options_.ssd_path = dir_ / "other";
  EXPECT_STATUS(InvalidArgument, TryOpen());
}

TEST_F(PlacesTest, OnlyTheDatabasesOwnPartsAreTaken) {
  const Options mine = options_;
  Make();
  path_ = dir_ / "other_db";
  UsePlaces(dir_ / "other");
  Make();
  const Options others = options_;
  path_ = dir_ / "db";
  for (const Part& part : Parts()) {
    const std::string other = *part.option;
    options_ = mine;
    *part.option = other;
    SCOPED_TRACE(part.flag);
    ExpectNotMoved(other);
    options_ = others;
  }
  options_ = mine;
  options_.ssd_path.clear();
  ExpectNotMoved("is not the SSD tier of this database");
  options_ = mine;
  options_.pool_path = "anonymous";
  ExpectNotMoved("only a file can be moved");
  options_ = mine;
  ExpectAll();
}

TEST_F(PlacesTest, NothingIsMovedOfADatabaseThatIsOpenOrHalfMade) {
  EXPECT_STATUS(InvalidArgument, MoveStore(path_, options_));
  EXPECT_FALSE(fs::exists(path_));
  Make();
  Open();
  EXPECT_STATUS(IOError, MoveStore(path_, options_));
  Close();
  StoreDescriptor store;
  ASSERT_OK(ReadStore(Env::Default(), path_, &store));
  StoreDescriptor half = store;
  half.state = StoreState::kMaking;
  ASSERT_OK(WriteStore(Env::Default(), path_, half));
  ExpectNotMoved("making was cut off");
  half = store;
  half.successor = NewUuid();
  ASSERT_OK(WriteStore(Env::Default(), path_, half));
  ExpectNotMoved("RepairDB finishes it");
  ASSERT_OK(WriteStringToFile(Env::Default(), "nothing", path_ + "/STORE"));
  EXPECT_STATUS(Corruption, MoveStore(path_, options_));
}

}  // namespace
}  // namespace miodb::test
