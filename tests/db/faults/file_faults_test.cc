// Every system call may fail. Whatever does, a call of the API says so, naming file and reason, what was acknowledged
// is kept, nothing half-created stays behind, and the database opens again.

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/faults/system_calls.h"
#include "tests/nvm/pool_files.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKiB = 1024;

class FileFaultsTest : public DbTestBase {
 protected:
  FileFaultsTest() {
    options_.write_buffer_size = 16 * kKiB;
    options_.pool_growth = 64 * kKiB;
    options_.num_levels = 3;
  }
  ~FileFaultsTest() override { DisarmCallFault(); }

  // The possible values of a key: the last acknowledged value, or a value whose write failed after it ("" is no value).
  using Allowed = std::map<std::string, std::set<std::string>>;

  void PutNoted(const std::string& key, const std::string& value, bool sync) {
    WriteOptions options;
    options.sync = sync;
    std::set<std::string>& allowed = allowed_.try_emplace(key, std::set<std::string>{""}).first->second;
    const Status s = db_->Put(options, key, value);
    if (s.ok()) {
      allowed = {value};
    } else {
      CheckError(s);
      if (!s.IsNoSpace()) allowed.insert(value);
    }
  }

  // An error must name a file of the database and say what is wrong.
  void CheckError(const Status& s) {
    EXPECT_TRUE(Mentions(s, dir_.path())) << FailedCall();
    EXPECT_TRUE(s.IsNoSpace() || Mentions(s, strerror(error_))) << s.ToString() << FailedCall();
  }

  void Noted(const Status& s) {
    if (!s.ok()) CheckError(s);
  }

  // Reads never fail for what happens to files.
  void CheckReads() {
    std::string value;
    for (const auto& [key, allowed] : allowed_) {
      const Status s = db_->Get(ReadOptions(), key, &value);
      ASSERT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
      const std::string found = s.ok() ? value : "";
      ASSERT_TRUE(allowed.count(found) > 0) << key << " holds " << found.size() << " bytes, " << found.substr(0, 20);
    }
    size_t scanned = 0;
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next(), scanned++) ASSERT_EQ(1u, allowed_.count(it->key().ToString()));
    ASSERT_OK(it->status());
    size_t got = 0;
    for (const auto& [key, allowed] : allowed_) got += db_->Get(ReadOptions(), key, &value).ok();
    ASSERT_EQ(got, scanned);
  }

  // Creates, writes, flushes, grows, merges, closes, opens, writes. False if an open failed.
  bool Scenario() {
    Status s = TryOpen();
    Noted(s);
    refused_ = s.ToString();
    if (!s.ok()) return false;
    for (int i = 0; i < 30; i++) PutNoted("a" + std::to_string(i), std::string(400, 'a'), i % 3 == 0);
    Noted(db_->Flush());
    for (int i = 0; i < 10; i++) PutNoted("b" + std::to_string(i), std::string(30 * kKiB, 'b'), false);
    for (int i = 0; i < 30; i++) PutNoted("a" + std::to_string(i), std::string(500, 'c'), i % 3 == 0);
    Noted(db_->WaitForIdle());
    CheckReads();
    Close();
    s = TryOpen();
    Noted(s);
    refused_ = s.ToString();
    if (!s.ok()) return false;
    CheckReads();
    for (int i = 0; i < 10; i++) PutNoted("c" + std::to_string(i), std::string(100, 'd'), true);
    Noted(db_->Flush());
    Close();
    return true;
  }

  // The scenario with one fault, and what it leaves. False if the fault was never met.
  bool RunWith(const CallFault& fault) {
    path_ = dir_ / "database";
    allowed_.clear();
    error_ = fault.error;
    ArmCallFault(fault);
    const bool opened = Scenario();
    const bool met = DisarmCallFault() > 0;
    SCOPED_TRACE("call " + std::to_string(fault.at) + ", " + FailedCall() + ": " + strerror(fault.error) +
                 (fault.forever ? ", for ever" : ", once"));
    db_.reset();
    if (!opened && allowed_.empty() && !fault.forever) {
      EXPECT_FALSE(std::filesystem::exists(path_)) << "half-created, with " << Children();
    }
    if (HasFailure()) return met;
    Status s = TryOpen();
    EXPECT_OK(s);
    if (!s.ok()) return met;
    CheckReads();
    Put("after", "all");
    EXPECT_EQ("all", Get("after"));
    Close();
    DestroyWith(fault);
    return met;
  }

  std::string Children() const {
    std::string names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path_, error))
      names += entry.path().filename().string() + " ";
    return names;
  }

  // With a fault on its way a destroy fails and can be repeated.
  void DestroyWith(CallFault fault) {
    fault.at = 1 + fault.at % 12;
    ArmCallFault(fault);
    const Status s = DestroyDB(path_, options_);
    DisarmCallFault();
    if (!s.ok()) CheckError(s);
    EXPECT_OK(DestroyDB(path_, options_));
    EXPECT_FALSE(std::filesystem::exists(path_)) << s.ToString() << FailedCall() << Children();
  }

  // Fails each call in turn, until there is none left to fail.
  void Sweep(int error, bool forever, uint64_t step) {
    uint64_t runs = 0;
    for (uint64_t at = 1;; at += step) {
      CallFault fault;
      fault.at = at;
      fault.forever = forever;
      fault.error = error;
      if (!RunWith(fault)) break;
      runs++;
      if (HasFailure()) return;
    }
    EXPECT_GT(runs, 5 / step) << "hardly anything was made to fail";
    std::printf("%llu calls failed in turn\n", static_cast<unsigned long long>(runs));
  }

  Allowed allowed_;
  int error_ = 0;
  std::string refused_;  // what the last open of a scenario said
};

