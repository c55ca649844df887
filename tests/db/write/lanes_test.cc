// Whole databases with several writers in lanes (db/write/write_lanes.h): what a writer was told is there, whatever the
// others, flushes, merges, snapshots, a full pool, an error or a kill do meanwhile. Meant for ThreadSanitizer as well.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "miodb/trace.h"
#include "miodb/updates.h"
#include "miodb/write_batch.h"
#include "src/db/open/db_impl.h"
#include "src/db/open/db_parts.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb {

class DBPeer {
 public:
  // As if writers had met at every put, so that the next one opens the lanes. REQUIRES: nobody writes.
  static void Meet(DBImpl* db) { db->write_->meetings_ = 1000; }

  static bool LanesAreOpen(DBImpl* db) { return db->write_->lanes_.open(); }

  // Keys and values that were written in lanes.
  static uint64_t LaneBytes(DBImpl* db) {
    uint64_t sum = 0;
    for (const LaneCounter& lane : db->context_->statistics.lane_user_bytes) sum += lane.value();
    return sum;
  }

  static void Fail(DBImpl* db, const Status& error) {
    DbLock lock(db->control_.get());
    db->control_->SetError(error);
  }
};

}  // namespace miodb

namespace miodb::test {
namespace {

constexpr size_t kWriters = 4;
constexpr size_t kKeysEach = 40;
constexpr size_t kManyCpus = 64;  // so lanes are open whatever else runs

// ---- What writers do: an update is a function of its writer and its number

using State = std::map<std::string, std::string>;

// A put, a delete, a batch of three puts, or a put that is too large for lanes.
struct Update {
  std::vector<std::string> keys;
  std::string value;
  bool put = true;
  bool sync = false;

  Update(size_t writer, uint64_t number) {
    Random random(number * kWriters + writer);
    const std::string name(1, static_cast<char>('a' + writer));
    const uint64_t dice = random.Uniform(40);
    put = dice >= 3;
    sync = random.OneIn(3);
    if (dice < 38) {
      keys = {name + std::to_string(random.Uniform(kKeysEach))};
    } else if (dice == 38) {
      keys = {name + "x", name + "y", name + "z"};
    } else {
      keys = {name + "large"};
    }
    if (put) value = std::to_string(number) + std::string(dice < 39 ? random.Uniform(200) : 9000, 'v');
  }

  Status Write(DB* db) const {
    WriteOptions options;
    options.sync = sync;
    if (keys.size() == 1) return put ? db->Put(options, keys[0], value) : db->Delete(options, keys[0]);
    WriteBatch batch;
    for (const std::string& key : keys) batch.Put(key, value);
    return db->Write(options, &batch);
  }

  void ApplyTo(State* state) const {
    for (const std::string& key : keys) {
      if (put) {
        (*state)[key] = value;
      } else {
        state->erase(key);
      }
    }
  }
};

// What each writer has done; in memory that a killed process leaves behind.
struct Progress {
  std::array<std::atomic<uint64_t>, kWriters> begun, told;
};

// The state of a writer's keys after some of its updates, which only goes on.
class Model {
 public:
  void AdvanceTo(size_t writer, uint64_t updates) {
    for (; updates_ < updates; updates_++) Update(writer, updates_).ApplyTo(&state_);
  }

  // Goes on to a number of updates in [told, begun] at which the keys are these. False: there is none.
  bool Reach(size_t writer, uint64_t told, uint64_t begun, const State& seen) {
    AdvanceTo(writer, told);
    while (state_ != seen && updates_ < begun) AdvanceTo(writer, updates_ + 1);
    return state_ == seen;
  }

  uint64_t updates() const { return updates_; }

