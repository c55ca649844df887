// A log of which a part lies in files and a part in the pool, because the mode changed before all was flushed. Which
// part holds what is newer follows from sequences alone.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "miodb/merge_operator.h"
#include "src/db/open/db_impl.h"
#include "src/format/superblock.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

class MixedLogTest : public DbTestBase {
 protected:
  // A write that finds a spare chunk, and room for memtables that wait for their flush, flushes none.
  MixedLogTest() {
    options_.max_immutable_memtables = 16;
    options_.merge_operator = append_.get();
  }

  // Opens the database in this mode, calls write, and leaves the files as a process that was killed there does. Nothing
  // is flushed.
  template <typename Write>
  void RunAndKill(LogMode mode, Write write) {
    options_.log_mode = mode;
    DBImpl::Hooks hooks;
    hooks.background = BackgroundMode::kBySteps;
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(DBImpl::Open(options_, path_, hooks, &db));
    while (db->RunStep(DBImpl::Step::kPrepare)) {
    }
    write(db.get());
    ASSERT_EQ(0u, NumberProperty(db.get(), "miodb.flushes"));
    const std::string killed = dir_ / "killed";
    fs::copy(path_, killed, fs::copy_options::recursive);
    db.reset();
    fs::remove_all(path_);
    fs::rename(killed, path_);
  }

  void Overwrite(LogMode first, LogMode second, LogMode third) {
    int life = 0;
    for (const LogMode mode : {first, second, third}) {
      life++;
      RunAndKill(mode, [&](DB* db) {
        const std::string value = std::to_string(life);
        EXPECT_OK(db->Put(WriteOptions(), "all", value));
        EXPECT_OK(db->Put(WriteOptions(), "only" + value, value));
        EXPECT_OK(db->Merge(WriteOptions(), "sum", value));
        EXPECT_OK(life == 2 ? db->Put(WriteOptions(), "total", value) : db->Merge(WriteOptions(), "total", value));
        EXPECT_OK(life == 2 ? db->Delete(WriteOptions(), "gone") : db->Put(WriteOptions(), "gone" + value, value));
        EXPECT_OK(life == 1 ? db->Put(WriteOptions(), "gone", "1") : db->Delete(WriteOptions(), "gone1"));
      });
    }
  }

  void Check() {
    Open();
    EXPECT_EQ("(all->3)(gone3->3)(only1->1)(only2->2)(only3->3)(sum->1,2,3)(total->2,3)", Forward(db_.get()));
    Close();
  }

  std::string Lost() {
    std::string text;
    EXPECT_OK(ReadFileToString(Env::Default(), path_ + "/LOST", &text));
    return text;
  }

  void Restart() {
    Close();
    fs::remove_all(path_);
  }

 private:
  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
};

constexpr LogMode kOrders[][3] = {{kLogFile, kLogPmem, kLogPmem},
                                  {kLogFile, kLogPmem, kLogFile},
                                  {kLogPmem, kLogFile, kLogPmem},
                                  {kLogFile, kLogFile, kLogPmem},
                                  {kLogPmem, kLogFile, kLogFile}};

TEST_F(MixedLogTest, IsRecoveredInTheOrderOfItsWrites) {
  for (const auto& order : kOrders) {
    Overwrite(order[0], order[1], order[2]);
    Check();
    Restart();
  }
}

TEST_F(MixedLogTest, IsRepairedInTheOrderOfItsWrites) {
  for (const auto& order : kOrders) {
    SCOPED_TRACE(testing::Message() << static_cast<int>(order[0]) << static_cast<int>(order[1])
                                    << static_cast<int>(order[2]));
    Overwrite(order[0], order[1], order[2]);
    ASSERT_OK(RepairDB(path_, options_));
    EXPECT_EQ(std::string::npos, Lost().find("missing")) << Lost();
    Check();
    Restart();
  }
}

TEST_F(MixedLogTest, IsRepairedInTheOrderOfItsWritesWithoutAManifest) {
  for (const auto& order : kOrders) {
    SCOPED_TRACE(testing::Message() << static_cast<int>(order[0]) << static_cast<int>(order[1])
                                    << static_cast<int>(order[2]));
    Overwrite(order[0], order[1], order[2]);
    std::string pool;
    ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/pool", &pool));
    for (uint64_t epoch = 0; epoch < 2; epoch++) {
      for (int copy = 0; copy < kRootCopies; copy++) {
        pool.replace(RootSlotOffset(epoch, copy), sizeof(RootSlot), sizeof(RootSlot), '\xee');
      }
    }
    for (uint64_t at = kPoolHeaderSize; at < pool.size(); at += kExtentUnit) {  // footers of manifest areas
      pool.replace(at + kExtentUnit - 128, 64, 64, '\xee');
    }
    ASSERT_OK(WriteStringToFile(Env::Default(), pool, path_ + "/pool"));
    ASSERT_OK(RepairDB(path_, options_));
    EXPECT_EQ(std::string::npos, Lost().find("missing")) << Lost();
    Check();
    Restart();
  }
}

// Of a write that is missing between the parts it is told, once.
TEST_F(MixedLogTest, AGapBetweenItsPartsIsReported) {
  RunAndKill(kLogFile, [](DB* db) { EXPECT_OK(db->Put(WriteOptions(), "a", "1")); });
  RunAndKill(kLogFile, [](DB* db) { EXPECT_OK(db->Put(WriteOptions(), "b", "2")); });
  RunAndKill(kLogPmem, [](DB* db) { EXPECT_OK(db->Put(WriteOptions(), "c", "3")); });
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path_)) {
    if (entry.path().extension() == ".log") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  ASSERT_EQ(2u, files.size());
  fs::remove(files[1]);
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_NE(std::string::npos, Lost().find("writes 2 to 2 are missing before it")) << Lost();
  EXPECT_EQ(Lost().find("missing"), Lost().rfind("missing")) << Lost();
  Open();
  EXPECT_EQ("(a->1)(c->3)", Forward(db_.get()));
}

}  // namespace
}  // namespace miodb::test
