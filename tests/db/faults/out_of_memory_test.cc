// Every allocation may fail. Whatever does, nothing is thrown across the API and nothing crashes, the call that could
// not go on says so, and the database is intact when there is memory again.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "miodb/cache.h"
#include "src/db/open/db_impl.h"
#include "src/db/open/db_parts.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/db/faults/failing_memory.h"

namespace miodb {

// Access to the schedulers of a database without threads.
class DBPeer {
 public:
  static void ExpectNothingHeld(DBImpl* db) {
    DbLock lock(db->control_.get());
    EXPECT_EQ(0, db->scheduler_->running());
    EXPECT_FALSE(db->scheduler_->flushing());
    EXPECT_EQ(0, db->ssd_schedule_->running());
    db->scheduler_->Check();
    db->ssd_schedule_->Check();
  }
};

}  // namespace miodb

namespace miodb::test {
namespace {

constexpr uint64_t kKiB = 1024;

class OutOfMemoryTest : public DbTestBase {
 protected:
  OutOfMemoryTest() {
    path_ = dir_ / "database";
    options_.write_buffer_size = 8 * kKiB;
    options_.log_chunk_size = 4 * kKiB;
    options_.pool_growth = 64 * kKiB;
    options_.partition_size = 16 * kKiB;
    options_.num_levels = 3;
  }
  ~OutOfMemoryTest() override { Disarm(); }

  // A call of the API: nothing comes out of it but a status, which is OK or tells what was missing.
  template <typename Call>
  bool Ok(const char* what, Call call) {
    Status s;
    try {
      s = call();
    } catch (const std::exception& error) {
      const Exempt test;
      ADD_FAILURE() << what << " threw " << error.what();
      return false;
    }
    const Exempt test;
    if (s.ok() || s.IsNotFound()) return s.ok();
    EXPECT_STATUS(IOError, s);
    EXPECT_TRUE(Mentions(s, "memory")) << what;
    return false;
  }

  // Notes the values that are possible after a write, acknowledged or not; "" stands for no value.
  void Note(bool ok, const std::string& key, const std::string& value) {
    std::set<std::string>& allowed = allowed_.try_emplace(key, std::set<std::string>{""}).first->second;
    if (ok) allowed.clear();
    allowed.insert(value);
  }

  static std::string Key(int i) {
    return "a key that is longer than what a string holds in itself " + std::to_string(i);
  }

  // Key and value of a step, made with memory.
  void PutNumber(int i, size_t bytes) {
    std::string key, value;
    {
      const Exempt test;
      key = Key(i);
      value = std::to_string(round_) + std::string(bytes * times_larger_, static_cast<char>('a' + i % 26));
    }
    const bool ok = Ok("Put", [&] { return db_->Put(WriteOptions(), key, value); });
    const Exempt test;
    Note(ok, key, value);
  }

  void DeleteNumbers(int first, int last) {
    WriteBatch batch;
    {
      const Exempt test;
      for (int i = first; i <= last; i++) batch.Delete(Key(i));
    }
    const bool ok = Ok("Write", [&] { return db_->Write(WriteOptions(), &batch); });
    const Exempt test;
    for (int i = first; i <= last; i++) Note(ok, Key(i), "");
  }

  void Read() {
    std::string key;
    {
      const Exempt test;
      key = Key(7);
    }
    std::string value;
    PinnableSlice pinned;
    Ok("Get", [&] { return db_->Get(ReadOptions(), key, &value); });
    Ok("Get", [&] { return db_->Get(ReadOptions(), key, &pinned); });
    std::vector<Slice> keys;
    std::vector<std::string> values;
    std::vector<ColumnFamilyHandle*> handles;
    {
      const Exempt test;
      keys = {key, "no such key"};
      handles.assign(keys.size(), db_->DefaultColumnFamily());
    }
    const auto first_of = [](const std::vector<Status>& statuses) {
      return statuses.empty() ? Status::IOError("out of memory") : statuses[0];
    };
    Ok("MultiGet", [&] { return first_of(db_->MultiGet(ReadOptions(), keys, &values)); });
    Ok("MultiGet", [&] { return first_of(db_->MultiGet(ReadOptions(), handles, keys, &values)); });
    const Snapshot* const snapshot = db_->GetSnapshot();
    Iterator* it = nullptr;
    Ok("iterator", [&] {
      it = db_->NewIterator(ReadOptions());
      for (it->SeekToFirst(); it->Valid(); it->Next()) continue;
      if (it->status().ok()) it->SeekToLast();
      for (int i = 0; i < 5 && it->Valid(); i++) it->Prev();
      for (int i = 0; i < 5 && it->Valid(); i++) it->Next();
      if (it->status().ok()) it->Seek(key);
      return it->status();
    });
    delete it;
    db_->ReleaseSnapshot(snapshot);
    const Range range(Slice("a"), Slice("b"));
    uint64_t size;
    db_->GetApproximateSizes(&range, 1, &size);
    db_->GetProperty("leveldb.stats", &value);
    db_->GetProperty("leveldb.sstables", &value);
    const Exempt test;
    value = std::string();
  }

