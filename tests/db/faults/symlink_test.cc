// A symbolic link in the place of any file that a database makes in its folders, put there by somebody else who may
// write to them: nothing behind it is made, changed or removed, whatever is called. Links that a user of the database
// makes for whole folders, and for the pool, are followed.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "miodb/trace.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

struct Case {
  const char* name;
  void (*set)(Options* options, const TestDir& dir);
};

const Case kCases[] = {
    {"Pool", [](Options*, const TestDir&) {}},
    {"Everything",
     [](Options* options, const TestDir& dir) {
       options->log_mode = kLogFile;
       options->wal_dir = dir / "logs";
       options->wal_ttl_seconds = 1000;
       options->ssd_path = dir / "ssd";
       options->nvm_budget = 64 * 1024;
       options->nvm_regions.resize(1);
       options->nvm_regions[0].path = dir / "region";
     }},
    {"Volatile",
     [](Options* options, const TestDir& dir) {
       options->log_mode = kLogFile;
       options->wal_dir = dir / "logs";
       options->ssd_path = dir / "ssd";
       options->pool_path = "anonymous";
     }},
};

enum class Behind { kOtherFile, kCopy, kNothing };
enum class Call { kOpen, kRepair, kDestroy };

std::string Bytes(const std::string& path) {
  std::string bytes;
  EXPECT_OK(ReadFileToString(Env::Default(), path, &bytes));
  return bytes;
}

// Every file below a folder.
std::map<std::string, std::string> Tree(const std::string& folder) {
  std::map<std::string, std::string> tree;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    tree[entry.path().string()] = entry.is_regular_file() ? Bytes(entry.path().string()) : "";
  }
  return tree;
}

class SymlinkTestBase : public DbTestBase {
 protected:
  // A database with something of every kind, closed.
  void Make() {
    Open();
    Fill(50, 4000);
    EXPECT_OK(db_->WaitForIdle());
    Fill(10, 100, 1);
    Close();
  }

  void Clear() {
    Close();
    for (const auto& entry : fs::directory_iterator(dir_.path())) fs::remove_all(entry.path());
  }

  Status Try(Call call) {
    if (call == Call::kRepair) return RepairDB(path_, options_);
    if (call == Call::kDestroy) return DestroyDB(path_, options_);
    const Status s = TryOpen();
    for (uint64_t i = 0; i < 30 && s.ok(); i++) {
      db_->Put(WriteOptions(), FilledKey(i), std::string(5000, 'v')).IgnoreError();
    }
    if (s.ok()) db_->CompactRange(nullptr, nullptr);
    Close();
    return s;
  }
};

class SymlinkTest : public SymlinkTestBase, public testing::WithParamInterface<Case> {
 protected:
  SymlinkTest() { GetParam().set(&options_, dir_); }

  bool has(const std::string& folder) const { return fs::exists(dir_ / folder); }

  // Every file that the library makes for a database of these options, there now or not.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const char* name :
         {"LOCK", "LOG", "LOG.old", "STORE", "STORE.tmp", "STORE.damaged", "STORE.damaged.tmp", "LOST", "LOST.tmp",
          "pool", "pool.tmp", "pool.tmp.2", "pool.repaired", "pool.repaired.tmp", "pool.damaged", "WAL_OWNER"}) {
      names.push_back(std::string("db/") + name);
    }
    if (has("logs")) {
      for (const auto& entry : fs::directory_iterator(dir_ / "logs")) {
        if (!entry.is_regular_file()) continue;
        names.push_back(fs::relative(entry.path(), dir_.path()));
        names.push_back(names.back() + ".tmp");
      }
      names.push_back("logs/999999.log");
    }
    if (has("ssd")) {
      for (const char* name : {"POOL", "POOL.tmp", "LOCK", "999999.sst"}) names.push_back(std::string("ssd/") + name);
      for (const char* name : {"ssd.repaired", "ssd.damaged"}) names.push_back(name);
    }
    if (has("region")) {
      for (const char* name : {"region", "region.tmp", "region.repaired", "region.repaired.tmp", "region.damaged"}) {
        names.push_back(name);
      }
    }
    return names;
  }

  void Link(const std::string& name, Behind behind) {
    const std::string path = dir_ / name, victim = dir_ / "victims/file";
    std::string bytes(5000, 'x');
    if (behind == Behind::kCopy && fs::is_regular_file(fs::symlink_status(path))) bytes = Bytes(path);
    if (behind != Behind::kNothing) ASSERT_OK(WriteStringToFile(Env::Default(), bytes, victim));
    if (!fs::exists(fs::path(path).parent_path())) return;  // removed by an earlier call
    fs::remove_all(path);
    fs::create_symlink(victim, path);
  }

  void ExpectNothingHappensBehind(const std::string& name, Call call) {
    const std::map<std::string, std::string> before = Tree(dir_ / "victims");
    const Status s = Try(call);
    EXPECT_TRUE(before == Tree(dir_ / "victims"))
        << name << ", call " << static_cast<int>(call) << ": " << s.ToString();
  }
};

