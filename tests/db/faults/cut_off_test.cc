// A call in a process that ends before the call's first change to a file, before its second one, and so on to the last:
// the same call then succeeds in another process, and nothing that was acknowledged is lost.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "miodb/backup.h"
#include "miodb/column_family.h"
#include "src/db/open/db_impl.h"
#include "src/db/store/places.h"
#include "src/db/store/store_file.h"
#include "src/format/file_names.h"
#include "tests/common/environment.h"
#include "tests/common/in_child.h"
#include "tests/common/ssd_test_base.h"
#include "tests/faults/system_calls.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

constexpr int kCutOff = 77;
constexpr uint64_t kCount = 300;

struct Mode {
  const char* name;
  bool elsewhere;    // every part in a place of its own, with an SSD tier and log files
  bool is_volatile;  // the same, with an anonymous pool
};

class CutOffTest : public SsdTestBase, public testing::WithParamInterface<Mode> {
 protected:
  CutOffTest() {
    options_.nvm_budget = 64 * kKiB;
    options_.ssd_file_size = 64 * kKiB;
    options_.create_if_missing = true;
    if (!GetParam().elsewhere) {
      options_.ssd_path.clear();
      return;
    }
    options_.pool_path = GetParam().is_volatile ? "anonymous" : dir_ / "pool";
    options_.log_mode = kLogFile;
    options_.wal_dir = dir_ / "logs";
  }

  // Without threads, so that the calls are the same each time.
  Status OpenQuietly(std::unique_ptr<DBImpl>* db) const {
    DBImpl::Hooks hooks;
    hooks.background = BackgroundMode::kBySteps;
    return DBImpl::Open(options_, path_, hooks, db);
  }

  // With something in tables, in table files and in the log.
  void Make() {
    Open();
    Fill(kCount, kValueBytes);
    Settle();
    ASSERT_EQ(GetParam().elsewhere, GetParam().elsewhere && Counter("ssd-files") > 0);
    Put(FilledKey(kCount), FilledValue(kCount, kValueBytes, 0));
    Close();
  }

  // Whether the database has all of that, and a database at another place.
  void CheckDatabase() {
    ASSERT_OK(TryOpen());
    CheckFilled(kCount + 1, kValueBytes);
    Close();
  }
  void CheckCopy(const Options& options, const std::string& path) {
    ASSERT_OK(OpenDb(options, path, &db_));
    CheckFilled(kCount + 1, kValueBytes);
    Close();
  }

  // Leaves the folder as it was before, or keeps it for that.
  void Save() const { Copy(dir_.path(), kept_.path()); }
  void PutBack() const { Copy(kept_.path(), dir_.path()); }

  // again: makes the call once more and looks at what there is.
  void Sweep(const std::function<Status()>& call, const std::function<void()>& again) {
    Save();
    int code = kCutOff;
    uint64_t at = 1;
    // The processes have one thread, so ThreadSanitizer has little to see.
    const uint64_t step = RunsUnderThreadSanitizer() ? 7 : 1;
    for (; code == kCutOff && !HasFailure(); at += step) {
      SCOPED_TRACE("change " + std::to_string(at));
      PutBack();
      code = InChild([&] { return Run(call, at); });
      ASSERT_TRUE(code == 0 || code == kCutOff) << code;
      again();
    }
    EXPECT_GT(at, 5u);
  }

  // But for a pool or region outside of the directory that was cut off before it had a header: nothing says whose it
  // is.
  void ExpectNothingIsLeft() const {
    for (const auto& entry : fs::recursive_directory_iterator(dir_.path())) {
      const bool says_nothing = entry.path() == dir_ / "pool.tmp" || entry.path() == dir_ / "region.tmp";
      if (!says_nothing) ADD_FAILURE() << entry.path();
    }
  }

  // The next open makes the database whole, and DestroyDB removes all of it.
  void ExpectMadeAndRemoved() {
    ASSERT_NO_FATAL_FAILURE(OpenAndDestroy());
    ExpectNothingIsLeft();
  }

  TestDir kept_;