  bool TryOpenHere() {
    DB* opened = nullptr;
    const bool ok = Ok("Open", [&] { return DB::Open(options_, path_, &opened); });
    db_.reset(opened);
    return ok;
  }

  void Scenario() {
    if (!TryOpenHere()) return;
    round_ = 1;
    for (int i = 0; i < 20; i++) PutNumber(i, 300);
    PutNumber(20, 30 * kKiB);  // a chunk of its own
    Ok("Flush", [&] { return db_->Flush(); });
    Read();
    round_ = 2;
    for (int i = 0; i < 20; i++) PutNumber(i, 400);
    DeleteNumbers(5, 12);
    db_->CompactRange(nullptr, nullptr);
    Ok("WaitForIdle", [&] { return db_->WaitForIdle(); });
    Read();
    Close();
    if (!TryOpenHere()) return;
    Read();
    PutNumber(30, 100);
    Close();
  }

  // Everything as promised, with memory.
  void CheckIntact() {
    const Exempt test;
    ASSERT_OK(TryOpen());
    std::string value;
    size_t there = 0;
    for (const auto& [key, allowed] : allowed_) {
      const Status s = db_->Get(ReadOptions(), key, &value);
      ASSERT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
      there += s.ok();
      ASSERT_EQ(1u, allowed.count(s.ok() ? value : "")) << key << " holds " << value.substr(0, 10);
    }
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    size_t scanned = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) scanned++;
    ASSERT_OK(it->status());
    ASSERT_EQ(there, scanned);
  }

  // After a scenario: everything that was acknowledged, or without a log, where a flush that fails loses what it
  // would have kept, nothing that was never written.
  void CheckAfterwards() {
    if (options_.log_mode != kLogOff) return CheckIntact();
    const Exempt test;
    ASSERT_OK(TryOpen());
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) ASSERT_EQ(1u, allowed_.count(it->key().ToString()));
    ASSERT_OK(it->status());
  }

  // The scenario again and again; count allocations in a row fail, later ones each time.
  void Sweep(uint64_t count, uint64_t step) {
    uint64_t runs = 0;
    for (uint64_t at = 1;; at += step) {
      SCOPED_TRACE("allocation " + std::to_string(at) + ", " + std::to_string(count) + " in a row");
      allowed_.clear();
      Arm(at, count);
      Scenario();
      const bool met = Disarm();
      db_.reset();
      if (HasFailure()) return;
      CheckAfterwards();
      if (HasFailure()) return;
      ASSERT_OK(db_->Put(WriteOptions(), "after", "all"));
      ASSERT_OK(db_->WaitForIdle());
      Close();
      ASSERT_OK(DestroyDB(path_, options_));
      ASSERT_FALSE(std::filesystem::exists(path_));
      if (!met) break;
      runs++;
    }
    EXPECT_GT(runs, 300 / step);
    std::printf("%llu allocations failed in turn\n", static_cast<unsigned long long>(runs));
  }

  std::map<std::string, std::set<std::string>> allowed_;
  int round_ = 0;
  size_t times_larger_ = 1;  // than what fills a memtable: values
};

// ---- every mode

void WithSsd(Options* options, const TestDir& dir) {
  options->ssd_path = dir / "ssd";
  options->nvm_budget = 64 * kKiB;
  options->ssd_file_size = 8 * kKiB;
  options->ssd_level_size = 16 * kKiB;
  options->ssd_level_multiplier = 2;
  options->ssd_levels = 3;
  options->block_size = 512;
}

void WithLogFiles(Options* options, const TestDir& dir) {
  options->log_mode = kLogFile;
  options->wal_dir = dir / "logs";
}

struct Mode {
  const char* name;
  void (*set)(Options* options, const TestDir& dir);
  uint64_t quick_step;  // every so many allocations are tried where there is little time
};

