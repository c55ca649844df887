// An older copy of a pool, or of STORE with a volatile pool, beside the table files of the newer one: it names none of
// what came since, so it is refused before anything of that is removed. An older copy of a log folder beside a newer
// STORE lacks writes that were durable, and an older STORE beside a newer log may say that there is none.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "src/format/owner_mark.h"
#include "tests/common/ssd_test_base.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

template <typename Base>
class OlderCopyTestBase : public Base {
 protected:
  using Base::Close;
  using Base::Counter;
  using Base::dir_;
  using Base::Fill;
  using Base::kKiB;
  using Base::kValueBytes;
  using Base::Open;
  using Base::options_;
  using Base::Put;
  using Base::Settle;
  using Base::ssd_;
  using Base::TryOpen;

  OlderCopyTestBase() {
    options_.nvm_budget = 64 * kKiB;
    options_.pool_size = 1024 * kKiB;
  }

  // Files, with their bytes.
  std::map<std::string, std::string> TableFiles() const {
    std::map<std::string, std::string> files;
    for (const std::string& name : Base::FilesIn(ssd_, ".sst")) files[name] = Bytes(name);
    return files;
  }

  static std::string Bytes(const std::string& path) {
    std::string bytes;
    EXPECT_OK(ReadFileToString(Env::Default(), path, &bytes));
    return bytes;
  }

  void WriteMuch(uint64_t round) {
    Open();
    Fill(kKeys, kValueBytes, round);
    Settle();
    ASSERT_GT(Counter("ssd-files"), 0u);
    Close();
  }

  // At path there is a copy from before files were made on SSD.
  void ExpectRefused(const std::string& path, const std::string& older, const std::string& newer) {
    const std::map<std::string, std::string> files = TableFiles();
    ASSERT_FALSE(files.empty());
    fs::copy_file(path, newer);
    fs::copy_file(older, path, fs::copy_options::overwrite_existing);
    for (int i = 0; i < 2; i++) {
      const Status s = TryOpen();
      EXPECT_STATUS(InvalidArgument, s);
      EXPECT_TRUE(Mentions(s, path) && Mentions(s, "older copy") && Mentions(s, ssd_) && Mentions(s, "POOL") &&
                  Mentions(s, "RepairDB"))
          << s.ToString();
      ASSERT_TRUE(files == TableFiles());
    }
  }

  static constexpr uint64_t kKeys = 4000;
};

class OlderCopyTest : public OlderCopyTestBase<SsdTestBase> {
 protected:
  const std::string pool_ = path_ + "/pool", older_ = dir_ / "older", newer_ = dir_ / "newer";
};

TEST_F(OlderCopyTest, OfAPoolIsRefusedAndNoFileOfTheNewerOneIsRemoved) {
  Open();
  Put(FilledKey(0), "1");
  Close();
  fs::copy_file(pool_, older_);
  WriteMuch(0);
  ExpectRefused(pool_, older_, newer_);
  fs::copy_file(newer_, pool_, fs::copy_options::overwrite_existing);
  Open();
  CheckFilled(kKeys, kValueBytes, 0);
}

// Also one that names files, all of which are there: whoever writes more has changed them by a move or a drain.
TEST_F(OlderCopyTest, OfAPoolThatHasFilesIsRefused) {
  WriteMuch(0);
  fs::copy_file(pool_, older_);
  const std::map<std::string, std::string> named = TableFiles();
  WriteMuch(1);
  for (const auto& [name, bytes] : named) {
    if (!fs::exists(name)) ASSERT_OK(WriteStringToFile(Env::Default(), bytes, name));
  }
  ExpectRefused(pool_, older_, newer_);
  fs::copy_file(newer_, pool_, fs::copy_options::overwrite_existing);
  Open();
  CheckFilled(kKeys, kValueBytes, 1);
}

