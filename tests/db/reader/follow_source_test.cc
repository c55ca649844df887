// Whose copy a database is: that it is known over closing, crashes, checkpoints and backups, and that no other source
// and nothing else that was written ever passes for it (DB::FollowSource).

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "miodb/backup.h"
#include "miodb/updates.h"
#include "src/db/store/store_file.h"
#include "tests/common/environment.h"
#include "tests/common/in_child.h"
#include "tests/common/random/model_test_base.h"

namespace miodb::test {
namespace {

class FollowSourceTest : public ModelTestBase {
 protected:
  FollowSourceTest() : copy_path_(dir_ / "copy") { options_.keep_log_bytes = uint64_t{1} << 40; }
  ~FollowSourceTest() override { copy_.reset(); }

  static std::string PropertyOf(DB* db, const std::string& name) {
    std::string value;
    EXPECT_TRUE(db->GetProperty(name, &value)) << name;
    return value;
  }
  std::string Identity() { return PropertyOf(db_.get(), "miodb.identity"); }
  std::string Origin() { return PropertyOf(copy_.get(), "miodb.origin"); }

  void OpenCopied() {
    copy_.reset();
    copy_ = OpenCopy(copy_path_);
    ASSERT_NE(nullptr, copy_);
  }
  void MakeEmptyCopy() { ASSERT_OK(OpenDb(options_, copy_path_, &copy_)); }
  void PutInCopy() { ASSERT_OK(copy_->Put(WriteOptions(), "other", "x")); }

  // Writes to the copy what the source has and the copy has not.
  void CatchUp() {
    std::unique_ptr<UpdateIterator> updates;
    ASSERT_OK(db_->GetUpdatesSince(copy_->GetLatestSequenceNumber() + 1, &updates));
    for (; updates->Valid(); updates->Next()) {
      ASSERT_EQ(copy_->GetLatestSequenceNumber() + 1, updates->sequence());
      ASSERT_OK(copy_->Write(WriteOptions(), updates->batch()));
    }
    ASSERT_OK(updates->status());
  }
  void Follow() {
    ASSERT_OK(copy_->FollowSource(Identity()));
    EXPECT_EQ(Identity(), Origin());
    ASSERT_NO_FATAL_FAILURE(CatchUp());
    EXPECT_EQ(Forward(db_.get()), Forward(copy_.get()));
  }
  void ExpectRefused(const std::string& why) {
    const Status s = copy_->FollowSource(Identity());
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(std::string::npos, s.ToString().find(why)) << s.ToString();
    EXPECT_NE(std::string::npos, s.ToString().find("make it anew from a checkpoint or a backup of " + Identity()))
        << s.ToString();
  }

  void ChangeStoreOfCopy(const std::function<void(StoreDescriptor*)>& change) {
    copy_.reset();
    StoreDescriptor store;
    ASSERT_OK(ReadStore(Env::Default(), copy_path_, &store));
    change(&store);
    ASSERT_OK(WriteStore(Env::Default(), copy_path_, store));
  }

