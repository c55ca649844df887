// Savepoints: that each keeps its state through closing and crashes, that dropping one gives its space back, and what
// they cost. copies_test.cc has the promises of every kind of copy.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/common/random/model_test_base.h"

namespace miodb::test {
namespace {

class SavepointTest : public ModelTestBase {
 protected:
  void Create(const std::string& name) { ASSERT_OK(db_->CreateSavepoint(name)); }
  void Drop(const std::string& name) { ASSERT_OK(db_->DropSavepoint(name)); }

  std::vector<SavepointInfo> List() {
    std::vector<SavepointInfo> savepoints;
    EXPECT_OK(db_->ListSavepoints(&savepoints));
    return savepoints;
  }
  std::string Names() {
    std::string names;
    for (const SavepointInfo& savepoint : List()) names += (names.empty() ? "" : " ") + savepoint.name;
    return names;
  }

  std::unique_ptr<DB> View(const std::string& name) {
    DB* view = nullptr;
    const Status s = db_->OpenSavepoint(name, &view);
    EXPECT_OK(s);
    EXPECT_EQ(s.ok(), view != nullptr);
    return std::unique_ptr<DB>(view);
  }
  // The content of a savepoint, read in both directions.
  std::string Shows(const std::string& name) { return ContentOf(View(name)); }
};

TEST_F(SavepointTest, KeepsWhatWasThere) {
  Open();
  Put("a", "1");
  Put("b", "2");
  Create("first");
  Put("a", "3");
  Delete("b");
  Create("second");
  Settle();
  EXPECT_EQ("(a->1)(b->2)", Shows("first"));
  EXPECT_EQ("(a->3)", Shows("second"));
  Open();
  EXPECT_EQ("first second", Names());
  EXPECT_EQ("(a->1)(b->2)", Shows("first"));
  EXPECT_EQ("(a->3)", Shows("second"));
  EXPECT_EQ("(a->3)", Forward(db_.get()));
}

TEST_F(SavepointTest, ListsWhatThereIs) {
  Open();
  Create("none");
  Put("a", "1");
  Create("one");
  Put("a", "2");
  Create("two");
  for (int opened = 0; opened < 2; opened++, Open()) {
    ASSERT_EQ("none one two", Names());
    const std::vector<SavepointInfo> list = List();
    for (uint64_t i = 0; i < 3; i++) EXPECT_EQ(i, list[i].sequence);
    EXPECT_GE(list[2].micros, list[1].micros);
    EXPECT_GT(list[1].micros, 1600000000ull * 1000 * 1000);
  }
}

TEST_F(SavepointTest, RefusesNames) {
  Open();
  EXPECT_TRUE(db_->CreateSavepoint("").IsInvalidArgument());
  EXPECT_TRUE(db_->CreateSavepoint(std::string(256, 'n')).IsInvalidArgument());
  Create(std::string(255, 'n'));
  Create("a");
  EXPECT_TRUE(db_->CreateSavepoint("a").IsInvalidArgument());
  EXPECT_TRUE(db_->DropSavepoint("b").IsNotFound());
  DB* view = db_.get();
  EXPECT_TRUE(db_->OpenSavepoint("b", &view).IsNotFound());
  EXPECT_EQ(nullptr, view);
  Drop("a");
  EXPECT_TRUE(db_->DropSavepoint("a").IsNotFound());
  Create("a");  // the name is free again
}

TEST_F(SavepointTest, GivesSpaceBackWhenItIsDropped) {
  Open();
  Fill(2000, 200);
  ASSERT_OK(db_->WaitForIdle());
  Create("full");
  const uint64_t held_at_first = List().at(0).held_bytes;
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "", "z"));
  Settle();
  EXPECT_GE(List().at(0).held_bytes, 2000u * 200);
  EXPECT_LT(held_at_first, 100u * 200);
  EXPECT_EQ("", Forward(db_.get()));
  const uint64_t before = Counter("pool-bytes-used");
  Drop("full");
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_LT(Counter("pool-bytes-used"), before - 2000 * 200);
}

TEST_F(SavepointTest, ViewOutlivesTheDrop) {
  Open();
  Fill(500, 100);
  Create("s");
  const std::unique_ptr<DB> view = View("s");
  Drop("s");
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "", "z"));
  Settle();
  Fill(2000, 100, 1);
  std::string value;
  for (uint64_t i = 0; i < 500; i++) {
    ASSERT_OK(view->Get(ReadOptions(), FilledKey(i), &value));
    EXPECT_EQ(FilledValue(i, 100, 0), value);
  }
}