struct SweepCase {
  const char* name;
  int error;
  bool forever;
  PersistMode mode;
};

std::ostream& operator<<(std::ostream& out, const SweepCase& sweep) { return out << sweep.name; }

class FileFaultSweep : public FileFaultsTest, public testing::WithParamInterface<SweepCase> {};

TEST_P(FileFaultSweep, EveryFailingCallIsReportedAndLosesNothing) {
  options_.persist_mode = GetParam().mode;
  Sweep(GetParam().error, GetParam().forever, RunsUnderSanitizer() ? 5 : 1);
}

INSTANTIATE_TEST_SUITE_P(Errors, FileFaultSweep,
                         testing::Values(SweepCase{"EIO_once", EIO, false, kPersistEmulated},
                                         SweepCase{"EIO", EIO, true, kPersistEmulated},
                                         SweepCase{"EIO_once_file_mode", EIO, false, kPersistFile},
                                         SweepCase{"EIO_file_mode", EIO, true, kPersistFile},
                                         SweepCase{"ENOSPC_once", ENOSPC, false, kPersistEmulated},
                                         SweepCase{"ENOSPC", ENOSPC, true, kPersistEmulated},
                                         SweepCase{"ENOSPC_file_mode", ENOSPC, true, kPersistFile},
                                         SweepCase{"EMFILE_once", EMFILE, false, kPersistEmulated},
                                         SweepCase{"EMFILE", EMFILE, true, kPersistEmulated},
                                         SweepCase{"ENOMEM_once", ENOMEM, false, kPersistEmulated},
                                         SweepCase{"ENOMEM", ENOMEM, true, kPersistEmulated}),
                         [](const testing::TestParamInfo<SweepCase>& sweep) { return std::string(sweep.param.name); });

// A call that a signal interrupts is repeated, so nobody notices.
TEST_F(FileFaultsTest, InterruptedCallsAreRepeated) {
  for (const PersistMode mode : {kPersistEmulated, kPersistFile}) {
    options_.persist_mode = mode;
    for (uint64_t at = 1;; at++) {
      path_ = dir_ / "database";
      allowed_.clear();
      error_ = EINTR;
      CallFault fault;
      fault.at = at;
      fault.error = EINTR;
      ArmCallFault(fault);
      const bool opened = Scenario();
      const Status destroyed = DestroyDB(path_, options_);
      const bool met = DisarmCallFault() > 0;
      ASSERT_TRUE(opened) << FailedCall() << ", call " << at;
      ASSERT_OK(destroyed);
      for (const auto& [key, allowed] : allowed_) ASSERT_EQ(1u, allowed.size()) << FailedCall() << ", call " << at;
      ASSERT_FALSE(HasFailure()) << FailedCall() << ", call " << at;
      if (!met) break;
    }
  }
}

