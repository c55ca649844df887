// What another process finds, and may do, while a database is made, removed, or refused: at each system call that
// changes a name or syncs, another process opens the database or removes it.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "src/db/open/db_impl.h"
#include "tests/common/db_test_base.h"
#include "tests/common/in_child.h"
#include "tests/faults/system_calls.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

// Runs something before the call with this number.
class Interruption final : public FileWatch {
 public:
  Interruption(uint64_t at, std::function<void()> run) : at_(at), run_(std::move(run)) { SetFileWatch(this); }
  ~Interruption() override { SetFileWatch(nullptr); }

  void BeforeCall() override {
    if (++calls_ != at_) return;
    SetFileWatch(nullptr);
    run_();
  }
  void Synced(int) override {}
  void Mapped(int, char*, size_t) override {}
  void PagesSynced(char*, size_t) override {}

  // Whether there was such a call.
  bool met() const { return calls_ >= at_; }

 private:
  const uint64_t at_;
  const std::function<void()> run_;
  uint64_t calls_ = 0;
};

class BesideTest : public DbTestBase {
 protected:
  BesideTest() { options_.pool_path = dir_ / "pool"; }

  // Runs the call again and again, and "beside" before its first change, then before its second one, to the last.
  void Sweep(const std::function<void()>& prepare, const std::function<void()>& call,
             const std::function<void()>& beside, const std::function<void()>& after) {
    uint64_t at = 1;
    for (bool met = true; met && !HasFailure(); at++) {
      SCOPED_TRACE("call " + std::to_string(at));
      prepare();
      {
        const Interruption interruption(at, beside);
        call();
        met = interruption.met();
      }
      after();
    }
    EXPECT_GT(at, 4u);
  }

  void Make() {
    Open();
    Put("a", "1");
    Close();
  }

  void ExpectNothingIsLeft() const { EXPECT_TRUE(fs::is_empty(dir_.path())); }

  // A making without threads, so that the calls are the same each time.
  Status OpenQuietly(std::unique_ptr<DBImpl>* db) const {
    DBImpl::Hooks hooks;
    hooks.background = BackgroundMode::kBySteps;
    return DBImpl::Open(options_, path_, hooks, db);
  }

  // Whether the lock is named as the reason.
  static bool IsLocked(const Status& s) { return s.IsIOError() && s.ToString().find("/LOCK") != std::string::npos; }
};

// The lock that the other process takes is the one that the next open meets.
TEST_F(BesideTest, ALockThatAnotherProcessHoldsIsNotRemoved) {
  options_.create_if_missing = true;
  std::unique_ptr<WaitingChild> child;
  int opened = 0;
  const auto beside = [&] {
    child = std::make_unique<WaitingChild>([&] {
      std::unique_ptr<DB> db;
      const bool put = OpenDb(options_, path_, &db).ok() && db->Put(WriteOptions(), "b", "2").ok();
      return put && db.release() != nullptr;
    });
  };
  const auto after = [&] {
    const bool has_it = child != nullptr && child->waits();
    opened += has_it;
    if (has_it) {
      EXPECT_TRUE(IsLocked(TryOpen()));
      EXPECT_TRUE(IsLocked(DestroyDB(path_, options_)));
    }
    child.reset();
    Open();
    EXPECT_EQ(has_it ? "2" : kNotFound, Get("b"));
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
    ExpectNothingIsLeft();
  };
  Sweep([this] { Make(); }, [this] { DestroyDB(path_, options_).IgnoreError(); }, beside, after);
  EXPECT_GT(opened, 0);

  // An open that fails has made the directory.
  opened = 0;
  Options failing = options_;
  failing.pool_path = dir_ / "no/such/pool";
  const auto fail = [&] {
    std::unique_ptr<DB> db;
    EXPECT_FALSE(OpenDb(failing, path_, &db).ok());
  };
  Sweep([] {}, fail, beside, after);
  EXPECT_GT(opened, 0);
}

// A removal takes one part after the other. An open beside it names the lock, and not a missing pool.
TEST_F(BesideTest, AnOpenBesideARemovalIsToldOfTheLock) {
  options_.create_if_missing = false;
  const auto open = [this] {
    EXPECT_EQ(0, InChild([this] {
                const Status s = TryOpen();
                return IsLocked(s) || s.ToString().find("does not exist") != std::string::npos ? 0 : 1;
              }));
  };
  Options making = options_;
  making.create_if_missing = true;
  const auto prepare = [&] {
    ASSERT_OK(OpenDb(making, path_, &db_));
    Close();
  };
  Sweep(
      prepare, [this] { ASSERT_OK(DestroyDB(path_, options_)); }, open, [this] { ExpectNothingIsLeft(); });
}

// Nor is a removal told that parts of a database that is being made are another one's.
TEST_F(BesideTest, ARemovalBesideAMakingIsToldOfTheLockOrFindsNothing) {
  std::unique_ptr<DBImpl> db;
  const auto remove = [this] {
    EXPECT_EQ(0, InChild([this] {
                const Status s = DestroyDB(path_, options_);
                return s.ok() || IsLocked(s) ? 0 : 1;
              }));
  };
  const auto make = [&] {
    ASSERT_OK(OpenQuietly(&db));
    ASSERT_OK(db->Put(WriteOptions(), "a", "1"));
    db.reset();
  };
  Sweep([] {}, make, remove,
        [this] {
          Open();
          EXPECT_EQ("(a->1)", Forward(db_.get()));
          Close();
          ASSERT_OK(DestroyDB(path_, options_));
          ExpectNothingIsLeft();
        });
}

}  // namespace
}  // namespace miodb::test