TEST_F(OlderCopyTest, OpensAgainAsLongAsNoFileHasChanged) {
  WriteMuch(0);
  fs::copy_file(pool_, older_);
  options_.nvm_budget = 0;
  Open();
  Put("new", "1");
  ASSERT_OK(db_->Flush());
  Close();
  fs::copy_file(older_, pool_, fs::copy_options::overwrite_existing);
  Open();
  EXPECT_EQ(kNotFound, Get("new"));
  CheckFilled(kKeys, kValueBytes, 0);
}

TEST_F(OlderCopyTest, ACopyOfAllPartsOpens) {
  WriteMuch(0);
  const fs::path copy = dir_ / "copy";
  fs::create_directory(copy);
  for (const char* part : {"db", "ssd"}) fs::copy(dir_ / part, copy / part, fs::copy_options::recursive);
  WriteMuch(1);
  for (const char* part : {"db", "ssd"}) {
    fs::remove_all(dir_ / part);
    fs::rename(copy / part, dir_ / part);
  }
  Open();
  CheckFilled(kKeys, kValueBytes, 0);
}

// The state after a crash between the new root and the mark; and a mark as it was before marks had an epoch.
TEST_F(OlderCopyTest, AMarkThatIsTooLowIsNoOlderCopy) {
  WriteMuch(0);
  OwnerMark mark;
  ASSERT_TRUE(mark.DecodeFrom(Bytes(ssd_ + "/POOL"), OwnerKind::kSsd));
  EXPECT_GT(mark.epoch, 0u);
  mark.epoch = 0;
  ASSERT_OK(WriteStringToFile(Env::Default(), mark.Encode(), ssd_ + "/POOL"));
  WriteMuch(1);
  ASSERT_TRUE(mark.DecodeFrom(Bytes(ssd_ + "/POOL"), OwnerKind::kSsd));
  EXPECT_GT(mark.epoch, 0u);
  Open();
  CheckFilled(kKeys, kValueBytes, 1);
}

TEST_F(OlderCopyTest, RepairMakesADatabaseOfItAndKeepsTheNewerFiles) {
  Open();
  Put("first", "1");
  Close();
  fs::copy_file(pool_, older_);
  WriteMuch(0);
  const std::map<std::string, std::string> files = TableFiles();
  ExpectRefused(pool_, older_, newer_);
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  EXPECT_EQ("1", Get("first"));
  for (const auto& [name, bytes] : files) {
    const std::string kept = ssd_ + ".damaged" + name.substr(ssd_.size());
    EXPECT_TRUE(bytes == Bytes(kept)) << kept;
  }
}

class OlderStoreTest : public OlderCopyTestBase<VolatileSsdTestBase> {};

TEST_F(OlderStoreTest, OfAVolatilePoolIsRefused) {
  const std::string store = path_ + "/STORE", older = dir_ / "older", newer = dir_ / "newer";
  Open();
  Close();
  fs::copy_file(store, older);
  WriteMuch(0);
  ExpectRefused(store, older, newer);
  fs::copy_file(newer, store, fs::copy_options::overwrite_existing);
  Open();
  CheckFilled(kKeys, kValueBytes, 0);
}

class OlderLogTest : public DbTestBase {
 protected:
  OlderLogTest() {
    options_.log_mode = kLogFile;
    options_.wal_dir = wal_;
  }

  enum class Log { kLeft, kFlushed };

  void Session(const std::string& key, Log log = Log::kLeft) {
    Open();
    Put(key, "1");
    if (log == Log::kFlushed) ASSERT_OK(db_->Flush());
    Close();
  }

  static void Exchange(const fs::path& older, const fs::path& path, const fs::path& newer) {
    fs::rename(path, newer);
    fs::copy(older, path, fs::copy_options::recursive);
  }

  OwnerMark Mark() const {
    std::string bytes;
    OwnerMark mark;
    EXPECT_OK(ReadFileToString(Env::Default(), wal_ + "/WAL_OWNER", &bytes));
    EXPECT_TRUE(mark.DecodeFrom(bytes, OwnerKind::kLog));
    return mark;
  }

