// The file STORE: an open finds the parts that it names, or says what is missing; it makes no empty ones in their
// place.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "miodb/env.h"
#include "src/db/store/places.h"
#include "src/db/store/store_file.h"
#include "src/format/file_names.h"
#include "src/format/superblock.h"
#include "src/nvm/pool/pool.h"
#include "src/version/edit/version_edit.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

class StoreTest : public DbTestBase {
 protected:
  std::string store() const { return path_ + "/STORE"; }

  static std::string Bytes(const std::string& file) {
    std::string bytes;
    EXPECT_OK(ReadFileToString(Env::Default(), file, &bytes));
    return bytes;
  }

  StoreDescriptor Descriptor() {
    StoreDescriptor found;
    EXPECT_OK(ReadStore(Env::Default(), path_, &found));
    return found;
  }

  std::string Lost() { return Bytes(path_ + "/LOST"); }

  void ExpectRefused(const Status& s, std::initializer_list<std::string> texts) {
    EXPECT_STATUS(InvalidArgument, s);
    for (const std::string& text : texts) EXPECT_TRUE(Mentions(s, text)) << s.ToString();
    EXPECT_EQ(nullptr, db_);
  }
};

// ---- The pool

TEST_F(StoreTest, APoolThatIsNotMountedIsNotReplacedByAnEmptyOne) {
  const std::string mount = dir_ / "mount";
  fs::create_directory(mount);
  options_.pool_path = mount + "/pool";
  options_.nvm_regions.resize(1);
  options_.nvm_regions[0].path = dir_ / "region";
  Open();
  Put("a", "1");
  const std::string mode = Property("miodb.persist-mode");
  Close();
  const std::string before = Bytes(store());
  EXPECT_NE(std::string::npos, before.find(dir_ / "region"));
  fs::rename(mount, dir_ / "unmounted");
  fs::create_directory(mount);
  options_.nvm_regions.clear();
  for (const bool create : {true, false}) {
    options_.create_if_missing = create;
    ExpectRefused(TryOpen(), {options_.pool_path, store(), "mounted", "remove " + store()});
    EXPECT_TRUE(fs::is_empty(mount));
    EXPECT_TRUE(before == Bytes(store())) << "the regions are remembered";
  }
  fs::remove(mount);
  fs::rename(dir_ / "unmounted", mount);
  Open();
  EXPECT_EQ("1", Get("a"));
  EXPECT_EQ(mode, Property("miodb.persist-mode"));
}

TEST_F(StoreTest, WithoutPoolAndStoreADatabaseBeginsAnew) {
  Open();
  Put("a", "1");
  Close();
  fs::remove(path_ + "/pool");
  ExpectRefused(TryOpen(), {path_ + "/pool", "remove " + store()});
  fs::remove(store());
  Open();
  EXPECT_EQ(kNotFound, Get("a"));
  Put("b", "2");
  Open();
  EXPECT_EQ("2", Get("b"));
}