INSTANTIATE_TEST_SUITE_P(Databases, SymlinkTest, testing::ValuesIn(kCases),
                         [](const auto& param) { return std::string(param.param.name); });

TEST_P(SymlinkTest, NothingIsWrittenThroughOne) {
  Make();
  std::map<std::string, bool> names;  // whether such a file is there
  for (const std::string& name : Names()) names[name] = fs::is_regular_file(dir_ / name);
  for (const auto& [name, is_there] : names) {
    for (const Behind behind : {Behind::kOtherFile, Behind::kCopy, Behind::kNothing}) {
      // A pool and a region that are there may be links.
      const bool may_be_link = name == "db/pool" || name == "region";
      if (behind == Behind::kCopy && (may_be_link || !is_there)) continue;
      Clear();
      Make();
      for (const Call call : {Call::kOpen, Call::kRepair, Call::kDestroy}) {
        fs::remove_all(dir_ / "victims");
        fs::create_directory(dir_ / "victims");
        Link(name, behind);
        ExpectNothingHappensBehind(name, call);
      }
    }
  }
}

// A folder of the library's own that leads to somebody else's database, whose files have the names that are looked for.
TEST_P(SymlinkTest, NothingIsRemovedFromAFolderBehindOne) {
  for (const std::string name : {"db/repair.tmp", "logs/archive", "db/archive", "ssd.repaired", "ssd.damaged"}) {
    Clear();
    Make();
    if (!fs::exists(fs::path(dir_ / name).parent_path())) continue;
    fs::create_directory(dir_ / "victims");
    for (const char* file :
         {"LOCK", "LOG", "STORE", "WAL_OWNER", "POOL", "000001.log", "000001.log.1600000000", "000001.sst", "pool"}) {
      ASSERT_OK(WriteStringToFile(Env::Default(), "theirs", dir_ / "victims/" + file));
    }
    for (const Call call : {Call::kOpen, Call::kRepair, Call::kDestroy}) {
      if (!fs::exists(fs::path(dir_ / name).parent_path())) break;
      fs::remove_all(dir_ / name);  // a link without what is behind it
      fs::create_symlink(dir_ / "victims", dir_ / name);
      ExpectNothingHappensBehind(name, call);
    }
  }
}

// Where a link is in the way, the error says which, and that it is one.
class RefusedLinkTest : public SymlinkTestBase {
 protected:
  void ExpectRefused(const Status& s, const std::string& name) {
    EXPECT_STATUS(IOError, s);
    EXPECT_TRUE(Mentions(s, dir_ / name) && Mentions(s, "symbolic link") && Mentions(s, "Remove the link"))
        << s.ToString();
  }
  void Link(const std::string& name) {
    fs::remove_all(dir_ / name);
    fs::create_symlink(dir_ / "nowhere", dir_ / name);
  }
};

TEST_F(RefusedLinkTest, LockOfTheDatabase) {
  Make();
  Link("db/LOCK");
  ExpectRefused(TryOpen(), "db/LOCK");
  ExpectRefused(RepairDB(path_, options_), "db/LOCK");
  ExpectRefused(DestroyDB(path_, options_), "db/LOCK");
}

TEST_F(RefusedLinkTest, LogFolderAndSsdTier) {
  kCases[1].set(&options_, dir_);
  Make();
  const std::string owner = Bytes(dir_ / "logs/WAL_OWNER");
  fs::rename(dir_ / "logs/WAL_OWNER", dir_ / "owner");
  fs::create_symlink(dir_ / "owner", dir_ / "logs/WAL_OWNER");
  ExpectRefused(TryOpen(), "logs/WAL_OWNER");
  fs::rename(dir_ / "owner", dir_ / "logs/WAL_OWNER");
  Link("ssd/LOCK");
  ExpectRefused(TryOpen(), "ssd/LOCK");
  fs::remove(dir_ / "ssd/LOCK");
  Link("logs/archive");
  ExpectRefused(TryOpen(), "logs/archive");
  fs::remove(dir_ / "logs/archive");
  Link("ssd.repaired");
  ExpectRefused(RepairDB(path_, options_), "ssd.repaired");
  fs::remove(dir_ / "ssd.repaired");
  Open();
  EXPECT_EQ(FilledValue(7, 100, 1), Get(FilledKey(7)));
}

TEST_F(RefusedLinkTest, APoolOrRegionIsNotMadeThroughOne) {
  fs::create_directory(path_);
  Link("db/pool");
  ExpectRefused(TryOpen(), "db/pool");
  fs::remove(dir_ / "db/pool");
  Link("region");
  options_.nvm_regions.resize(1);
  options_.nvm_regions[0].path = dir_ / "region";
  ExpectRefused(TryOpen(), "region");
  EXPECT_FALSE(fs::exists(dir_ / "nowhere"));
}

TEST_F(RefusedLinkTest, FolderOfARepair) {
  Make();
  Link("db/repair.tmp");
  ExpectRefused(RepairDB(path_, options_), "db/repair.tmp");
  ExpectRefused(DestroyDB(path_, options_), "db/repair.tmp");
  EXPECT_TRUE(fs::exists(path_ + "/pool"));
}

