// Loss of power where files are involved: log files, the files of the SSD tier, and pools that are files. The medium of
// the crash explorer is memory; here every call that syncs, makes or removes a name is a crash point, and what is left
// is what LossyFiles says (tests/faults/lossy_files.h).
//
// Databases run without threads. Paths are relative to the working directory, so that an image of the folder is opened
// under the names that it was made with.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "miodb/env.h"
#include "miodb/write_batch.h"
#include "src/db/open/db_impl.h"
#include "src/util/bytes/hash.h"
#include "tests/common/environment.h"
#include "tests/common/random/option_sets.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"
#include "tests/faults/lossy_files.h"

namespace miodb::test {
namespace {

constexpr int kKeys = 40;
constexpr int kMaxDepth = 2;  // a crash of the history, and of what goes on after that one

struct Case {
  const char* name;
  LogMode log_mode;
  bool ssd;
  PersistMode persist_mode;  // kPersistAuto: every store to the pool lasts
  bool is_volatile = false;  // nothing of the pool lasts
};

constexpr Case kCases[] = {
    {"LogFiles", kLogFile, false, kPersistAuto},
    {"LogFilesAndPoolFile", kLogFile, false, kPersistFile},
    {"Ssd", kLogPmem, true, kPersistAuto},
    {"SsdAndLogFiles", kLogFile, true, kPersistAuto},
    {"SsdAndPoolFile", kLogPmem, true, kPersistFile},
    {"SsdAndVolatilePool", kLogFile, true, kPersistAuto, true},
};

// The writes that the database must hold: they are numbered from 1, and any crash leaves the first p of them, low <= p
// <= high.
class Writes {
 public:
  using State = std::map<std::string, std::string>;

  Writes() : states_(1) {}

  WriteBatch Next(Random* random) {
    WriteBatch batch;
    State state = states_.back();
    const uint64_t number = states_.size();
    const auto put = [&](const std::string& key, const std::string& value) {
      batch.Put(key, value);
      state[key] = value;
    };
    const std::string key = "key" + std::to_string(10 + random->Uniform(kKeys));
    if (random->OneIn(5)) {
      batch.Delete(key);
      state.erase(key);
    } else {
      put(key, std::to_string(number) + std::string(random->Uniform(300), 'v'));
    }
    put("number", std::to_string(number));  // the other half of every batch
    states_.push_back(std::move(state));
    return batch;
  }
  void TakeBack() { states_.pop_back(); }

  uint64_t started() const { return states_.size() - 1; }
  const State& At(uint64_t number) const { return states_[number]; }
  // The same up to write number, where another history goes on.
  void CutAfter(uint64_t number) { states_.resize(number + 1); }

 private:
  std::vector<State> states_;
};

struct Range {
  uint64_t low;
  uint64_t high;
};

class PowerLossTest : public testing::TestWithParam<Case> {
 protected:
  PowerLossTest() : start_(std::filesystem::current_path()) {
    options_ = SmallOptions();
    options_.write_buffer_size = 4096;
    options_.log_chunk_size = 4096;
    options_.pool_growth = 64 * 1024;
    options_.pool_size = 1024 * 1024;
    options_.num_levels = 3;
    options_.partition_size = 4096;
    options_.info_log = &logger_;
    options_.log_mode = GetParam().log_mode;
    options_.wal_dir = "logs";
    options_.wal_block_size = 512;
    options_.persist_mode = GetParam().persist_mode;
    if (GetParam().is_volatile) options_.pool_path = "anonymous";
    if (GetParam().ssd) {
      options_.ssd_path = "ssd";
      options_.nvm_budget = 4096;
      options_.ssd_levels = 2;
      options_.ssd_level_size = 8192;
      options_.ssd_level_multiplier = 2;
      options_.ssd_file_size = 2048;
      options_.block_size = 256;
    }
    most_images_ = ByScale(RunsUnderSanitizer() ? 60 : 2000, 10000, 200000);
  }
  ~PowerLossTest() override { std::filesystem::current_path(start_); }