 private:
  static int Run(const std::function<Status()>& call, uint64_t at) {
    CallFault fault;
    fault.at = at;
    fault.before = [] { _exit(kCutOff); };
    ArmCallFault(fault);
    const Status s = call();
    DisarmCallFault();
    if (!s.ok()) fprintf(stderr, "%s\n", s.ToString().c_str());
    return s.ok() ? 0 : 1;
  }

  static void Copy(const std::string& from, const std::string& to) {
    for (const auto& entry : fs::directory_iterator(to)) fs::remove_all(entry.path());
    fs::copy(from, to, fs::copy_options::recursive);
  }
};

constexpr Mode kModes[] = {{"InOneFolder", false, false}, {"Elsewhere", true, false}, {"Volatile", true, true}};

INSTANTIATE_TEST_SUITE_P(Modes, CutOffTest, testing::ValuesIn(kModes),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(CutOffTest, AnOpenIsRepeated) {
  Make();
  const auto open = [this] {
    std::unique_ptr<DBImpl> db;
    Status s = OpenQuietly(&db);
    return s.ok() ? db->Put(WriteOptions(), FilledKey(kCount), FilledValue(kCount, kValueBytes, 0)) : s;
  };
  Sweep(open, [this] { CheckCopy(options_, path_); });
}

TEST_P(CutOffTest, AMakingIsRepeatedAndRemoved) {
  const auto make = [this] {
    std::unique_ptr<DBImpl> db;
    return OpenQuietly(&db);
  };
  Sweep(make, [this] { ExpectMadeAndRemoved(); });
}

// Fails the sync of a STORE that says that the database is in use, once: by then all parts are there.
class LateFailureEnv final : public EnvWrapper {
 public:
  explicit LateFailureEnv(const std::string& name) : EnvWrapper(Env::Default()), name_(name) {}

  Status NewAppendableFile(const std::string& file, WritableFile** result) override {
    StoreDescriptor store;
    const bool is_late = file == StorePath(name_) && ReadStore(target(), name_, &store).ok() &&
                         store.state == StoreState::kInUse && !failed_;
    if (!is_late) return target()->NewAppendableFile(file, result);
    failed_ = true;
    return Status::IOError(file, "injected");
  }

 private:
  const std::string name_;
  bool failed_ = false;
};

// An open that has made a database and fails takes it away again, and may be cut off at that.
TEST_P(CutOffTest, AMakingThatFailsLateIsRepeatedAndRemoved) {
  if (!GetParam().elsewhere) {
    options_.nvm_regions.resize(1);
    options_.nvm_regions[0].path = dir_ / "region";
  }
  const auto make = [this] {
    LateFailureEnv env(path_);
    Options options = options_;
    options.env = &env;
    DBImpl::Hooks hooks;
    hooks.background = BackgroundMode::kBySteps;
    std::unique_ptr<DBImpl> db;
    const Status s = DBImpl::Open(options, path_, hooks, &db);
    if (s.ok()) return Status::Corruption("the open did not fail");
    return s.ToString().find("injected") != std::string::npos ? Status::OK() : s;
  };
  Sweep(make, [this] {
    fs::remove(PoolPath(options_, path_) + ".probe");  // of an Env of the program's, and the user's to remove
    ExpectMadeAndRemoved();
  });
}

// Outside of the directory a making leaves parts that STORE does not name yet: the next open takes them up.
TEST_P(CutOffTest, AMakingIsRemoved) {
  if (GetParam().elsewhere) GTEST_SKIP() << "STORE names no places yet";
  const auto make = [this] {
    std::unique_ptr<DBImpl> db;
    return OpenQuietly(&db);
  };
  Sweep(make, [this] {
    ASSERT_OK(DestroyDB(path_, options_));
    ExpectNothingIsLeft();
  });
}

TEST_P(CutOffTest, ARemovalIsRepeated) {
  Make();
  Sweep([this] { return DestroyDB(path_, options_); },
        [this] {
          ASSERT_OK(DestroyDB(path_, options_));
          ExpectNothingIsLeft();
        });
}

// An undamaged database loses nothing.
TEST_P(CutOffTest, ARepairIsRepeated) {
  Make();
  Sweep([this] { return RepairDB(path_, options_); },
        [this] {
          ASSERT_OK(RepairDB(path_, options_));
          CheckDatabase();
        });
}

// Without a second repair the database opens, or says that one is needed.
TEST_P(CutOffTest, ARepairLeavesADatabase) {
  Make();
  Sweep([this] { return RepairDB(path_, options_); },
        [this] {
          const Status s = TryOpen();
          const bool asks_for_repair = !s.ok() && s.ToString().find("RepairDB") != std::string::npos;
          ASSERT_TRUE(s.ok() || asks_for_repair) << s.ToString();
          if (asks_for_repair) ASSERT_OK(RepairDB(path_, options_));
          CheckDatabase();
        });
}

TEST_P(CutOffTest, AMoveIsRepeated) {
  Make();
  const Options before = options_;
  if (!GetParam().elsewhere) {
    options_.pool_path = dir_ / "moved_pool";
    fs::rename(path_ + "/pool", options_.pool_path);
  } else {
    options_.wal_dir = dir_ / "moved_logs";
    options_.ssd_path = dir_ / "moved_ssd";
    fs::rename(before.wal_dir, options_.wal_dir);
    fs::rename(before.ssd_path, options_.ssd_path);
  }
  Sweep([this] { return MoveStore(path_, options_); },
        [this] {
          ASSERT_OK(MoveStore(path_, options_));
          CheckDatabase();
        });
}

TEST_P(CutOffTest, ASavepointIsMadeAndDroppedAgain) {
  if (GetParam().is_volatile) GTEST_SKIP() << "gone with the process";
  Make();
  const auto call = [this](const std::function<Status(DBImpl*)>& what) {
    std::unique_ptr<DBImpl> db;
    Status s = OpenQuietly(&db);
    return s.ok() ? what(db.get()) : s;
  };
  const auto names = [this] {
    std::vector<SavepointInfo> savepoints;
    EXPECT_OK(db_->ListSavepoints(&savepoints));
    return savepoints.size();
  };
  Sweep([&] { return call([](DBImpl* db) { return db->CreateSavepoint("s"); }); },
        [&] {
          ASSERT_OK(TryOpen());
          if (names() == 0) ASSERT_OK(db_->CreateSavepoint("s"));
          EXPECT_EQ(1u, names());
          CheckFilled(kCount + 1, kValueBytes);
          Close();
        });
  Sweep([&] { return call([](DBImpl* db) { return db->DropSavepoint("s"); }); },
        [&] {
          ASSERT_OK(TryOpen());
          if (names() == 1) ASSERT_OK(db_->DropSavepoint("s"));
          EXPECT_EQ(0u, names());
          CheckFilled(kCount + 1, kValueBytes);
          Close();
        });
}

// A copy that follows counts the writes: the deletion of what a family had is one of them, once, also if it had
// nothing.
TEST_P(CutOffTest, ADropOfAFamilyIsOneWrite) {
  if (!GetParam().elsewhere) GTEST_SKIP() << "a log in the pool is written without calls";
  Make();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(TryOpen());
  ASSERT_OK(db_->CreateColumnFamily("f", &family));
  const uint64_t before = db_->GetLatestSequenceNumber();
  Close();
  Sweep(
      [&] {
        std::unique_ptr<DBImpl> db;
        Status s = OpenQuietly(&db);
        if (s.ok()) s = db->GetColumnFamily("f", &family);
        return s.ok() ? db->DropColumnFamily(family) : s;
      },
      [&] {
        // A second open finds the same as the first.
        for (int open = 0; open < 2; open++) {
          ASSERT_OK(TryOpen());
          EXPECT_EQ(before + !db_->GetColumnFamily("f", &family).ok(), db_->GetLatestSequenceNumber());
          CheckFilled(kCount + 1, kValueBytes);
          Close();
        }
      });
}

TEST_P(CutOffTest, ACheckpointIsRepeated) {
  if (GetParam().is_volatile) GTEST_SKIP() << "has no checkpoints";
  Make();
  const std::string copy = dir_ / "copy";
  Options of_copy = options_;
  of_copy.pool_path.clear();
  of_copy.wal_dir.clear();
  if (GetParam().elsewhere) of_copy.ssd_path = copy + "/ssd";
  const auto make = [&] {
    std::unique_ptr<DBImpl> db;
    Status s = OpenQuietly(&db);
    return s.ok() ? db->CreateCheckpoint(copy) : s;
  };
  Sweep(make, [&] {
    ASSERT_OK(TryOpen());
    // There as a whole, or not at all.
    if (!fs::exists(copy)) ASSERT_OK(db_->CreateCheckpoint(copy));
    CheckFilled(kCount + 1, kValueBytes);
    EXPECT_FALSE(fs::exists(copy + ".tmp"));
    CheckCopy(of_copy, copy);
  });
}

// Backups, and what is made of them.
class CutOffBackupTest : public CutOffTest {
 protected:
  CutOffBackupTest() {
    of_copy_.pool_path = GetParam().elsewhere ? dir_ / "copied_pool" : "";
    of_copy_.ssd_path = GetParam().elsewhere ? dir_ / "copied_ssd" : "";
    of_copy_.wal_dir = GetParam().elsewhere ? dir_ / "copied_logs" : "";
  }

  // Restores the newest generation, and removes what was made.
  void CheckNewest() {
    ASSERT_OK(RestoreBackup(of_copy_, BackupOptions(), folder_, 0, copy_));
    CheckCopy(of_copy_, copy_);
    ASSERT_OK(DestroyDB(copy_, of_copy_));
  }

  const std::string folder_ = dir_ / "backups", copy_ = dir_ / "copy";
  Options of_copy_ = options_;
};

INSTANTIATE_TEST_SUITE_P(Modes, CutOffBackupTest, testing::ValuesIn(kModes, kModes + 2),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(CutOffBackupTest, ABackupIsRepeated) {
  Make();
  const auto make = [this] {
    std::unique_ptr<DBImpl> db;
    Status s = OpenQuietly(&db);
    return s.ok() ? db->CreateBackup(BackupOptions(), folder_, nullptr) : s;
  };
  Sweep(make, [this] {
    ASSERT_OK(TryOpen());
    ASSERT_OK(db_->CreateBackup(BackupOptions(), folder_, nullptr));
    Close();
    ASSERT_OK(VerifyBackup(BackupOptions(), folder_, 0));
    CheckNewest();
  });
}

TEST_P(CutOffBackupTest, ARestoringIsRepeated) {
  Make();
  Open();
  ASSERT_OK(db_->CreateBackup(BackupOptions(), folder_, nullptr));
  Close();
  const auto restore = [this] { return RestoreBackup(of_copy_, BackupOptions(), folder_, 0, copy_); };
  Sweep(restore, [&] {
    if (!fs::exists(copy_)) ASSERT_OK(restore());
    EXPECT_FALSE(fs::exists(copy_ + ".tmp"));
    CheckCopy(of_copy_, copy_);
    ASSERT_OK(DestroyDB(copy_, of_copy_));
    for (const auto& entry : fs::directory_iterator(dir_.path())) {
      EXPECT_EQ(std::string::npos, entry.path().filename().string().find("cop")) << entry.path();
    }
  });
}

TEST_P(CutOffBackupTest, ADeletionIsRepeated) {
  Make();
  Open();
  ASSERT_OK(db_->CreateBackup(BackupOptions(), folder_, nullptr));
  Put("zz", "1");
  ASSERT_OK(db_->CreateBackup(BackupOptions(), folder_, nullptr));
  Close();
  Sweep([this] { return DeleteBackup(folder_, 1); },
        [this] {
          const Status s = DeleteBackup(folder_, 1);
          EXPECT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
          ASSERT_OK(VerifyBackup(BackupOptions(), folder_, 0));
          ASSERT_OK(RestoreBackup(of_copy_, BackupOptions(), folder_, 2, copy_));
          ASSERT_OK(OpenDb(of_copy_, copy_, &db_));
          EXPECT_EQ("1", Get("zz"));
          Close();
        });
}

}  // namespace
}  // namespace miodb::test