// A write to the info log may be short or torn; nobody but the reader of the log notices. One to STORE fails the open,
// which can be repeated.
TEST_F(FileFaultsTest, ShortAndTornWritesHurtTheInfoLogAlone) {
  for (const bool forever : {false, true}) {
    for (uint64_t at = 1;; at++) {
      path_ = dir_ / "database";
      allowed_.clear();
      CallFault fault;
      fault.at = at;
      fault.error = EIO;
      fault.only = "write";
      fault.torn = true;
      fault.forever = forever;
      ArmCallFault(fault);
      error_ = EIO;
      refused_.clear();
      const bool opened = Scenario();
      const bool met = DisarmCallFault() > 0;
      for (const auto& [key, allowed] : allowed_) ASSERT_EQ(1u, allowed.size()) << key;
      if (!opened) {
        ASSERT_NE(std::string::npos, refused_.find("/STORE")) << refused_;
        Open();
        CheckReads();
        Close();
      }
      ASSERT_OK(DestroyDB(path_, options_));
      if (!met) break;
      ASSERT_LT(at, 1000u);
    }
  }
}

// A file system that has become read-only behind an error syncs nothing any more.
TEST_F(FileFaultsTest, ASyncOnAFileSystemThatBecameReadOnlyFails) {
  options_.log_mode = kLogFile;
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "key", "value"));
  ArmCallFault({1, true, EROFS, "fdatasync"});
  WriteOptions synced;
  synced.sync = true;
  WriteBatch nothing;
  EXPECT_STATUS(IOError, db_->Write(synced, &nothing));
  EXPECT_GT(DisarmCallFault(), 0u);
  EXPECT_STATUS(IOError, db_->Put(synced, "key", "value"));  // nobody knows what the file holds
  Close();
}

class MsyncFaultTest : public FileFaultsTest {
 protected:
  MsyncFaultTest() { options_.persist_mode = kPersistFile; }
};

// After a failed msync the kernel has dropped the pages and has nothing to complain of any more. A second attempt would
// acknowledge writes that are lost.
TEST_F(MsyncFaultTest, MakesTheDatabaseReadOnlyAndKeepsWhatWasSynced) {
  bool met = true;
  for (uint64_t at = 1; met; at++) {
    SCOPED_TRACE("msync number " + std::to_string(at));
    path_ = dir_ / ("database" + std::to_string(at));
    error_ = EIO;
    std::map<std::string, std::set<std::string>> synced;
    bool failed = false;
    std::string medium;
    {
      const LossyPages pages;
      ASSERT_OK(TryOpen());
      CallFault fault;
      fault.at = at;
      fault.error = EIO;
      fault.only = "msync";
      ArmCallFault(fault);
      for (int i = 0; i < 60; i++) {
        const std::string key = "k" + std::to_string(i % 40), value = std::to_string(i) + std::string(900, 'v');
        WriteOptions sync;
        sync.sync = true;
        const Status s = db_->Put(sync, key, value);
        std::set<std::string>& allowed = synced.try_emplace(key, std::set<std::string>{""}).first->second;
        if (s.ok()) {
          EXPECT_FALSE(failed) << "a write was acknowledged after one that failed";
          allowed = {value};
        } else {
          failed = true;
          allowed.insert(value);
          CheckError(s);
        }
        if (i == 30) Noted(db_->Flush());
      }
      if (failed) {
        EXPECT_FALSE(db_->Flush().ok());
        EXPECT_FALSE(db_->WaitForIdle().ok());
        EXPECT_NE("OK", Property("miodb.background-error"));
        std::string value;
        const Status s = db_->Get(ReadOptions(), "k0", &value);  // reads go on
        EXPECT_TRUE(s.ok() || (s.IsNotFound() && synced["k0"].count("") > 0)) << s.ToString();
      } else {
        Noted(db_->WaitForIdle());
      }
      medium = pages.Medium();
      met = DisarmCallFault() > 0;
      Close();
      // Closing has synced nothing that was in doubt. The file may have grown, by zeros.
      medium.resize(pages.Medium().size(), '\0');
      EXPECT_TRUE(!failed || medium == pages.Medium()) << "the medium was written after the failure";
      medium = pages.Medium();
    }
    // The power fails, and only what is on the medium is left.
    WriteFileBytes(path_ + "/pool", medium);
    ASSERT_OK(TryOpen());
    for (const auto& [key, allowed] : synced) {
      const std::string value = Get(key);
      EXPECT_TRUE(allowed.count(value == kNotFound ? "" : value) > 0) << key << " holds " << value.substr(0, 10);
    }
    Put("after", "all");
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
    if (HasFailure()) return;
  }
}