  const std::string copy_path_;
  std::unique_ptr<DB> copy_;
};

TEST_F(FollowSourceTest, AnIdentityIsOfOneDatabase) {
  Open();
  Put("a", "1");
  const std::string identity = Identity();
  EXPECT_EQ(32u, identity.size());
  DB* reader = nullptr;
  ASSERT_OK(DB::OpenReader(options_, path_, &reader));
  EXPECT_EQ(identity, PropertyOf(reader, "miodb.identity"));
  EXPECT_TRUE(reader->FollowSource(identity).IsNotSupportedError());
  delete reader;
  Open();
  EXPECT_EQ(identity, Identity());
  EXPECT_EQ("", Property("miodb.origin"));
  ASSERT_OK(db_->CreateCheckpoint(copy_path_));
  OpenCopied();
  EXPECT_NE(identity, PropertyOf(copy_.get(), "miodb.identity"));
}

TEST_F(FollowSourceTest, AnotherDatabaseIsRefused) {
  Open();
  for (const char* value : {"1", "2", "3"}) Put("a", value);
  MakeEmptyCopy();
  PutInCopy();
  ExpectRefused("is not known to be a copy of " + Identity());
  copy_.reset();
  ASSERT_OK(DestroyDB(copy_path_, options_));
  std::unique_ptr<DB> third;
  ASSERT_OK(OpenDb(options_, dir_ / "third", &third));
  ASSERT_OK(third->Put(WriteOptions(), "b", "1"));
  ASSERT_OK(third->CreateCheckpoint(copy_path_));
  OpenCopied();
  ExpectRefused("is a copy of " + PropertyOf(third.get(), "miodb.identity") + " and not of " + Identity());
  EXPECT_OK(copy_->FollowSource(PropertyOf(third.get(), "miodb.identity")));
}

TEST_F(FollowSourceTest, ACheckpointFollowsOverOpens) {
  Open();
  Put("a", "1");
  ASSERT_OK(db_->CreateCheckpoint(copy_path_));
  for (int round = 0; round < 3; round++) {
    Put("b", std::to_string(round));
    OpenCopied();
    EXPECT_EQ(Identity() + " " + std::to_string(round + 1), Origin());
    Follow();
    OpenCopied();  // by somebody who only reads
    EXPECT_EQ(Forward(db_.get()), Forward(copy_.get()));
  }
}

TEST_F(FollowSourceTest, ARestoredBackupFollows) {
  Open();
  Put("a", "1");
  ASSERT_OK(db_->CreateBackup(BackupOptions(), dir_ / "backups", nullptr));
  Put("a", "2");
  ASSERT_OK(RestoreBackup(OptionsOfCopy(copy_path_), BackupOptions(), dir_ / "backups", 1, copy_path_));
  OpenCopied();
  EXPECT_EQ(Identity() + " 1", Origin());
  Follow();
}

TEST_F(FollowSourceTest, ADatabaseThatWasNeverWrittenToFollows) {
  Open();
  Put("a", "1");
  MakeEmptyCopy();
  EXPECT_EQ("", Origin());
  Follow();
  Put("a", "2");
  OpenCopied();
  EXPECT_EQ(Identity() + " 1", Origin());
  Follow();
}

TEST_F(FollowSourceTest, AKilledFollowerGoesOn) {
  Open();
  MakeEmptyCopy();
  copy_.reset();
  for (uint64_t round = 0; round < 3 && !HasFailure(); round++) {
    const std::string identity = Identity();
    DB* opened = nullptr;           // not closed by the child
    ASSERT_OK(db_->WaitForIdle());  // no thread holds the allocator of a sanitizer while this process forks
    WaitingChild child([&] {
      if (!DB::Open(options_, copy_path_, &opened).ok() || !opened->FollowSource(identity).ok()) return false;
      // What the source is going to write, with the same numbers.
      for (uint64_t i = 0; i < 1000; i++) {
        if (!opened->Put(WriteOptions(), FilledKey(i), FilledValue(i, 100, round)).ok()) return false;
      }
      return true;
    });
    EXPECT_TRUE(child.waits());
    ASSERT_TRUE(child.Kill());
    for (uint64_t i = 0; i < 1100; i++) Put(FilledKey(i), FilledValue(i, 100, round));
    OpenCopied();
    EXPECT_EQ(Identity() + " " + std::to_string(1000 + 1100 * round), Origin());
    Follow();
    copy_.reset();
  }
}

// ---- what else was written

TEST_F(FollowSourceTest, WhatWasWrittenBesidesEndsIt) {
  Open();
  Put("a", "1");
  ASSERT_OK(db_->CreateCheckpoint(copy_path_));
  OpenCopied();
  PutInCopy();
  Put("b", "2");
  ExpectRefused("was a copy of " + Identity() + " up to write 1, and was written to since");
  OpenCopied();
  EXPECT_EQ("", Origin());
  ExpectRefused("is not known to be a copy of " + Identity());
}

// A copy that lost its last write, with the machine's power, and then got another one, has as many as before.
TEST_F(FollowSourceTest, AsManyWritesAsBeforeAreNotTheSame) {
  Open();
  Put("a", "1");
  ASSERT_OK(db_->CreateCheckpoint(copy_path_));
  Put("a", "2");
  OpenCopied();
  ChangeStoreOfCopy([](StoreDescriptor* store) { store->origin.sequence = 2; });
  OpenCopied();
  EXPECT_EQ("", Origin());
  PutInCopy();
  ExpectRefused("is not known to be a copy of " + Identity());
}

// ---- numbers that begin anew

TEST_F(FollowSourceTest, ARepairedSourceIsAnother) {
  Open();
  Put("a", "1");
  ASSERT_OK(db_->CreateCheckpoint(copy_path_));
  const std::string before = Identity();
  Close();
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  Put("b", "2");
  OpenCopied();
  ExpectRefused("is a copy of " + before + " and not of " + Identity());
}

TEST_F(FollowSourceTest, ASourceThatWasPutBackIsAnother) {
  Open();
  Put("a", "1");
  ASSERT_OK(db_->CreateBackup(BackupOptions(), dir_ / "backups", nullptr));
  Put("a", "2");
  MakeEmptyCopy();
  Follow();
  copy_.reset();
  const std::string before = Identity();
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  ASSERT_OK(RestoreBackup(OptionsOfCopy(path_), BackupOptions(), dir_ / "backups", 1, path_));
  Open();
  Put("b", "2");
  Put("b", "3");
  OpenCopied();
  ExpectRefused("is a copy of " + before + " and not of " + Identity());
}

TEST_F(FollowSourceTest, ARepairedCopyIsNone) {
  Open();
  Put("a", "1");
  ASSERT_OK(db_->CreateCheckpoint(copy_path_));
  ASSERT_OK(RepairDB(copy_path_, OptionsOfCopy(copy_path_)));
  OpenCopied();
  EXPECT_EQ("", Origin());
  ExpectRefused("is not known to be a copy of " + Identity());
}

// ---- copies that know nothing of it

TEST_F(FollowSourceTest, ACopyOfAnEarlierVersionIsRefused) {
  Open();
  Put("a", "1");
  ASSERT_OK(db_->CreateCheckpoint(copy_path_));
  ChangeStoreOfCopy([](StoreDescriptor* store) { store->origin = StoreDescriptor::Origin(); });
  OpenCopied();
  ExpectRefused("is not known to be a copy of " + Identity());
  CatchUp();  // by a program that knows better
}

TEST_F(FollowSourceTest, ACopyInAnonymousMemoryFollowsWhileItIsOpen) {
  Open();
  Put("a", "1");
  options_.pool_path = "anonymous";
  options_.log_mode = kLogOff;
  options_.keep_log_bytes = 0;
  MakeEmptyCopy();
  Follow();
  EXPECT_OK(copy_->FollowSource(Identity()));
}

TEST_F(FollowSourceTest, ATextThatIsNoIdentityIsRefused) {
  Open();
  MakeEmptyCopy();
  for (const std::string& text : {std::string(), std::string("x"), std::string(32, 'g'), Identity() + "0"}) {
    const Status s = copy_->FollowSource(text);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(std::string::npos, s.ToString().find("miodb.identity")) << s.ToString();
  }
  EXPECT_TRUE(db_->FollowSource(Identity()).IsInvalidArgument()) << "the database itself";
}

}  // namespace
}  // namespace miodb::test
