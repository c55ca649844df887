// An open of which one call of the Env fails: it says so, takes nothing of the database away, and the next one finds
// everything. And what an open or a repair acts on is durable before.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "src/db/open/db_impl.h"
#include "tests/common/ssd_test_base.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

// Calls of the Env are counted from Arm on; one of them fails.
class FailingEnv final : public EnvWrapper {
 public:
  FailingEnv() : EnvWrapper(Env::Default()) {}

  void Arm(int at) {
    at_ = at;
    calls_ = 0;
  }
  bool Disarm() {
    const bool met = at_ > 0 && calls_ >= at_;
    at_ = 0;
    return met;
  }

  Status NewSequentialFile(const std::string& name, SequentialFile** file) override {
    return Fails() ? Error(name) : target()->NewSequentialFile(name, file);
  }
  Status NewWritableFile(const std::string& name, WritableFile** file) override {
    return Fails() ? Error(name) : target()->NewWritableFile(name, file);
  }
  Status NewAppendableFile(const std::string& name, WritableFile** file) override {
    return Fails() ? Error(name) : target()->NewAppendableFile(name, file);
  }
  bool FileExists(const std::string& name) override { return !Fails() && target()->FileExists(name); }
  Status GetChildren(const std::string& name, std::vector<std::string>* names) override {
    return Fails() ? Error(name) : target()->GetChildren(name, names);
  }
  Status RemoveFile(const std::string& name) override {
    const bool is_probe = name.ends_with(".probe");  // whose removal is the user's then
    return !is_probe && Fails() ? Error(name) : target()->RemoveFile(name);
  }
  Status CreateDir(const std::string& name) override { return Fails() ? Error(name) : target()->CreateDir(name); }
  Status GetFileSize(const std::string& name, uint64_t* bytes) override {
    return Fails() ? Error(name) : target()->GetFileSize(name, bytes);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    return Fails() ? Error(from) : target()->RenameFile(from, to);
  }
  Status LockFile(const std::string& name, FileLock** lock) override {
    return Fails() ? Error(name) : target()->LockFile(name, lock);
  }

 private:
  bool Fails() { return at_ > 0 && ++calls_ == at_; }
  static Status Error(const std::string& name) { return Status::IOError(name, "injected"); }

  int at_ = 0;
  int calls_ = 0;
};

struct Mode {
  const char* name;
  LogMode log_mode;
  bool ssd;
  bool is_volatile;
};

class OpenFaultsTest : public SsdTestBase, public testing::WithParamInterface<Mode> {
 protected:
  OpenFaultsTest() {
    const Mode& mode = GetParam();
    options_.log_mode = mode.log_mode;
    if (mode.log_mode == kLogFile) options_.wal_dir = dir_ / "logs";
    if (!mode.ssd) options_.ssd_path.clear();
    if (mode.is_volatile) options_.pool_path = "anonymous";
    options_.nvm_budget = 64 * kKiB;
  }

  // Without threads, so that the calls are the same each time.
  Status OpenQuietly(Env* env, std::unique_ptr<DBImpl>* db) {
    Options options = options_;
    options.env = env;
    DBImpl::Hooks hooks;
    hooks.background = BackgroundMode::kBySteps;
    return DBImpl::Open(options, path_, hooks, db);
  }

  // The calls of an open fail one after the other. What the test does before each open, and what it finds afterwards,
  // is the caller's.
  void Sweep(const std::function<void()>& before, const std::function<void()>& after) {
    FailingEnv env;
    int failed = 0;
    for (int at = 1;; at++) {
      SCOPED_TRACE("call " + std::to_string(at));
      before();
      env.Arm(at);
      std::unique_ptr<DBImpl> db;
      const Status s = OpenQuietly(&env, &db);
      const bool met = env.Disarm();
      failed += !s.ok();
      db.reset();
      after();
      if (HasFailure()) return;
      if (!met) break;
    }
    EXPECT_GT(failed, 4);
  }
};

constexpr Mode kModes[] = {
    {"Pool", kLogPmem, false, false},
    {"LogFiles", kLogFile, false, false},
    {"Ssd", kLogPmem, true, false},
    {"SsdAndLogFiles", kLogFile, true, false},
    {"SsdAndVolatilePool", kLogFile, true, true},
};