const Mode kModes[] = {
    {"Pmem", [](Options*, const TestDir&) {}, 1},
    {"FileMode", [](Options* options, const TestDir&) { options->persist_mode = kPersistFile; }, 7},
    {"LogOff", [](Options* options, const TestDir&) { options->log_mode = kLogOff; }, 1},
    {"LogFiles", WithLogFiles, 7},
    {"Ssd", WithSsd, 31},
    {"VolatileWithSsd",
     [](Options* options, const TestDir& dir) {
       WithSsd(options, dir);
       WithLogFiles(options, dir);
       options->pool_path = "anonymous";
     },
     31},
};

class EveryModeTest : public OutOfMemoryTest, public testing::WithParamInterface<Mode> {
 protected:
  EveryModeTest() {
    options_.persist_mode = kPersistEmulated;
    GetParam().set(&options_, dir_);
    if (!options_.ssd_path.empty()) times_larger_ = 8;  // so that most of it goes down to SSD
  }

  // All of them where there is time, else a sample that is the same each time.
  static uint64_t Step(uint64_t times = 1) {
    const uint64_t quick = GetParam().quick_step * times;
    return RunsUnderSanitizer() ? ByScale(97 * times, 23, 1) : ByScale(quick, 2, 1);
  }

  // The call again and again on a database that is there; one allocation or four in a row fail, later ones each time.
  // It works when there is memory again, and check finds all well.
  template <typename Call, typename Check>
  void SweepCall(const char* what, Call call, Check check) {
    for (const uint64_t count : {1, 4}) {
      for (uint64_t at = 1;; at += Step(5)) {
        SCOPED_TRACE("allocation " + std::to_string(at) + ", " + std::to_string(count) + " in a row");
        allowed_.clear();
        Scenario();
        Arm(at, count);
        const bool ok = Ok(what, call);
        const bool met = Disarm();
        if (!ok) ASSERT_OK(call());
        if (HasFailure()) return;
        SCOPED_TRACE(ok ? "the call said OK" : "the call failed, and was repeated");
        check();
        if (HasFailure()) return;
        Close();
        ASSERT_OK(DestroyDB(path_, options_));
        ASSERT_FALSE(std::filesystem::exists(path_));
        if (!met) break;
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Modes, EveryModeTest, testing::ValuesIn(kModes),
                         [](const auto& param) { return std::string(param.param.name); });

TEST_P(EveryModeTest, OneAllocationThatFailsIsReportedAndHurtsNothing) { Sweep(1, Step()); }

TEST_P(EveryModeTest, FourInARowThatFailAreReportedAndHurtNothing) { Sweep(4, Step(3)); }

TEST_P(EveryModeTest, NoMemoryAnyMoreIsReportedAndHurtsNothing) { Sweep(UINT64_MAX, Step()); }

TEST_P(EveryModeTest, ARepairWithoutMemoryIsReportedAndCanBeRepeated) {
  SweepCall(
      "RepairDB", [this] { return RepairDB(path_, options_); }, [this] { CheckIntact(); });
}

TEST_P(EveryModeTest, DestroyingWithoutMemoryIsReportedAndCanBeRepeated) {
  SweepCall(
      "DestroyDB", [this] { return DestroyDB(path_, options_); },
      [this] { EXPECT_FALSE(std::filesystem::exists(path_)); });
}

// A request that its caller gave up for lack of memory would stand in the way of the next, or be read after its end.
TEST_F(OutOfMemoryTest, ACompactionThatRanOutOfMemoryLeavesNoRequestBehind) {
  WithSsd(&options_, dir_);
  DBImpl::Hooks hooks;
  hooks.background = BackgroundMode::kBySteps;
  for (uint64_t at = 1;; at++) {
    SCOPED_TRACE("allocation " + std::to_string(at));
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(DBImpl::Open(options_, path_, hooks, &db));
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 10; i++) ASSERT_OK(db->Put(WriteOptions(), Key(i), std::string(1000, 'x')));
      for (int i = 0; i < 10; i += 2) ASSERT_OK(db->Delete(WriteOptions(), Key(i)));
      if (round == 0) ASSERT_OK(db->WaitForIdle());
    }
    Arm(at, 1);
    db->CompactRange(nullptr, nullptr);
    const bool met = Disarm();
    alarm(60);  // ends a test that waits for ever
    db->CompactRange(nullptr, nullptr);
    alarm(0);
    std::string value;
    ASSERT_OK(db->Get(ReadOptions(), Key(1), &value));
    ASSERT_TRUE(db->Get(ReadOptions(), Key(2), &value).IsNotFound());
    db.reset();
    ASSERT_OK(DestroyDB(path_, options_));
    if (!met) break;
  }
}

// A job releases everything that it has begun to hold, wherever it runs out of memory. The jobs are due as soon as the
// database is opened with other limits than it was written with.
TEST_F(OutOfMemoryTest, AJobWithoutMemoryHoldsNothing) {
  WithSsd(&options_, dir_);
  DBImpl::Hooks hooks;
  hooks.background = BackgroundMode::kBySteps;
  for (const DBImpl::Step step : {DBImpl::Step::kFlush, DBImpl::Step::kMerge, DBImpl::Step::kSsd}) {
    for (uint64_t at = 1;; at++) {
      SCOPED_TRACE("step " + std::to_string(static_cast<int>(step)) + ", allocation " + std::to_string(at));
      std::unique_ptr<DBImpl> db;
      options_.level_trigger = 8;
      options_.nvm_budget = 8192 * kKiB;
      ASSERT_OK(DBImpl::Open(options_, path_, hooks, &db));
      const int puts = step == DBImpl::Step::kFlush ? 2 : 30;
      for (int i = 0; i < puts; i++) {
        ASSERT_OK(db->Put(WriteOptions(), Key(i), std::string(3000, 'x')));
        while (step != DBImpl::Step::kFlush && db->RunStep(DBImpl::Step::kFlush)) continue;
      }
      if (step == DBImpl::Step::kSsd) {
        ASSERT_OK(db->WaitForIdle());
      }
      db.reset();
      options_.level_trigger = 2;
      options_.nvm_budget = 64 * kKiB;
      ASSERT_OK(DBImpl::Open(options_, path_, hooks, &db));
      Arm(at, 1);
      try {
        db->RunStep(step);
      } catch (const std::bad_alloc&) {  // the thread's to report
      }
      const bool met = Disarm();
      DBPeer::ExpectNothingHeld(db.get());
      db.reset();
      ASSERT_OK(DestroyDB(path_, options_));
      ASSERT_FALSE(HasFailure());
      if (!met) {
        EXPECT_GT(at, 5u);
        break;
      }
    }
  }
}

// A value is either the cache's or still the caller's; what it was to replace is deleted once.
TEST_F(OutOfMemoryTest, AnEntryThatCannotBeInsertedIsNotTheCaches) {
  static int deleted[2];
  const auto deleter = [](const Slice&, void* value) { deleted[*static_cast<int*>(value)]++; };
  int numbers[] = {0, 1};
  uint64_t failed = 0;
  for (uint64_t at = 1;; at++) {
    SCOPED_TRACE("allocation " + std::to_string(at));
    deleted[0] = deleted[1] = 0;
    std::unique_ptr<Cache> cache(NewLRUCache(160));
    const std::string key = Key(1);
    cache->Release(cache->Insert(key, &numbers[0], 1, deleter));
    Arm(at, 1);
    Cache::Handle* handle = nullptr;
    try {
      handle = cache->Insert(key, &numbers[1], 1, deleter);
    } catch (const std::bad_alloc&) {
    }
    const bool met = Disarm();
    if (handle != nullptr) {
      cache->Release(handle);
    } else {
      failed++;
    }
    const bool taken = handle != nullptr;
    cache.reset();
    EXPECT_EQ(1, deleted[0]);
    EXPECT_EQ(taken ? 1 : 0, deleted[1]);
    if (!met) break;
  }
  EXPECT_GT(failed, 1u);
}

// A frame too large for a prepared chunk gets one of its own, which is made without the mutex. Running out of memory
// there must not unwind through a lock that is not held, and it is no reason to be read-only.
TEST_F(OutOfMemoryTest, AChunkThatCannotBeMadeFailsTheWriteAlone) {
  DBImpl::Hooks hooks;
  hooks.background = BackgroundMode::kBySteps;
  uint64_t failed = 0;
  for (uint64_t at = 1;; at++) {
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(DBImpl::Open(options_, path_, hooks, &db));
    const std::string large(20 * kKiB, 'x');
    Arm(at, 1);
    const Status s = db->Put(WriteOptions(), "large", large);
    const bool met = Disarm();
    std::string value;
    if (!s.ok()) {
      failed++;
      EXPECT_STATUS(IOError, s);
      EXPECT_TRUE(Mentions(s, "out of memory"));
    }
    const Status again = db->Put(WriteOptions(), "small", "value");
    EXPECT_TRUE(again.ok() || !s.ok()) << again.ToString();
    db.reset();
    ASSERT_OK(DestroyDB(path_, options_));
    ASSERT_FALSE(HasFailure()) << "allocation " << at;
    if (!met) break;
  }
  EXPECT_GT(failed, 0u);
}

}  // namespace
}  // namespace miodb::test