 private:
  State state_;
  uint64_t updates_ = 0;
};

using Models = std::array<Model, kWriters>;
using States = std::array<State, kWriters>;

// Makes updates up to number `last`, or until an update fails.
void WriteUpTo(uint64_t last, DB* db, size_t writer, Progress* progress) {
  for (uint64_t i = progress->told[writer]; i < last; i++) {
    const Update update(writer, i);
    progress->begun[writer].store(i + 1);
    if (!update.Write(db).ok()) return;
    progress->told[writer].store(i + 1);
  }
}

States Scan(DB* db, const Snapshot* snapshot) {
  ReadOptions options;
  options.snapshot = snapshot;
  States states;
  std::unique_ptr<Iterator> it(db->NewIterator(options));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    states[static_cast<size_t>(it->key()[0] - 'a')][it->key().ToString()] = it->value().ToString();
  }
  EXPECT_OK(it->status());
  return states;
}

class LanesTest : public testing::Test {
 protected:
  LanesTest() : options_(SmallOptions()) { options_.log_chunk_size = 16 << 10; }

  Status TryOpen() {
    db_.reset();
    DBImpl::Hooks hooks;
    hooks.cpus = kManyCpus;
    Status s = DBImpl::Open(options_, dir_ / "db", hooks, &db_);
    if (s.ok()) DBPeer::Meet(db_.get());
    return s;
  }
  void Open() { ASSERT_OK(TryOpen()); }

  // The second of these is in a lane, if the database has lanes.
  void PutTwo() {
    ASSERT_OK(db_->Put(WriteOptions(), "a0", "1"));
    ASSERT_OK(db_->Put(WriteOptions(), "a1", "2"));
  }

  std::string Get(const std::string& key) {
    std::string value;
    const Status s = db_->Get(ReadOptions(), key, &value);
    return s.ok() ? value : s.ToString();
  }

  // Of each writer exactly what it was told is there, and perhaps the update under way.
  void ExpectPrefixes(const Progress& progress, Models* models) {
    const States seen = Scan(db_.get(), nullptr);
    for (size_t w = 0; w < kWriters; w++) {
      ASSERT_TRUE((*models)[w].Reach(w, progress.told[w], progress.begun[w], seen[w])) << "writer " << w;
    }
  }

  // Each writes so many updates, and then runs no more.
  std::vector<std::thread> StartWriters(uint64_t each, Progress* progress, std::atomic<size_t>* running) {
    std::vector<std::thread> writers;
    for (size_t w = 0; w < kWriters; w++) {
      writers.emplace_back([this, each, w, progress, running] {
        WriteUpTo(each, db_.get(), w, progress);
        (*running)--;
      });
    }
    return writers;
  }

  TestDir dir_;
  Options options_;
  std::unique_ptr<DBImpl> db_;
};

TEST_F(LanesTest, EverySnapshotHasOfEachWriterAPrefixBesideFlushesAndMerges) {
  Open();
  const uint64_t each = ByScale(RunsUnderSanitizer() ? 2000 : 6000, 20000, 400000);
  Progress progress{};
  std::atomic<size_t> running{kWriters};
  std::vector<std::thread> writers = StartWriters(each, &progress, &running);
  Models models;
  while (running > 0 && !HasFatalFailure()) {
    std::array<uint64_t, kWriters> told, begun;
    for (size_t w = 0; w < kWriters; w++) told[w] = progress.told[w];
    const Snapshot* const snapshot = db_->GetSnapshot();
    for (size_t w = 0; w < kWriters; w++) begun[w] = progress.begun[w];
    const States seen = Scan(db_.get(), snapshot);
    EXPECT_EQ(seen, Scan(db_.get(), snapshot));
    db_->ReleaseSnapshot(snapshot);
    for (size_t w = 0; w < kWriters; w++) {
      EXPECT_TRUE(models[w].Reach(w, told[w], begun[w], seen[w])) << "writer " << w;
    }
    if (HasFailure()) break;
  }
  for (std::thread& writer : writers) writer.join();
  for (size_t w = 0; w < kWriters; w++) EXPECT_EQ(each, progress.told[w]);
  EXPECT_GT(DBPeer::LaneBytes(db_.get()), 0u);
  uint64_t bytes = 0;
  for (size_t w = 0; w < kWriters; w++) {
    for (uint64_t i = 0; i < each; i++) {
      const Update update(w, i);
      for (const std::string& key : update.keys) bytes += key.size() + update.value.size();
    }
  }
  EXPECT_EQ(bytes, NumberProperty(db_.get(), "miodb.user-bytes-written"));
  ExpectPrefixes(progress, &models);
  Open();
  ExpectPrefixes(progress, &models);
}

// Applies updates to the states of writers.
class Follower : public WriteBatch::Handler {
 public:
  void Put(const Slice& key, const Slice& value) override { Of(key)[key.ToString()] = value.ToString(); }
  void Delete(const Slice& key) override { Of(key).erase(key.ToString()); }