// Reasons that keep a repair from being finished are found out before anything is written.
class RepairFaultsTest : public FileFaultsTest {
 protected:
  ~RepairFaultsTest() override { PretendFileSystems(nullptr); }

  void SetUp() override {
    Open();
    Fill(2000, 500);
    Close();
  }

  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      const std::string name = entry.path().filename();
      if (name != "LOG" && name != "LOG.old") names.insert(entry.path());
    }
    return names;
  }

  // Repairs with this fault, and says what came back. Nothing was written but the info log, and nothing stays.
  Status RepairWith(const CallFault& fault) {
    const std::set<std::string> before = Names();
    const std::string pool = ReadFileBytes(path_ + "/pool");
    ArmCallFault(fault);
    const Status s = RepairDB(path_, options_);
    EXPECT_EQ(0u, CallsOf("posix_fallocate")) << "a pool was begun";
    DisarmCallFault();
    EXPECT_EQ(before, Names());
    EXPECT_TRUE(pool == ReadFileBytes(path_ + "/pool"));
    EXPECT_TRUE(Mentions(s, path_ + "/pool")) << s.ToString();
    return s;
  }
};

TEST_F(RepairFaultsTest, WithoutHardLinksNothingIsBegun) {
  for (const int error : {EPERM, EOPNOTSUPP, EMLINK, ENOSPC}) {
    CallFault fault;
    fault.at = 1;
    fault.forever = true;
    fault.error = error;
    fault.only = "link";
    const Status s = RepairWith(fault);
    EXPECT_STATUS(IOError, s);
    EXPECT_TRUE(Mentions(s, "hard link") && Mentions(s, strerror(error)) && Mentions(s, "Copy the database"))
        << s.ToString();
  }
  ASSERT_OK(RepairDB(path_, options_));
}

TEST_F(RepairFaultsTest, WithoutRoomForTheNewPoolNothingIsBegun) {
  PretendFileSystems([](struct statfs* fs) { fs->f_bavail = 2; });
  const Status s = RepairWith(CallFault());
  EXPECT_STATUS(NoSpace, s);
  EXPECT_TRUE(Mentions(s, "are available") && Mentions(s, "make room")) << s.ToString();
  PretendFileSystems(nullptr);
  options_.pool_size = 512 * kKiB;
  const Status too_small = RepairWith(CallFault());
  EXPECT_STATUS(NoSpace, too_small);
  EXPECT_TRUE(Mentions(too_small, "Options::pool_size")) << too_small.ToString();
  options_.pool_size = 64 << 20;
  ASSERT_OK(RepairDB(path_, options_));
}

// A file system of its own that really is full.
class FullFileSystemTest : public FileFaultsTest {
 protected:
  // Skips the test where mounting is not allowed.
  void Mount(uint64_t bytes) {
    mount_ = dir_ / "mount";
    std::filesystem::create_directory(mount_);
    const std::string size = "size=" + std::to_string(bytes);
    if (mount("miodb_test", mount_.c_str(), "tmpfs", 0, size.c_str()) != 0) {
      mount_.clear();
      GTEST_SKIP() << "cannot mount a tmpfs: " << strerror(errno);
    }
    path_ = mount_ + "/database";
  }
  ~FullFileSystemTest() override {
    db_.reset();
    if (!mount_.empty()) umount2(mount_.c_str(), MNT_DETACH);
  }