  class NoLog final : public Logger {
   public:
    void Logv(const char*, std::va_list) override {}
  };

  bool pool_is_file() const { return GetParam().persist_mode == kPersistFile; }
  bool Done() const { return HasFailure() || images_ >= most_images_; }
  std::string Folder(int depth) const { return dir_ / std::to_string(depth); }

  Status Open(const Options& options, std::unique_ptr<DBImpl>* db) {
    DBImpl::Hooks hooks;
    hooks.background = BackgroundMode::kBySteps;
    return DBImpl::Open(options, "db", hooks, db);
  }

  // Whether a write that returned OK lasts.
  bool Lasts(bool sync) const { return sync || (!pool_is_file() && options_.log_mode == kLogPmem); }

  void History(uint64_t seed);
  void Reopen();
  void Crash(LossyFiles* files, int depth, const Writes& writes, const Range& range, Random* random);
  void Check(const LossyFiles::Image& image, int depth, const Writes& writes, const Range& range, Random* random);
  void GoOn(LossyFiles* files, DBImpl* db, int depth, Writes writes, uint64_t p, Random* random);
  void ExpectState(DBImpl* db, const Writes::State& state);

  const std::string start_;
  TestDir dir_;
  NoLog logger_;
  Options options_;
  std::unique_ptr<DBImpl> db_;
  Writes writes_;
  uint64_t promised_ = 0;
  uint64_t crash_every_ = 1;  // of the places in a history where a crash may be
  uint64_t images_ = 0;
  uint64_t most_images_ = 0;
  std::unordered_set<uint64_t> seen_;
};

void PowerLossTest::ExpectState(DBImpl* db, const Writes::State& state) {
  std::string value;
  for (int i = 0; i < kKeys; i++) {
    const std::string key = "key" + std::to_string(10 + i);
    const auto wanted = state.find(key);
    const Status s = db->Get(ReadOptions(), key, &value);
    if (wanted == state.end()) {
      EXPECT_TRUE(s.IsNotFound()) << key << ": " << s.ToString();
    } else {
      EXPECT_TRUE(s.ok()) << key << ": " << s.ToString();
      EXPECT_EQ(wanted->second, value) << key;
    }
  }
  Writes::State scanned;
  const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) scanned[it->key().ToString()] = it->value().ToString();
  EXPECT_OK(it->status());
  EXPECT_EQ(state, scanned);
}

// A loss of power now: nothing is left but what must be, and two draws.
void PowerLossTest::Crash(LossyFiles* files, int depth, const Writes& writes, const Range& range, Random* random) {
  if (depth == 0 && !random->OneIn(crash_every_)) return;
  for (int draw = 0; draw < 3 && !Done(); draw++) {
    const LossyFiles::Image image = files->Take(draw == 0 ? nullptr : random);
    if (!seen_.insert(Mix64(image.Hash(), range.low * 1000003 + range.high + (depth << 20))).second) continue;
    images_++;
    const std::filesystem::path here = std::filesystem::current_path();
    Check(image, depth + 1, writes, range, random);
    std::filesystem::current_path(here);
  }
}

void PowerLossTest::Check(const LossyFiles::Image& image, int depth, const Writes& writes, const Range& range,
                          Random* random) {
  image.WriteTo(Folder(depth));
  std::filesystem::current_path(Folder(depth));
  LossyFiles files(Folder(depth), !pool_is_file());
  if (depth < kMaxDepth && random->OneIn(8)) {
    files.set_crash_point([&] { Crash(&files, depth, writes, range, random); });
  }
  Options options = options_;
  // The log mode may change between opens.
  if (random->OneIn(4) && !GetParam().is_volatile) options.log_mode = kLogPmem;
  std::unique_ptr<DBImpl> db;
  const Status s = Open(options, &db);
  files.set_crash_point(nullptr);
  ASSERT_OK(s);
  std::string number;
  const Status found = db->Get(ReadOptions(), "number", &number);
  const uint64_t p = found.ok() ? std::strtoull(number.c_str(), nullptr, 10) : 0;
  ASSERT_TRUE(found.ok() || found.IsNotFound()) << found.ToString();
  ASSERT_GE(p, range.low) << "writes up to " << range.low << " were promised";
  ASSERT_LE(p, range.high);
  ExpectState(db.get(), writes.At(p));
  if (depth < kMaxDepth && random->OneIn(2)) GoOn(&files, db.get(), depth, writes, p, random);
}

// What was read must last, and so must what is written now, behind whatever the crash has left.
void PowerLossTest::GoOn(LossyFiles* files, DBImpl* db, int depth, Writes writes, uint64_t p, Random* random) {
  writes.CutAfter(p);
  Crash(files, depth, writes, {p, p}, random);
  for (int i = 0; i < 3 && !Done(); i++) {
    WriteOptions options;
    options.sync = true;
    WriteBatch batch = writes.Next(random);
    ASSERT_OK(db->Write(options, &batch));
    Crash(files, depth, writes, {writes.started(), writes.started()}, random);
  }
}

void PowerLossTest::Reopen() {
  db_.reset();
  ASSERT_OK(Open(options_, &db_));
}

void PowerLossTest::History(uint64_t seed) {
  SCOPED_TRACE(Repeat(seed));
  Random random(seed);
  options_.wal_padding = random.OneIn(2);
  writes_ = Writes();
  promised_ = 0;
  std::filesystem::create_directories(Folder(0));
  std::filesystem::current_path(Folder(0));
  LossyFiles files(Folder(0), !pool_is_file());
  files.set_crash_point([&] { Crash(&files, 0, writes_, {promised_, writes_.started()}, &random); });
  ASSERT_OK(Open(options_, &db_));
  EXPECT_EQ(GetParam().ssd ? 1u : 0u, files.Take(nullptr).files.count("ssd/POOL")) << "no name of a file before this";
  constexpr uint64_t kSyncEvery[] = {1, 3, 1000};
  const uint64_t sync_every = kSyncEvery[random.Uniform(3)];
  // Where each place is looked at, few images are left for what comes late: files that are full, merges, compactions.
  constexpr uint64_t kCrashEvery[] = {1, 5, 25};
  crash_every_ = kCrashEvery[random.Uniform(3)];
  for (int step = 0; step < 150 && !Done(); step++) {
    SCOPED_TRACE("step " + std::to_string(step));
    const uint64_t dice = random.Uniform(100);
    if (dice < 70) {
      WriteOptions options;
      options.sync = random.OneIn(sync_every);
      WriteBatch batch = writes_.Next(&random);
      const Status s = db_->Write(options, &batch);
      if (s.IsNoSpace()) {
        writes_.TakeBack();
        continue;
      }
      ASSERT_OK(s);
      if (Lasts(options.sync)) promised_ = writes_.started();
    } else if (dice < 75) {
      ASSERT_OK(db_->Flush());
      promised_ = writes_.started();
    } else if (dice < 97) {
      constexpr DBImpl::Step kSteps[] = {DBImpl::Step::kFlush, DBImpl::Step::kMerge, DBImpl::Step::kSsd};
      int most = random.OneIn(3) ? 20 : 1;
      while (most-- > 0 && db_->RunStep(kSteps[random.Uniform(3)])) {
      }
    } else {
      Reopen();
      promised_ = writes_.started();
    }
    Crash(&files, 0, writes_, {promised_, writes_.started()}, &random);
  }
  db_.reset();
  std::filesystem::current_path(start_);
  std::filesystem::remove_all(Folder(0));
}

INSTANTIATE_TEST_SUITE_P(Files, PowerLossTest, testing::ValuesIn(kCases),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(PowerLossTest, LeavesAPrefixOfTheWritesWithAllThatWasSynced) {
  for (uint64_t seed = Seeds(1)[0]; !Done(); seed++) History(seed);
  EXPECT_GE(images_, most_images_);
}

}  // namespace
}  // namespace miodb::test