  // Twice, because a refused open changes nothing.
  void ExpectRefused(const std::string& path) {
    for (int i = 0; i < 2; i++) {
      const Status s = TryOpen();
      EXPECT_STATUS(InvalidArgument, s);
      EXPECT_TRUE(Mentions(s, path) && Mentions(s, "older copy") && Mentions(s, "RepairDB")) << s.ToString();
    }
  }

  const std::string wal_ = dir_ / "wal", store_ = path_ + "/STORE", older_ = dir_ / "older", newer_ = dir_ / "newer";
};

TEST_F(OlderLogTest, OfTheFolderIsRefusedAndTheNewerOneOpens) {
  Session("a");
  fs::copy(wal_, older_);
  Session("b");
  Exchange(older_, wal_, newer_);
  ExpectRefused(wal_);
  options_.log_mode = kLogPmem;  // the mode changes nothing: the log is in use
  options_.wal_dir.clear();
  ExpectRefused(wal_);
  fs::remove_all(wal_);
  fs::rename(newer_, wal_);
  Open();
  EXPECT_EQ("(a->1)(b->1)", Forward(db_.get()));
}

TEST_F(OlderLogTest, RepairDoesWithoutTheNewerWrites) {
  Session("a");
  fs::copy(wal_, older_);
  Session("b");
  Exchange(older_, wal_, newer_);
  ASSERT_OK(RepairDB(path_, options_));
  std::string lost;
  ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/LOST", &lost));
  EXPECT_NE(std::string::npos, lost.find("older copy of the log")) << lost;
  Open();
  EXPECT_EQ("(a->1)", Forward(db_.get()));
}

TEST_F(OlderLogTest, OfStoreIsRefusedWhenItIsMoreThanOneOpenBehind) {
  Session("a");
  fs::copy(store_, older_);
  Session("b");
  Session("c");
  Exchange(older_, store_, newer_);
  ExpectRefused(store_);
}

// One that says that the log holds nothing would lose all that the log holds.
TEST_F(OlderLogTest, OfStoreIsRefusedWhenTheLogWasNotInUseThen) {
  Session("a", Log::kFlushed);
  fs::copy(store_, older_);
  Session("b");
  Exchange(older_, store_, newer_);
  ExpectRefused(store_);
  options_.log_mode = kLogPmem;
  options_.wal_dir.clear();
  ExpectRefused(store_);
  fs::rename(newer_, store_);
  Open();
  EXPECT_EQ("(a->1)(b->1)", Forward(db_.get()));
}

// A folder without a log file of a later open: a crash may have cut that open off before STORE said so.
TEST_F(OlderLogTest, AMarkThatIsOneOpenAheadIsNoNewerFolder) {
  for (const Log log : {Log::kLeft, Log::kFlushed}) {
    Session("a", log);
    OwnerMark mark = Mark();
    mark.epoch++;
    ASSERT_OK(WriteStringToFile(Env::Default(), mark.Encode(), wal_ + "/WAL_OWNER"));
    Open();
    EXPECT_EQ(mark, Mark());
    EXPECT_EQ("1", Get("a"));
    Close();
  }
}

TEST_F(OlderLogTest, AFolderWithOldFilesIsNotTakenForALogThatHoldsNothing) {
  Session("a");
  fs::copy(wal_, older_);
  Session("b", Log::kFlushed);
  Exchange(older_, wal_, newer_);
  const Status s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, wal_) && Mentions(s, "did without since")) << s.ToString();
}

TEST_F(OlderLogTest, ACopyOfAllPartsOpens) {
  Session("a");
  fs::create_directory(older_);
  for (const char* part : {"db", "wal"}) fs::copy(dir_ / part, fs::path(older_) / part, fs::copy_options::recursive);
  for (int i = 0; i < 3; i++) Session("b");
  for (const char* part : {"db", "wal"}) {
    fs::remove_all(dir_ / part);
    fs::rename(fs::path(older_) / part, dir_ / part);
  }
  Open();
  EXPECT_EQ("(a->1)", Forward(db_.get()));
}

}  // namespace
}  // namespace miodb::test