  void FillMount(const std::string& name) const {
    std::ofstream file(mount_ + "/" + name, std::ios::binary);
    const std::string block(4 * kKiB, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) continue;
  }

  // A closed database with something in it. False if the test is skipped.
  bool OpenAndFill() {
    Mount(8192 * kKiB);
    if (IsSkipped()) return false;
    options_.pool_growth = 4096 * kKiB;
    Open();
    Fill(100, 1000);
    Close();
    return !HasFatalFailure();
  }

  // Writes a file of this length, with holes for all blocks of zeros. Returns the bytes of the others.
  static uint64_t WriteSparsely(const std::string& path, const std::string& bytes, uint64_t length) {
    uint64_t written = 0;
    std::ofstream file(path, std::ios::binary);
    for (uint64_t at = 0; at < bytes.size(); at += 4 * kKiB) {
      const std::string block = bytes.substr(at, 4 * kKiB);
      if (block.find_first_not_of('\0') == std::string::npos) continue;
      file.seekp(static_cast<std::streamoff>(at)).write(block.data(), static_cast<std::streamsize>(block.size()));
      written += block.size();
    }
    file.close();
    EXPECT_EQ(0, truncate(path.c_str(), static_cast<off_t>(length)));
    return written;
  }

  void PutUntilFull() {
    for (int i = 0; i < 3000; i++) {
      const Status put = db_->Put(WriteOptions(), "more" + std::to_string(i), std::string(1000, 'm'));
      if (put.ok()) continue;
      EXPECT_STATUS(NoSpace, put);
      return;
    }
  }

  std::string mount_;
};

TEST_F(FullFileSystemTest, IsNoSpaceAndGoesOnWhenThereIsSomeAgain) {
  Mount(4096 * kKiB);
  if (IsSkipped()) return;
  options_.info_log = nullptr;
  ASSERT_OK(TryOpen());
  int written = 0;
  Status s;
  for (; written < 20000; written++) {
    s = db_->Put(WriteOptions(), "key" + std::to_string(written), std::string(1000, 'v'));
    if (!s.ok()) break;
  }
  EXPECT_STATUS(NoSpace, s);
  EXPECT_GT(written, 1000);
  for (int i = 0; i < written; i++) ASSERT_EQ(std::string(1000, 'v'), Get("key" + std::to_string(i)));
  EXPECT_EQ(kNotFound, Get("key" + std::to_string(written)));
  ASSERT_OK(TryOpen());
  for (int i = 0; i < written; i++) ASSERT_EQ(std::string(1000, 'v'), Get("key" + std::to_string(i)));
  for (int i = 0; i < written; i += 2) ASSERT_OK(db_->Delete(WriteOptions(), "key" + std::to_string(i)));
  for (int i = 0; i < written / 4; i++)
    ASSERT_OK(db_->Put(WriteOptions(), "new" + std::to_string(i), std::string(1000, 'w')));
  Close();
}

// The file system tells nobody that it has room again: whoever writes finds out.
TEST_F(FullFileSystemTest, WritesGoOnWhenOthersRemoveTheirFiles) {
  Mount(8192 * kKiB);
  if (IsSkipped()) return;
  options_.info_log = nullptr;
  options_.pool_growth = 256 * kKiB;
  ASSERT_OK(TryOpen());
  FillMount("filler");
  const std::string value(1000, 'v');
  int written = 0;
  while (written < 20000 && db_->Put(WriteOptions(), "key" + std::to_string(written), value).ok()) written++;
  ASSERT_LT(written, 20000);
  EXPECT_STATUS(NoSpace, db_->Put(WriteOptions(), "key", value));
  std::filesystem::remove(mount_ + "/filler");
  Status s;
  for (int i = 0; i < 100; i++) {
    s = db_->Put(WriteOptions(), "key", value);
    if (s.ok()) break;
    usleep(100 * 1000);
  }
  EXPECT_OK(s);
  for (int i = 0; i < 2000; i++) ASSERT_OK(db_->Put(WriteOptions(), "new" + std::to_string(i), value));
  for (int i = 0; i < written; i++) ASSERT_EQ(value, Get("key" + std::to_string(i)));
}