TEST_F(RefusedLinkTest, WhatIsReplacedAsAWholeTakesThePlaceOfALink) {
  Make();
  for (const char* name : {"db/LOST", "db/LOST.tmp", "db/STORE.tmp", "db/LOG"}) Link(name);
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_FALSE(fs::exists(dir_ / "nowhere"));
  for (const char* name : {"db/LOST", "db/STORE", "db/LOG"}) {
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(dir_ / name))) << name;
  }
  Open();
  EXPECT_EQ(FilledValue(7, 100, 1), Get(FilledKey(7)));
  EXPECT_EQ(FilledValue(47, 4000, 0), Get(FilledKey(47)));
}

class FollowedLinkTest : public SymlinkTestBase {};

TEST_F(FollowedLinkTest, FoldersThatTheUserNames) {
  for (const char* name : {"database", "logs", "ssd", "pools"}) {
    fs::create_directory(dir_ / name);
    fs::create_symlink(dir_ / name, dir_ / name + ".link");
  }
  path_ = dir_ / "database.link";
  options_.pool_path = dir_ / "pools.link/pool";
  options_.log_mode = kLogFile;
  options_.wal_dir = dir_ / "logs.link";
  options_.ssd_path = dir_ / "ssd.link";
  options_.nvm_budget = 64 * 1024;
  Make();
  EXPECT_TRUE(fs::exists(dir_ / "pools/pool"));
  EXPECT_TRUE(fs::exists(dir_ / "logs/WAL_OWNER"));
  EXPECT_TRUE(fs::exists(dir_ / "ssd/POOL"));
  Open();
  EXPECT_EQ(FilledValue(7, 100, 1), Get(FilledKey(7)));
  Close();
  for (const char* name : {"database", "logs", "ssd", "pools"}) {
    EXPECT_TRUE(fs::is_symlink(dir_ / name + ".link")) << name;
  }
}

TEST_F(FollowedLinkTest, APoolAndRegionThatAreThere) {
  options_.nvm_regions.resize(1);
  options_.nvm_regions[0].path = dir_ / "region";
  Make();
  fs::create_directory(dir_ / "dax");
  for (const auto& [name, place] : std::map<std::string, std::string>{{"db/pool", "dax/pool"}, {"region", "dax/r"}}) {
    fs::rename(dir_ / name, dir_ / place);
    fs::create_symlink(dir_ / place, dir_ / name);
  }
  Open();
  Put("new", "1");
  Close();
  Open();
  EXPECT_EQ("1", Get("new"));
  EXPECT_EQ(FilledValue(7, 100, 1), Get(FilledKey(7)));
  EXPECT_TRUE(fs::is_symlink(dir_ / "db/pool"));
  EXPECT_TRUE(fs::is_symlink(dir_ / "region"));
}

// As LevelDB's does.
TEST_F(FollowedLinkTest, FilesThatTheProgramNames) {
  Env* const env = Env::Default();
  ASSERT_OK(WriteStringToFile(env, "", dir_ / "file"));
  fs::create_symlink(dir_ / "file", dir_ / "link");
  ASSERT_OK(WriteStringToFile(env, "one", dir_ / "link"));
  WritableFile* opened = nullptr;
  ASSERT_OK(env->NewAppendableFile(dir_ / "link", &opened));
  std::unique_ptr<WritableFile> file(opened);
  ASSERT_OK(file->Append(", two"));
  ASSERT_OK(file->Close());
  EXPECT_EQ("one, two", Bytes(dir_ / "file"));
  Logger* logger = nullptr;
  ASSERT_OK(env->NewLogger(dir_ / "link", &logger));
  delete logger;
  FileLock* lock = nullptr;
  ASSERT_OK(env->LockFile(dir_ / "link", &lock));
  ASSERT_OK(env->UnlockFile(lock));
  std::unique_ptr<TraceWriter> trace;
  ASSERT_OK(NewFileTraceWriter(dir_ / "link", &trace));
  EXPECT_EQ("", Bytes(dir_ / "file"));
  EXPECT_TRUE(fs::is_symlink(dir_ / "link"));
}

TEST_F(FollowedLinkTest, LinksInACircleAreNotTakenForOnesThatAreRefused) {
  fs::create_symlink(dir_ / "b", dir_ / "a");
  fs::create_symlink(dir_ / "a", dir_ / "b");
  const Status s = WriteStringToFile(Env::Default(), "", dir_ / "a");
  EXPECT_STATUS(IOError, s);
  EXPECT_FALSE(Mentions(s, "Remove the link")) << s.ToString();
}

// One table of locks for all Envs of the system: a database makes its files with another one than Env::Default().
TEST_F(FollowedLinkTest, ALockOfADatabaseIsHeldByThisProcessForEveryEnv) {
  Open();
  FileLock* lock = nullptr;
  for (Env* env : {Env::Default(), Env::WithAccess(FileAccess::kGroupReads)}) {
    const Status s = env->LockFile(path_ + "/LOCK", &lock);
    EXPECT_STATUS(IOError, s);
    EXPECT_TRUE(Mentions(s, "already held by process")) << s.ToString();
  }
}

}  // namespace
}  // namespace miodb::test