INSTANTIATE_TEST_SUITE_P(Modes, OpenFaultsTest, testing::ValuesIn(kModes),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(OpenFaultsTest, AnOpenThatFailsAtAnyCallTakesNothingAway) {
  constexpr uint64_t kCount = 400;
  Open();
  Fill(kCount, kValueBytes);
  Settle();
  ASSERT_EQ(GetParam().ssd, GetParam().ssd && Counter("ssd-files") > 0);
  Put(FilledKey(kCount), FilledValue(kCount, kValueBytes, 0));  // in the log
  Close();
  Sweep([] {},
        [&] {
          ASSERT_OK(TryOpen());
          CheckFilled(kCount + 1, kValueBytes);
          Close();
        });
}

TEST_P(OpenFaultsTest, AMakingThatFailsAtAnyCallIsBegunAgain) {
  Sweep([] {},
        [&] {
          ASSERT_NO_FATAL_FAILURE(OpenAndDestroy());
          EXPECT_FALSE(fs::exists(path_));
          EXPECT_FALSE(fs::exists(ssd_));
        });
}

// Notes what is done with the names in the database's folders, in its order.
class NotingEnv final : public EnvWrapper {
 public:
  NotingEnv() : EnvWrapper(Env::Default()) {}

  Status NewWritableFile(const std::string& name, WritableFile** file) override {
    Note("write", name);
    return target()->NewWritableFile(name, file);
  }
  // The caller opens STORE in this way to sync it.
  Status NewAppendableFile(const std::string& name, WritableFile** file) override {
    Note("sync", name);
    return target()->NewAppendableFile(name, file);
  }
  Status RemoveFile(const std::string& name) override {
    if (target()->FileExists(name)) Note("remove", name);
    return target()->RemoveFile(name);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    if (target()->FileExists(from)) Note("rename", to);
    return target()->RenameFile(from, to);
  }

  // The first that changes something, but for the info log.
  const std::string& first() const { return first_; }

 private:
  void Note(const std::string& what, const std::string& name) {
    const std::string file = name.substr(name.rfind('/') + 1);
    if (first_.empty() && !file.starts_with("LOG")) first_ = what + " " + file;
  }

  std::string first_;
};

// A process that was killed may have replaced STORE and not synced it.
TEST_P(OpenFaultsTest, WhatStoreSaysIsDurableBeforeItIsActedOn) {
  Open();
  Fill(400, kValueBytes);
  Settle();
  Put("logged", "1");
  Close();
  if (GetParam().ssd) {
    ASSERT_OK(WriteStringToFile(Env::Default(), "an orphan", ssd_ + "/999999.sst"));
  }
  const auto expect_sync = [&](const std::function<void(Env*)>& act) {
    NotingEnv env;
    act(&env);
    EXPECT_EQ("sync STORE", env.first());
  };
  expect_sync([&](Env* env) {
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(OpenQuietly(env, &db));
  });
  EXPECT_FALSE(fs::exists(ssd_ + "/999999.sst"));
  Options options = options_;
  expect_sync([&](Env* env) {
    options.env = env;
    ASSERT_OK(RepairDB(path_, options));
  });
  expect_sync([&](Env* env) {
    options.env = env;
    ASSERT_OK(DestroyDB(path_, options));
  });
}

// ---- Threads

// Holds a replacement of STORE up for a while, or until there is a table file.
class SlowStoreEnv final : public EnvWrapper {
 public:
  explicit SlowStoreEnv(const std::string& ssd) : EnvWrapper(Env::Default()), ssd_(ssd) {}

  Status RenameFile(const std::string& from, const std::string& to) override {
    for (int i = 0; i < 100 && to.ends_with("/STORE") && !HasTables(); i++) target()->SleepForMicroseconds(3000);
    had_tables_ = had_tables_ || HasTables();
    return target()->RenameFile(from, to);
  }
  bool had_tables() const { return had_tables_; }

 private:
  bool HasTables() {
    std::vector<std::string> names;
    target()->GetChildren(ssd_, &names).IgnoreError();
    return std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".sst"); });
  }

  const std::string ssd_;
  std::atomic<bool> had_tables_{false};
};

using NewTierTest = SsdTestBase;

TEST_F(NewTierTest, StoreNamesANewTierBeforeItHasAFile) {
  options_.ssd_path.clear();
  Open();
  Fill(800, kValueBytes);
  Settle();
  Close();
  options_.ssd_path = ssd_;
  options_.nvm_budget = 64 * kKiB;
  SlowStoreEnv env(ssd_);
  Options options = options_;
  options.env = &env;
  ASSERT_OK(OpenDb(options, path_, &db_));
  EXPECT_FALSE(env.had_tables());
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_GT(Counter("ssd-files"), 0u);
  Close();
}

}  // namespace
}  // namespace miodb::test