// The limit of a pool is no promise of its file system's.
TEST_F(FullFileSystemTest, APoolBelowItsLimitSaysThatItsFileSystemIsFull) {
  Mount(4096 * kKiB);
  if (IsSkipped()) return;
  options_.info_log = nullptr;
  options_.pool_size = 1024 * 1024 * kKiB;
  ASSERT_OK(TryOpen());
  Status s;
  for (int i = 0; i < 20000 && s.ok(); i++) s = db_->Put(WriteOptions(), std::to_string(i), std::string(1000, 'v'));
  EXPECT_STATUS(NoSpace, s);
  EXPECT_TRUE(Mentions(s, "the pool cannot grow: "));
  EXPECT_TRUE(Mentions(s, "its file system has "));
}

TEST_F(FullFileSystemTest, ADatabaseThatDoesNotFitLeavesNothing) {
  Mount(128 * kKiB);
  if (IsSkipped()) return;
  const Status s = TryOpen();
  EXPECT_STATUS(NoSpace, s);
  EXPECT_TRUE(Mentions(s, path_));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// A pool that was copied has holes where it was empty. On a full file system a store into one would be a SIGBUS.
TEST_F(FullFileSystemTest, APoolWithHolesIsFilledOrRefused) {
  if (!OpenAndFill()) return;
  Open();
  Put("zeros", std::string(64 * kKiB, '\0'));  // a hole in what is in use, wherever it comes to lie
  Close();
  const std::string pool = path_ + "/pool";
  const std::string bytes = ReadFileBytes(pool);
  ASSERT_EQ(0, unlink(pool.c_str()));
  const uint64_t written = WriteSparsely(pool, bytes, std::max<uint64_t>(bytes.size(), 4096 * kKiB));
  ASSERT_LT(written + 48 * kKiB, bytes.size()) << "no hole for the value";
  FillMount("filler");
  const Status s = TryOpen();
  EXPECT_STATUS(NoSpace, s);
  EXPECT_TRUE(Mentions(s, pool));
  std::filesystem::remove(mount_ + "/filler");
  ASSERT_OK(TryOpen());
  FillMount("filler");
  PutUntilFull();
  for (uint64_t i = 0; i < 100; i++) EXPECT_EQ(FilledValue(i, 1000, 0), Get(FilledKey(i)));
}

// Holes where nothing is in use may stay: the pool opens, and what they cannot be filled for is NoSpace.
TEST_F(FullFileSystemTest, HolesThatNobodyUsesKeepNoPoolFromBeingOpened) {
  if (!OpenAndFill()) return;
  const std::string pool = path_ + "/pool";
  const std::string bytes = ReadFileBytes(pool);
  const uint64_t used = bytes.find_last_not_of('\0') + 64 * kKiB;         // zeros may be in use too
  const uint64_t length = std::max<uint64_t>(bytes.size(), 4096 * kKiB);  // as of a pool that was once larger
  ASSERT_LT(used, length / 2) << "nothing to leave out";
  ASSERT_EQ(0, unlink(pool.c_str()));
  WriteFileBytes(pool, bytes.substr(0, used));
  ASSERT_EQ(0, truncate(pool.c_str(), static_cast<off_t>(length)));
  FillMount("filler");
  ASSERT_OK(TryOpen());
  PutUntilFull();
  for (uint64_t i = 0; i < 100; i++) EXPECT_EQ(FilledValue(i, 1000, 0), Get(FilledKey(i)));
}

TEST(GivenBackFaultsTest, WhereNoHolesCanBeMadeAllIsKept) {
  constexpr uint64_t kMiB = 1024 * kKiB;
  for (const int error : {EOPNOTSUPP, ENOSPC}) {
    SCOPED_TRACE(strerror(error));
    TestPool pool(64 * kMiB, kMiB);
    pool.Allocate(16 * kMiB).reset();
    ArmCallFault({1, true, error, "fallocate"});
    for (uint64_t now = 1; now < 10; now++) EXPECT_FALSE(pool->GiveBackIdle(now, 0, 0));
    const uint64_t asked = DisarmCallFault();
    EXPECT_EQ(0u, pool->space().growth().given_back.load());
    if (error == EOPNOTSUPP) {
      EXPECT_EQ(1u, asked) << "a file system that cannot is asked again";
    }
    const ExtentRef again = pool.Allocate(16 * kMiB);
    memset(again->data(), 'a', again->size());
  }
}

// Free space that was given back is a hole. If the file system does not have it any more that is NoSpace, not a SIGBUS,
// and says nothing of free space that has storage.
TEST(GivenBackFaultsTest, WhatCannotBeHadAgainIsNoSpaceAndTheRestIsUsed) {
  constexpr uint64_t kMiB = 1024 * kKiB;
  TestPool pool(64 * kMiB, kMiB);
  ExtentRef large = pool.Allocate(16 * kMiB);
  const ExtentRef small = pool.Allocate(kMiB);
  large.reset();
  while (pool->GiveBackIdle(1, 0, 0)) {
  }
  ASSERT_GT(pool->space().growth().given_back.load(), 8 * kMiB);
  const uint64_t used = pool->used_bytes();
  ArmCallFault({1, true, ENOSPC, "posix_fallocate"});
  ExtentRef extent, stored;
  const Status s = pool->Allocate(8 * kMiB, ExtentKind::kLog, &extent);
  const Status of_stored = pool->Allocate(256 * kKiB, ExtentKind::kLog, &stored);
  EXPECT_GT(DisarmCallFault(), 0u);
  EXPECT_STATUS(NoSpace, s);
  ASSERT_OK(of_stored);
  memset(stored->data(), 's', stored->size());
  EXPECT_EQ(used + stored->size(), pool->used_bytes());
  ASSERT_OK(pool->Allocate(8 * kMiB, ExtentKind::kLog, &extent));
  memset(extent->data(), 'e', extent->size());
  EXPECT_EQ('s', stored->data()[stored->size() - 1]);
}

// A hole that cannot be filled is no room: what has storage is kept for whom it is kept. Space with storage lies behind
// it, and is not counted twice.
TEST_F(FullFileSystemTest, HolesThatCannotBeFilledAreNoRoom) {
  constexpr uint64_t kMiB = 1024 * kKiB;
  Mount(40 * kMiB);
  if (IsSkipped()) return;
  for (const uint64_t limit : {uint64_t{0}, 36 * kMiB}) {
    SCOPED_TRACE(limit);
    const std::string path = mount_ + "/pool" + std::to_string(limit);
    Pool::Options options;
    options.growth = kMiB;
    options.limit = limit;
    std::unique_ptr<Pool> pool;
    ASSERT_OK(Pool::Create(path, options, &pool));
    ASSERT_OK(pool->Publish());
    ExtentRef large, small;
    ASSERT_OK(pool->Allocate(30 * kMiB, ExtentKind::kLog, &large));
    ASSERT_OK(pool->Allocate(kMiB, ExtentKind::kLog, &small));
    large.reset();
    while (pool->GiveBackIdle(1, 0, 2 * kMiB)) continue;
    ASSERT_GT(pool->space().growth().given_back.load(), 20 * kMiB);
    FillMount("full");
    uint64_t leave = 0;
    leave = 20 * kMiB;
    ExtentRef extent;
    EXPECT_FALSE(pool->GiveBackIdle(2, 1000, leave));  // as now and then
    const Status kept = pool->AllocateAtMost(256 * kKiB, 64 * kKiB, leave, ExtentKind::kLog, &extent);
    EXPECT_STATUS(NoSpace, kept);
    EXPECT_STATUS(NoSpace, pool->AllocateAtMost(256 * kKiB, 64 * kKiB, leave, ExtentKind::kLog, &extent));
    ASSERT_OK(pool->AllocateAtMost(2 * kMiB, 64 * kKiB, 0, ExtentKind::kLog, &extent));
    memset(extent->data(), 'e', extent->size());
    extent.reset();
    small.reset();
    pool.reset();
    std::filesystem::remove(path);
    std::filesystem::remove(mount_ + "/full");
  }
}

}  // namespace
}  // namespace miodb::test