  States states;

 private:
  State& Of(const Slice& key) { return states[static_cast<size_t>(key[0] - 'a')]; }
};

TEST_F(LanesTest, AFollowerGetsEveryWriteOnceAndInOrder) {
  options_.keep_log_bytes = uint64_t{1} << 30;
  Open();
  const uint64_t each = ByScale(RunsUnderSanitizer() ? 2000 : 6000, 20000, 400000);
  Progress progress{};
  std::atomic<size_t> running{kWriters};
  std::vector<std::thread> writers = StartWriters(each, &progress, &running);
  Models models;
  Follower follower;
  std::unique_ptr<UpdateIterator> updates;
  EXPECT_OK(db_->GetUpdatesSince(1, &updates));
  uint64_t last = 0;
  for (bool over = false; !over && !HasFailure(); updates->Next()) {
    over = running == 0 && last == db_->GetLatestSequenceNumber();
    for (; updates->Valid(); updates->Next()) {
      EXPECT_EQ(last + 1, updates->sequence());
      last = updates->last_sequence();
      EXPECT_OK(updates->batch()->Iterate(&follower));
    }
    EXPECT_OK(updates->status());
    for (size_t w = 0; w < kWriters; w++) {
      EXPECT_TRUE(models[w].Reach(w, models[w].updates(), progress.begun[w], follower.states[w])) << "writer " << w;
    }
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_GT(DBPeer::LaneBytes(db_.get()), 0u);
  EXPECT_EQ(last, db_->GetLatestSequenceNumber());
  EXPECT_EQ(follower.states, Scan(db_.get(), nullptr));
}

// Writes by several threads until it is killed.
[[noreturn]] void WriteUntilKilled(const Options& options, const std::string& path, Progress* progress) {
  DBImpl::Hooks hooks;
  hooks.cpus = kManyCpus;
  std::unique_ptr<DBImpl> db;
  if (!DBImpl::Open(options, path, hooks, &db).ok()) _exit(1);
  DBPeer::Meet(db.get());
  std::vector<std::thread> writers;
  for (size_t w = 0; w < kWriters; w++) {
    writers.emplace_back([&, w] { WriteUpTo(UINT64_MAX, db.get(), w, progress); });
  }
  for (std::thread& writer : writers) writer.join();
  _exit(2);  // no write may fail
}

TEST_F(LanesTest, AKilledProcessLosesNothingThatAWriterWasTold) {
  options_.paranoid_checks = true;
  void* const shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, shared);
  Progress* const progress = new (shared) Progress{};
  const auto told = [&] {
    uint64_t sum = 0;
    for (const auto& updates : progress->told) sum += updates;
    return sum;
  };
  Random random(11);
  Models models;
  for (uint64_t round = 0; round < ByScale(RunsUnderSanitizer() ? 3 : 12, 60, 1000); round++) {
    SCOPED_TRACE("round " + std::to_string(round));
    const uint64_t last = told() + 1 + random.Uniform(4000);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) WriteUntilKilled(options_, dir_ / "db", progress);
    int status = 0;
    while (told() < last && waitpid(child, &status, WNOHANG) == 0) usleep(100);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the writers ended by themselves: " << status;
    Open();
    ExpectPrefixes(*progress, &models);
    if (HasFatalFailure()) break;
    for (size_t w = 0; w < kWriters; w++) progress->told[w] = progress->begun[w] = models[w].updates();
    db_.reset();
  }
  munmap(shared, sizeof(Progress));
}