TEST_F(StoreTest, AnotherPoolIsRefusedAndNotRepairedInItsPlace) {
  Open();
  Put("a", "1");
  Close();
  const std::string first = path_;
  path_ = dir_ / "other";
  Open();
  Put("b", "2");
  Close();
  const std::string other = path_ + "/pool", before = Bytes(other), pool = first + "/pool";
  path_ = first;
  fs::rename(pool, dir_ / "right");
  fs::copy_file(other, pool);
  ExpectRefused(TryOpen(), {pool, "is another pool"});
  ExpectRefused(RepairDB(path_, options_), {pool, "is another pool", "remove the file"});
  EXPECT_TRUE(before == Bytes(pool));
  fs::rename(dir_ / "right", pool);
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(StoreTest, AVolatileAndALastingDatabaseAreNotTakenForEachOther) {
  options_.pool_path = dir_ / "pool";
  Open();
  Put("a", "1");
  Close();
  const Options good = options_;
  options_.pool_path = "anonymous";
  options_.log_mode = kLogOff;
  ExpectRefused(TryOpen(), {"anonymous", good.pool_path});
  options_ = good;
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(StoreTest, AMakingThatWasCutOffIsBegunAgain) {
  Open();
  Close();
  StoreDescriptor half = Descriptor();
  ASSERT_OK(DestroyDB(path_, options_));
  half.state = StoreState::kMaking;
  for (const bool has_pool : {false, true}) {
    fs::create_directory(path_);
    ASSERT_OK(WriteStore(Env::Default(), path_, half));
    if (has_pool) {  // one that a crash left before it had its name
      Pool::Options options;
      memcpy(options.uuid.data(), half.pool.data(), half.pool.size());
      std::unique_ptr<Pool> pool;
      ASSERT_OK(Pool::Create(path_ + "/pool", options, &pool));
      const std::string bytes = Bytes(path_ + "/pool.tmp");
      pool.reset();
      ASSERT_OK(WriteStringToFile(Env::Default(), bytes, path_ + "/pool.tmp"));
    }
    Open();
    Put("a", "1");
    Open();
    EXPECT_EQ("1", Get("a"));
    EXPECT_FALSE(fs::exists(path_ + "/pool.tmp"));
    Close();
    EXPECT_EQ(StoreState::kInUse, Descriptor().state);
    ASSERT_OK(DestroyDB(path_, options_));
    ASSERT_FALSE(fs::exists(path_));
  }
}

// Places that only an unfinished making has named are nobody's.
TEST_F(StoreTest, OfAMakingThatWasCutOffOnlyTheUuidCounts) {
  Open();
  Close();
  StoreDescriptor half = Descriptor();
  half.state = StoreState::kMaking;
  half.ssd_path = dir_ / "ssd";
  half.log = {1, 1, true, dir_ / "logs"};
  half.former_ids = {17};
  ASSERT_OK(WriteStore(Env::Default(), path_, half));
  ExpectRefused(MoveStore(path_, options_), {store(), "making was cut off", "Open it"});
  options_.ssd_path = dir_ / "other_ssd";
  options_.log_mode = kLogFile;
  options_.wal_dir = dir_ / "other_logs";
  Open();
  Put("a", "1");
  Open();
  EXPECT_EQ("1", Get("a"));
  Close();
  EXPECT_EQ(StoreState::kInUse, Descriptor().state);
  EXPECT_EQ(half.pool, Descriptor().pool);
  EXPECT_EQ(options_.ssd_path, Descriptor().ssd_path);
  EXPECT_EQ(options_.wal_dir, Descriptor().log.wal_dir);
  EXPECT_TRUE(Descriptor().former_ids.empty());
}

// ---- Copies

TEST_F(StoreTest, ACopyThatHasEverythingItselfIsADatabaseOfItsOwn) {
  Open();
  Put("a", "1");
  Close();
  const std::string original = path_;
  path_ = dir_ / "copy";
  fs::copy(original, path_, fs::copy_options::recursive);
  Open();
  Put("a", "2");
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  path_ = original;
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(StoreTest, ACopyDoesNotTakeThePartsOfTheOriginal) {
  const Options good = options_;
  for (const char* part : {"pool", "log", "region", "ssd"}) {
    options_ = good;
    path_ = dir_ / part;
    const std::string shared = dir_ / (std::string("shared_") + part);
    if (part == std::string("pool")) options_.pool_path = shared;
    if (part == std::string("log")) {
      options_.log_mode = kLogFile;
      options_.wal_dir = shared;
    }
    if (part == std::string("region")) {
      options_.nvm_regions.resize(1);
      options_.nvm_regions[0].path = shared;
    }
    if (part == std::string("ssd")) options_.ssd_path = shared;
    Open();
    Put("a", "1");
    Close();
    const std::string original = path_;
    path_ = original + "_copy";
    fs::copy(original, path_, fs::copy_options::recursive);
    ExpectRefused(TryOpen(), {path_, "is a copy of the database in " + original, shared});
    ExpectRefused(RepairDB(path_, options_), {path_, "is a copy of the database in " + original, shared});
    ASSERT_OK(DestroyDB(path_, options_));
    EXPECT_FALSE(fs::exists(path_));
    EXPECT_TRUE(fs::exists(shared));
    path_ = original;
    Open();
    EXPECT_EQ("1", Get("a")) << part;
    Close();
    // Where the original is gone, it was moved.
    path_ = original + "_moved";
    fs::rename(original, path_);
    Open();
    EXPECT_EQ("1", Get("a")) << part;
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
    EXPECT_FALSE(fs::exists(shared)) << part;
  }
}

// The pool's uuid is that of the original, whatever log that has got since.
TEST_F(StoreTest, ACopyIsKnownByItsPoolThoughTheOriginalHasAnotherLogNow) {
  options_.pool_path = dir_ / "shared";
  Open();
  Put("a", "1");
  Close();
  const std::string original = path_, copy = dir_ / "copy";
  fs::copy(original, copy, fs::copy_options::recursive);
  options_.log_mode = kLogFile;
  Open();
  Put("b", "2");
  Close();
  path_ = copy;
  for (const LogMode mode : {kLogPmem, kLogFile}) {
    options_.log_mode = mode;
    ExpectRefused(TryOpen(), {path_, "is a copy of the database in " + original, options_.pool_path});
    DB* reader = nullptr;
    ExpectRefused(DB::OpenReader(options_, path_, &reader), {path_, "is a copy of the database in " + original});
    EXPECT_EQ(nullptr, reader);
    delete reader;
  }
  path_ = original;
  Open();
  EXPECT_EQ("(a->1)(b->2)", Forward(db_.get()));
}

// STORE still names the directory by the name that is a link now.
TEST_F(StoreTest, ADirectoryThatWasRenamedIsNoCopyOfTheLinkThatHasItsName) {
  options_.pool_path = dir_ / "beside";
  Open();
  Put("a", "1");
  Close();
  const std::string link = path_, moved = dir_ / "moved";
  fs::rename(link, moved);
  fs::create_directory_symlink(moved, link);
  for (const std::string& name : {moved, link}) {
    DB* reader = nullptr;
    ASSERT_OK(DB::OpenReader(options_, name, &reader));
    EXPECT_EQ("(a->1)", Forward(reader));
    delete reader;
  }
  path_ = moved;
  Open();
  EXPECT_EQ("(a->1)", Forward(db_.get()));
}

// ---- Repairs

TEST_F(StoreTest, ARepairNamesTheSsdTierThatTheDatabaseHas) {
  options_.ssd_path = dir_ / "ssd";
  Open();
  Put("a", "1");
  Close();
  options_.ssd_path.clear();
  ExpectRefused(RepairDB(path_, options_), {"Options::ssd_path", store(), dir_ / "ssd"});
  EXPECT_FALSE(fs::exists(path_ + "/LOST"));
  options_.ssd_path = dir_ / "ssd";
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_EQ(options_.ssd_path, Descriptor().ssd_path);
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(StoreTest, ARepairFindsTheLogThatTheOptionsDoNotName) {
  options_.log_mode = kLogFile;
  options_.wal_dir = dir_ / "logs";
  Open();
  Put("a", "1");
  Close();
  options_.log_mode = kLogPmem;
  options_.wal_dir.clear();
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  EXPECT_EQ("1", Get("a"));
}

// Zeros stand for no pool, and for no successor.
TEST_F(StoreTest, APoolWithoutAUuidIsDamaged) {
  options_.log_mode = kLogFile;
  Open();
  Put("a", "1");
  Close();
  std::string bytes = Bytes(path_ + "/pool");
  for (int copy = 0; copy < kSuperblockCopies; copy++) {
    Superblock s;
    char* const at = bytes.data() + SuperblockOffset(copy);
    memcpy(&s, at, sizeof(s));
    memset(s.uuid, 0, sizeof(s.uuid));
    s.checksum = SuperblockChecksum(s);
    memcpy(at, &s, sizeof(s));
  }
  ASSERT_OK(WriteStringToFile(Env::Default(), bytes, path_ + "/pool"));
  EXPECT_STATUS(Corruption, TryOpen());
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_NE(Uuid{}, Descriptor().pool);
  Open();
  EXPECT_EQ("1", Get("a"));
}

// ---- Damage

class StoreDamageTest : public StoreTest {
 protected:
  // A closed database with a write that is in a log file only.
  void Make() {
    options_.log_mode = kLogFile;
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
    Put("more", "3");
    Open();
    EXPECT_EQ("3", Get("more"));
    Close();
  }

  void Flip(const std::string& file, size_t bit) {
    std::string bytes = Bytes(file);
    bytes[bit / 8 % bytes.size()] = static_cast<char>(bytes[bit / 8 % bytes.size()] ^ (1 << (bit % 8)));
    ASSERT_OK(WriteStringToFile(Env::Default(), bytes, file));
  }
};

TEST_F(StoreDamageTest, NoBitHidesAcknowledgedWrites) {
  Make();
  const std::string good = Bytes(store());
  for (size_t bit = 0; bit < good.size() * 8; bit++) {
    Flip(store(), bit);
    options_.log_mode = bit % 2 == 0 ? kLogPmem : kLogFile;
    const Status s = TryOpen();
    SCOPED_TRACE("bit " + std::to_string(bit));
    EXPECT_STATUS(Corruption, s);
    EXPECT_TRUE(Mentions(s, store()));
    EXPECT_TRUE(Mentions(s, "RepairDB"));
    ASSERT_OK(WriteStringToFile(Env::Default(), good, store()));
  }
  options_.log_mode = kLogFile;
  ExpectAll();
}

TEST_F(StoreDamageTest, AStateOfTheSsdTierThatIsNoneIsDamage) {
  Make();
  StoreDescriptor store = Descriptor();
  VersionEdit edit;
  edit.tables.push_back({1, 0, 1, 4096, 4096});
  std::string with_a_table;
  edit.EncodeTo(&with_a_table);
  for (const std::string& state : {std::string("\xff nothing"), with_a_table}) {
    store.ssd_state = state;
    ASSERT_OK(WriteStore(Env::Default(), path_, store));
    const Status s = TryOpen();
    EXPECT_STATUS(Corruption, s);
    EXPECT_TRUE(Mentions(s, this->store()));
  }
}

TEST_F(StoreDamageTest, APoolWithoutStoreIsRefusedBecauseItsLogMayBeElsewhere) {
  Make();
  fs::remove(store());
  for (const LogMode mode : {kLogFile, kLogPmem}) {
    options_.log_mode = mode;
    ExpectRefused(TryOpen(), {store(), path_ + "/pool", "RepairDB"});
  }
}

TEST_F(StoreDamageTest, WhatRepairCallsOkOpensWithTheSameOptions) {
  const Options good = options_;
  for (const bool elsewhere : {false, true}) {
    for (const bool pool_elsewhere : {false, true}) {
      for (const std::string name : {"/STORE", "/WAL_OWNER"}) {
        for (const bool missing : {false, true}) {
          SCOPED_TRACE(name + (missing ? " missing" : " damaged") + (elsewhere ? ", log elsewhere" : "") +
                       (pool_elsewhere ? ", pool elsewhere" : ""));
          options_ = good;
          if (elsewhere) options_.wal_dir = dir_ / "logs";
          if (pool_elsewhere) options_.pool_path = dir_ / "pool";
          Make();
          const std::string file = (name == "/STORE" ? path_ : WalFolder(options_.wal_dir, path_)) + name;
          if (missing) {
            fs::remove(file);
          } else {
            Flip(file, 155);
          }
          const Status s = RepairDB(path_, options_);
          if (elsewhere && missing && name == "/WAL_OWNER") {
            // Nothing says whose log that is.
            ExpectRefused(s, {options_.wal_dir, "000002.log"});
            fs::remove_all(options_.wal_dir);
          } else {
            ASSERT_OK(s);
            EXPECT_NE(std::string::npos, Lost().find(name.substr(1))) << Lost();
            ExpectAll();
          }
          ASSERT_OK(DestroyDB(path_, options_));
          EXPECT_FALSE(fs::exists(path_));
        }
      }
    }
  }
}

// A repair that went on without them would lose acknowledged writes, and the open refuses such a folder as well.
TEST_F(StoreDamageTest, LogFilesOfWhichNothingSaysWhoseTheyAreAreRefusedInEveryMode) {
  options_.wal_dir = dir_ / "logs";
  Make();
  const std::string mark = options_.wal_dir + "/WAL_OWNER", bytes = Bytes(mark);
  fs::remove(mark);
  for (const LogMode mode : {kLogFile, kLogPmem, kLogOff}) {
    options_.log_mode = mode;
    ExpectRefused(RepairDB(path_, options_), {options_.wal_dir, "000002.log", "WAL_OWNER"});
    EXPECT_FALSE(fs::exists(path_ + "/pool.damaged"));
  }
  ASSERT_OK(WriteStringToFile(Env::Default(), bytes, mark));
  options_.log_mode = kLogFile;
  ASSERT_OK(RepairDB(path_, options_));
  ExpectAll();
}

// The message says that this is a way out.
TEST_F(StoreDamageTest, WithoutTheLogFilesARepairDoesWithoutTheirWrites) {
  options_.wal_dir = dir_ / "logs";
  Make();
  fs::rename(options_.wal_dir, dir_ / "away");
  fs::create_directory(options_.wal_dir);
  for (const LogMode mode : {kLogPmem, kLogFile}) {
    options_.log_mode = mode;
    ASSERT_OK(RepairDB(path_, options_));
    Open();
    EXPECT_EQ("1", Get("flushed"));
    EXPECT_EQ(kNotFound, Get("logged"));
    Close();
  }
}

TEST_F(StoreDamageTest, WithRegionsToo) {
  for (const bool named : {true, false}) {
    options_.pool_size = 256 * 1024;
    options_.nvm_regions.resize(1);
    options_.nvm_regions[0].path = dir_ / "region";
    options_.nvm_regions[0].limit = 32 << 20;
    Open();
    Fill(3000, 1000);
    Settle();
    Close();
    if (!named) options_.nvm_regions.clear();
    for (int round = 0; round < 2; round++) {
      if (named) Flip(store(), 300);
      ASSERT_OK(RepairDB(path_, options_));
      Open();
      CheckFilled(3000, 1000);
      Close();
    }
    ASSERT_OK(DestroyDB(path_, options_));
    EXPECT_FALSE(fs::exists(path_));
    EXPECT_FALSE(fs::exists(dir_ / "region"));
    EXPECT_FALSE(fs::exists(dir_ / "region.damaged"));
  }
}

TEST_F(StoreDamageTest, ARepairThatWasCutOffAfterTheExchangeIsFinished) {
  options_.wal_dir = dir_ / "logs";
  Make();
  const StoreDescriptor before = Descriptor();
  fs::copy(options_.wal_dir, dir_ / "saved_logs");
  Flip(options_.wal_dir + "/WAL_OWNER", 155);
  ASSERT_OK(RepairDB(path_, options_));
  const std::string lost = Lost();
  EXPECT_NE(std::string::npos, lost.find("WAL_OWNER is damaged")) << lost;
  StoreDescriptor cut_off = before;
  cut_off.successor = Descriptor().pool;
  ASSERT_OK(WriteStore(Env::Default(), path_, cut_off));
  fs::remove_all(options_.wal_dir);
  fs::copy(dir_ / "saved_logs", options_.wal_dir);
  ExpectRefused(TryOpen(), {store(), "RepairDB finishes it"});
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_EQ(0u, Lost().find(lost)) << "of the pool that was damaged: " << Lost();
  ExpectAll();
}

}  // namespace
}  // namespace miodb::test
