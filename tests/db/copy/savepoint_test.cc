// Savepoints: that each keeps its state through whatever the database does afterwards, through closing and crashes,
// that dropping one gives its space back, and what they cost.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/common/environment.h"
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
  std::string Shows(const std::string& name) {
    const std::unique_ptr<DB> view = View(name);
    if (view == nullptr) return "no view";
    const std::string forward = Forward(view.get());
    EXPECT_EQ(forward, Backward(view.get()));
    return forward;
  }

  // Does what may change tables and chunks: flushes, merges, closing.
  void Stir(Random* random) {
    const bool closes = options_.pool_path != "anonymous";
    switch (random->Uniform(6)) {
      case 0:
        ASSERT_OK(db_->Flush());
        break;
      case 1:
        Settle();
        break;
      case 2:
        if (closes) Open();
        break;
      default:
        break;
    }
  }

  // Makes many savepoints beside writes, drops some, and reads every savepoint.
  void CheckAtRandom(uint64_t seed, int rounds) {
    Random random(seed);
    Model model(BytewiseComparator());
    std::map<std::string, Model::State> made;
    for (int round = 0; round < rounds && !HasFailure(); round++) {
      WriteSome(&random, static_cast<int>(random.Uniform(200)), &model);
      Stir(&random);
      const std::string name = "at" + std::to_string(round);
      Create(name);
      made.emplace(name, model.Snapshot());
      WriteSome(&random, static_cast<int>(random.Uniform(20)), &model);
      Stir(&random);
      if (random.OneIn(2)) {
        const auto victim = std::next(made.begin(), static_cast<std::ptrdiff_t>(random.Uniform(made.size())));
        Drop(victim->first);
        made.erase(victim);
      }
      for (const auto& [kept, state] : made) ASSERT_EQ(Text(state), Shows(kept)) << kept << " in round " << round;
      ASSERT_EQ(Text(model.Snapshot()), Forward(db_.get())) << round;
    }
    for (const auto& [kept, state] : made) Drop(kept);
    EXPECT_TRUE(List().empty());
  }
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

TEST_F(SavepointTest, OfAnEmptyDatabase) {
  Open();
  Create("nothing");
  Put("a", "1");
  EXPECT_EQ("", Shows("nothing"));
  Open();
  EXPECT_EQ("", Shows("nothing"));
  EXPECT_EQ(0u, List().at(0).sequence);
}

TEST_F(SavepointTest, ListsWhatThereIs) {
  Open();
  Put("a", "1");
  Create("one");
  Put("a", "2");
  Create("two");
  const std::vector<SavepointInfo> list = List();
  ASSERT_EQ(2u, list.size());
  EXPECT_EQ("one", list[0].name);
  EXPECT_EQ(1u, list[0].sequence);
  EXPECT_EQ("two", list[1].name);
  EXPECT_EQ(2u, list[1].sequence);
  EXPECT_GE(list[1].micros, list[0].micros);
  EXPECT_GT(list[0].micros, 1600000000ull * 1000 * 1000);
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

TEST_F(SavepointTest, HasFamiliesOfItsTime) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("f", &family));
  ASSERT_OK(db_->Put(WriteOptions(), family, "a", "1"));
  Create("with");
  ASSERT_OK(db_->DropColumnFamily(family));
  ASSERT_OK(db_->CreateColumnFamily("g", &family));
  Settle();
  for (int opened = 0; opened < 2; opened++, Open()) {
    const std::unique_ptr<DB> view = View("with");
    std::vector<std::string> names;
    ASSERT_OK(view->ListColumnFamilies(&names));
    EXPECT_EQ((std::vector<std::string>{"default", "f"}), names);
    ColumnFamilyHandle* seen = nullptr;
    ASSERT_OK(view->GetColumnFamily("f", &seen));
    std::string value;
    ASSERT_OK(view->Get(ReadOptions(), seen, "a", &value));
    EXPECT_EQ("1", value);
    EXPECT_TRUE(view->GetColumnFamily("g", &seen).IsNotFound());
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
  const std::unique_ptr<DB> view = View("s");
  db_.swap(const_cast<std::unique_ptr<DB>&>(view));
  CheckFilled(300, 100, 0);
  db_.swap(const_cast<std::unique_ptr<DB>&>(view));
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

TEST_F(SavepointTest, AtRandomMoments) {
  for (uint64_t seed = 1; seed <= ByScale(3, 10, 60) && !HasFailure(); seed++) {
    SCOPED_TRACE(seed);
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
    Open();
    CheckAtRandom(seed, 25);
  }
}

TEST_F(SavepointTest, WithTheLogOff) {
  options_.log_mode = kLogOff;
  Open();
  CheckAtRandom(7, 20);
}

TEST_F(SavepointTest, WithTheLogInFiles) {
  options_.log_mode = kLogFile;
  Open();
  CheckAtRandom(8, 20);
}

TEST_F(SavepointTest, InFileMode) {
  options_.persist_mode = kPersistFile;
  Open();
  CheckAtRandom(9, 12);
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

TEST_F(SavepointTest, OfAVolatilePoolUntilItIsClosed) {
  options_.pool_path = "anonymous";
  options_.log_mode = kLogOff;
  Open();
  CheckAtRandom(10, 10);
}

// Each writer counts in a key of its own, two keys in each batch; so a view has some prefix of every writer's batches,
// and no half of one.
TEST_F(SavepointTest, BesideWriters) {
  options_.write_buffer_size = 256 * 1024;
  Open();
  constexpr int kWriters = 3;
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  std::vector<std::atomic<uint64_t>> acknowledged(kWriters);
  for (int w = 0; w < kWriters; w++) {
    writers.emplace_back([&, w] {
      for (uint64_t i = 1; !stop.load(); i++) {
        WriteBatch batch;
        batch.Put("a" + std::to_string(w), std::to_string(i));
        batch.Put("b" + std::to_string(w), std::to_string(i) + std::string(w == 0 ? 2000 : 50, '.'));
        if (!db_->Write(WriteOptions(), &batch).ok()) break;
        acknowledged[static_cast<size_t>(w)].store(i);
      }
    });
  }
  std::vector<std::vector<uint64_t>> least;
  for (uint64_t i = 0; i < ByScale(40, 200, 1000) && !HasFailure(); i++) {
    least.emplace_back();
    for (const auto& count : acknowledged) least.back().push_back(count.load());
    Create(std::to_string(i));
    if (i % 8 == 7) ASSERT_OK(db_->Flush());
  }
  stop.store(true);
  for (std::thread& writer : writers) writer.join();
  for (int opened = 0; opened < 2 && !HasFailure(); opened++, Open()) {
    for (size_t i = 0; i < least.size(); i++) {
      const std::unique_ptr<DB> view = View(std::to_string(i));
      ASSERT_NE(nullptr, view);
      for (int w = 0; w < kWriters; w++) {
        std::string a, b;
        const Status s = view->Get(ReadOptions(), "a" + std::to_string(w), &a);
        if (s.IsNotFound()) a = "0";
        if (!view->Get(ReadOptions(), "b" + std::to_string(w), &b).ok()) b = "0";
        EXPECT_EQ(std::stoull(a), std::stoull(b)) << "writer " << w << " at " << i;
        EXPECT_GE(std::stoull(a), least[i][static_cast<size_t>(w)]) << "writer " << w << " at " << i;
      }
    }
  }
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