TEST_F(SavepointTest, SurvivesAKill) {
  const pid_t child = fork();
  if (child == 0) {
    Open();
    Fill(300, 100);
    Create("s");
    Fill(300, 100, 1);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  ASSERT_TRUE(WIFSIGNALED(status));
  Open();
  CheckFilled(300, 100, 1);
  CheckFilledIn(View("s"), 300, 100, 0);
}

TEST_F(SavepointTest, FewerLevelsThanItHad) {
  options_.num_levels = 6;
  Open();
  Random random(6);
  Model model(BytewiseComparator());
  for (int i = 0; i < 12; i++) {
    WriteSome(&random, 100, &model);
    ASSERT_OK(db_->Flush());
  }
  Create("s");
  const std::string text = Text(model.Snapshot());
  options_.num_levels = 2;
  Open();
  EXPECT_EQ(text, Shows("s"));
  Settle();
  EXPECT_EQ(text, Shows("s"));
}

TEST_F(SavepointTest, OverAnSsdTier) {
  UseSsd();
  Open();
  const uint64_t count = 8 * kMiB / kValueBytes;
  Fill(count, kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_GT(Counter("ssd-files"), 0u);
  Create("s");
  Fill(count, kValueBytes, 1);
  ASSERT_OK(db_->WaitForIdle());
  for (int opened = 0; opened < 2 && !HasFailure(); opened++, Open()) {
    const std::unique_ptr<DB> view = View("s");
    ASSERT_NE(nullptr, view);
    std::string value;
    for (uint64_t i = 0; i < count; i += 7) {
      ASSERT_OK(view->Get(ReadOptions(), FilledKey(i), &value));
      ASSERT_EQ(FilledValue(i, kValueBytes, 0), value);
    }
    CheckFilled(count, kValueBytes, 1);
  }
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "", "z"));
  db_->CompactRange(nullptr, nullptr);
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_EQ(0u, Counter("ssd-files"));
  EXPECT_GT(FilesIn(ssd_, ".sst").size(), 0u);
  Drop("s");
  // A background thread removes them.
  for (int i = 0; i < 2000 && !FilesIn(ssd_, ".sst").empty(); i++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(0u, FilesIn(ssd_, ".sst").size());
}

// A full pool has room again when savepoints are dropped.
TEST_F(SavepointTest, DroppingIsPossibleInAFullPool) {
  options_.pool_size = 4 << 20;
  Open();
  Status s;
  for (uint64_t round = 0; round < 1000 && s.ok(); round++) {
    for (uint64_t i = 0; i < 1000 && s.ok(); i++) {
      s = db_->Put(WriteOptions(), FilledKey(i), FilledValue(i, 200, round));
    }
    if (s.ok()) s = db_->CreateSavepoint(std::to_string(round));
  }
  ASSERT_TRUE(s.IsNoSpace()) << s.ToString();
  const std::vector<SavepointInfo> list = List();
  ASSERT_GT(list.size(), 3u);
  for (size_t i = 0; i < list.size(); i++) {
    EXPECT_EQ(std::to_string(i), list[i].name);
    std::string value;
    ASSERT_OK(View(list[i].name)->Get(ReadOptions(), FilledKey(i), &value));
    EXPECT_EQ(FilledValue(i, 200, i), value);
  }
  uint64_t more = 0;
  do {
    s = db_->Put(WriteOptions(), FilledKey(more), FilledValue(more, 200, more));
  } while (s.ok() && ++more < 20000);
  EXPECT_STATUS(NoSpace, s);
  EXPECT_TRUE(Mentions(s, "savepoints keep some of these, of "));
  for (const SavepointInfo& savepoint : list) Drop(savepoint.name);
  for (uint64_t round = 0; round < 20; round++) Fill(1000, 200, round);
  CheckFilled(1000, 200, 19);
}

// The bytes that a savepoint writes do not depend on the size of the database.
TEST_F(SavepointTest, CostsTheSameHoweverMuchThereIs) {
  Open();
  uint64_t small = 0;
  for (const uint64_t count : {100, 20000}) {
    Fill(count, 100);
    ASSERT_OK(db_->WaitForIdle());
    const uint64_t before = Counter("nvm-bytes-total");
    Create(std::to_string(count));
    const uint64_t written = Counter("nvm-bytes-total") - before;
    if (small == 0) small = written;
    EXPECT_LE(written, small + 64);
    EXPECT_LT(written, 64u * 1024);
  }
}

}  // namespace
}  // namespace miodb::test