TEST_F(LanesTest, AFullPoolRefusesWritesAndLosesNone) {
  options_.log_chunk_size = 4096;
  options_.write_buffer_size = 32 << 10;
  options_.pool_size = 1 << 20;
  Open();
  const std::string value(400, 'v');
  const auto key_of = [](size_t writer, uint64_t i) { return std::to_string(writer) + "." + std::to_string(i); };
  std::array<uint64_t, kWriters> written{};
  std::vector<std::thread> writers;
  for (size_t w = 0; w < kWriters; w++) {
    writers.emplace_back([&, w] {
      Status s;
      for (; s.ok(); written[w] += s.ok() ? 1 : 0) s = db_->Put(WriteOptions(), key_of(w, written[w]), value);
      EXPECT_STATUS(NoSpace, s);
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_GT(DBPeer::LaneBytes(db_.get()), 0u);
  for (int reopened = 0; reopened < 2; reopened++) {
    for (size_t w = 0; w < kWriters; w++) {
      EXPECT_LT(0u, written[w]);
      for (uint64_t i = 0; i < written[w]; i++) ASSERT_EQ(value, Get(key_of(w, i)));
      EXPECT_EQ("NotFound: ", Get(key_of(w, written[w])));
    }
    Open();
  }
  for (size_t w = 0; w < kWriters; w++) {
    for (uint64_t i = 0; i < written[w]; i++) ASSERT_OK(db_->Delete(WriteOptions(), key_of(w, i)));
  }
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_OK(db_->Put(WriteOptions(), "after", value));
}

// The flush comes by the queue, whose leader closes the lanes; so does the close of the database, which leaves the
// memtable to its log.
TEST_F(LanesTest, AFlushAndACloseFindWhatIsInLanes) {
  Open();
  PutTwo();
  EXPECT_TRUE(DBPeer::LanesAreOpen(db_.get()));
  EXPECT_LT(0u, DBPeer::LaneBytes(db_.get()));
  ASSERT_OK(db_->Flush());
  EXPECT_EQ("1", Get("a0"));
  EXPECT_EQ("2", Get("a1"));
  DBPeer::Meet(db_.get());
  ASSERT_OK(db_->Put(WriteOptions(), "a2", "3"));
  ASSERT_OK(db_->Put(WriteOptions(), "a3", "4"));
  EXPECT_TRUE(DBPeer::LanesAreOpen(db_.get()));
  Open();
  EXPECT_EQ("2", Get("a1"));
  EXPECT_EQ("3", Get("a2"));
  EXPECT_EQ("4", Get("a3"));
}

TEST_F(LanesTest, AnErrorEndsAllWritesAlsoWhereLanesAreOpen) {
  Open();
  Progress progress{};
  std::vector<std::thread> writers;
  for (size_t w = 0; w < kWriters; w++) {
    writers.emplace_back([&, w] { WriteUpTo(UINT64_MAX, db_.get(), w, &progress); });
  }
  while (DBPeer::LaneBytes(db_.get()) == 0) std::this_thread::yield();
  DBPeer::Fail(db_.get(), Status::IOError("planted"));
  for (std::thread& writer : writers) writer.join();
  EXPECT_STATUS(IOError, db_->Put(WriteOptions(), "a0", "3"));
  Models models;
  ExpectPrefixes(progress, &models);
  Open();
  ExpectPrefixes(progress, &models);
}

// Of each writer the trace has a row of updates without a gap, from one that it made after the trace began, if not
// before it returned, to the last one that it was told of before the trace ended.
TEST_F(LanesTest, ATraceInTheOrderOfWritesHasAllThatLanesTookMeanwhile) {
  Open();
  constexpr uint64_t kTraced = 500;
  std::atomic<bool> stop{false};
  std::array<std::atomic<uint64_t>, kWriters> told{};
  std::vector<std::thread> writers;
  for (size_t w = 0; w < kWriters; w++) {
    writers.emplace_back([&, w] {
      const std::string key = std::to_string(w);
      for (uint64_t i = 0; !stop && db_->Put(WriteOptions(), key, std::to_string(i)).ok(); i++) told[w] = i;
    });
  }
  const auto wait_for_more = [&] {
    const uint64_t before = told[0];
    while (told[0] < before + kTraced) std::this_thread::yield();
  };
  while (DBPeer::LaneBytes(db_.get()) == 0) std::this_thread::yield();
  std::unique_ptr<TraceWriter> writer;
  ASSERT_OK(NewFileTraceWriter(dir_ / "trace", &writer));
  TraceOptions options;
  options.preserve_write_order = true;
  ASSERT_OK(db_->StartTrace(options, std::move(writer)));
  std::array<uint64_t, kWriters> first{}, last{};
  for (size_t w = 0; w < kWriters; w++) first[w] = told[w] + 2;  // begun after the trace was
  wait_for_more();
  for (size_t w = 0; w < kWriters; w++) last[w] = told[w];
  ASSERT_OK(db_->EndTrace());
  stop = true;
  for (std::thread& each : writers) each.join();
  std::unique_ptr<TraceReader> reader;
  ASSERT_OK(TraceReader::Open(dir_ / "trace", &reader));
  std::array<std::vector<uint64_t>, kWriters> traced;
  for (TraceRecord record; reader->Next(&record);) {
    TraceUpdate update;
    for (TraceUpdates updates(record.batch); updates.Next(&update);) {
      traced[std::stoul(update.key.ToString())].push_back(std::stoul(update.value.ToString()));
    }
  }
  ASSERT_OK(reader->status());
  for (size_t w = 0; w < kWriters; w++) {
    for (size_t i = 1; i < traced[w].size(); i++) ASSERT_EQ(traced[w][i - 1] + 1, traced[w][i]);
    if (last[w] < first[w]) continue;
    ASSERT_FALSE(traced[w].empty());
    EXPECT_LE(traced[w].front(), first[w]);
    EXPECT_GE(traced[w].back(), last[w]);
  }
}

// Where writers share what is slow, a sync, or nothing is fenced, they write as groups.
TEST_F(LanesTest, LanesStayClosedWhereThereIsNoFenceToShareOut) {
  const auto expect_none = [&](const char* what, LogMode log_mode, PersistMode persist_mode, const char* pool) {
    SCOPED_TRACE(what);
    options_ = SmallOptions();
    options_.log_mode = log_mode;
    options_.persist_mode = persist_mode;
    options_.pool_path = pool;
    if (log_mode == kLogFile) options_.wal_dir = (dir_ / what) + ".logs";
    if (log_mode == kLogFile && *pool != '\0') options_.ssd_path = (dir_ / what) + ".ssd";
    DBImpl::Hooks hooks;
    hooks.cpus = kManyCpus;
    ASSERT_OK(DBImpl::Open(options_, dir_ / what, hooks, &db_));
    DBPeer::Meet(db_.get());
    for (int i = 0; i < 100; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), "a" + std::to_string(i), "1"));
      ASSERT_FALSE(DBPeer::LanesAreOpen(db_.get()));
    }
    EXPECT_EQ(0u, DBPeer::LaneBytes(db_.get()));
    EXPECT_EQ("1", Get("a99"));
    db_.reset();
  };
  expect_none("off", kLogOff, kPersistAuto, "");
  expect_none("files", kLogFile, kPersistAuto, "");
  expect_none("file", kLogPmem, kPersistFile, "");
  expect_none("volatile", kLogOff, kPersistAuto, "anonymous");
  expect_none("volatile_with_ssd", kLogFile, kPersistAuto, "anonymous");
}

}  // namespace
}  // namespace miodb::test
