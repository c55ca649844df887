// What an open after a crash makes of log chunks: those that were full are taken up by their index, whatever of the
// others was written is sorted, and both are what was written.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "src/db/open/db_impl.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/generator.h"
#include "tests/common/random/option_sets.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"
#include "tests/nvm/pool_files.h"

namespace miodb::test {
namespace {

// A database without threads, and what a crash leaves of it at any moment.
class ReopenTest : public testing::Test {
 protected:
  ReopenTest() : options_(SmallOptions()) {
    options_.log_chunk_size = 16 << 10;
    options_.write_buffer_size = 1 << 20;
    options_.persist_mode = kPersistAuto;
  }

  void Open(const std::string& name) {
    db_.reset();
    const Status s = TryOpen(name);
    ASSERT_OK(s);
  }
  Status TryOpen(const std::string& name) {
    DBImpl::Hooks hooks;
    hooks.background = BackgroundMode::kBySteps;
    return DBImpl::Open(options_, dir_ / name, hooks, &db_);
  }

  // Puts and deletes of keys that come again, and a step of preparing after each, which gives full chunks their index.
  void Write(Random* random, int writes) {
    const KeySpace keys(KeyStyle::kShort, 300, random->Next64());
    for (int i = 0; i < writes; i++) {
      const std::string key = keys.Any(random), value = random->Bytes(random->Uniform(200));
      if (ranges_ && random->OneIn(50)) {
        const std::string end = key + "~";
        ASSERT_OK(db_->DeleteRange(WriteOptions(), key, end));
        model_.erase(model_.lower_bound(key), model_.lower_bound(end));
      } else if (random->OneIn(5)) {
        ASSERT_OK(db_->Delete(WriteOptions(), key));
        model_.erase(key);
      } else {
        ASSERT_OK(db_->Put(WriteOptions(), key, value));
        model_[key] = value;
      }
      db_->RunStep(DBImpl::Step::kPrepare);
    }
  }

  // Copies the files as a crash of the process would leave them now.
  void Crash(const std::string& from, const std::string& to) {
    std::filesystem::create_directory(dir_ / to);
    CopyPoolFile(dir_ / from + "/pool", dir_ / to + "/pool");
    std::filesystem::copy_file(dir_ / from + "/STORE", dir_ / to + "/STORE");
  }

  void CheckAll() {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    for (const auto& [key, value] : model_) {
      ASSERT_TRUE(it->Valid()) << it->status().ToString();
      ASSERT_EQ(key, it->key().ToString());
      ASSERT_EQ(value, it->value().ToString());
      std::string got;
      ASSERT_OK(db_->Get(ReadOptions(), key, &got));
      ASSERT_EQ(value, got);
      it->Next();
    }
    EXPECT_FALSE(it->Valid());
    EXPECT_OK(it->status());
  }

  // "5 of 7 log chunks": those of the last open that were taken up by their index.
  std::string TakenUp(const std::string& name) {
    std::ifstream log(dir_ / name + "/LOG");
    std::string line, found;
    while (std::getline(log, line)) {
      const size_t at = line.find("took up ");
      if (at != std::string::npos) found = line.substr(at + 8, line.find(" by") - at - 8);
    }
    return found;
  }

  TestDir dir_;
  Options options_;
  bool ranges_ = false;  // are deleted now and then
  std::map<std::string, std::string> model_;
  std::unique_ptr<DBImpl> db_;
};

TEST_F(ReopenTest, FullChunksAreTakenUpByTheirIndexAndEverythingIsThere) {
  for (const uint64_t seed : Seeds(ByScale(5, 20, 100))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    const std::string name = "db" + std::to_string(seed), crashed = name + "c", again = name + "cc";
    model_.clear();
    Open(name);
    Write(&random, 1000);
    Crash(name, crashed);
    Open(crashed);
    const std::string taken = TakenUp(crashed);
    const size_t of = taken.find(" of ");
    ASSERT_NE(std::string::npos, of) << taken;
    const int by_index = std::stoi(taken), chunks = std::stoi(taken.substr(of + 4));
    EXPECT_GT(by_index, 3);
    EXPECT_GE(by_index + 2, chunks) << "all but the one that was being written to and perhaps one of other records";
    CheckAll();
    Write(&random, 200);
    CheckAll();
    Crash(crashed, again);  // before anything was flushed
    Open(again);
    CheckAll();
    while (db_->RunStep(DBImpl::Step::kFlush)) continue;
    CheckAll();
    ASSERT_OK(db_->WaitForIdle());
    CheckAll();
  }
}

// A chunk with one has no index; both kinds may follow one another.
TEST_F(ReopenTest, DeletedRangesAreThereAsWell) {
  for (const uint64_t seed : Seeds(ByScale(5, 20, 100))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    const std::string name = "db" + std::to_string(seed);
    model_.clear();
    Open(name);
    Write(&random, 400);
    ranges_ = true;
    Write(&random, 200);
    ranges_ = false;
    Write(&random, 400);
    Crash(name, name + "c");
    Open(name + "c");
    CheckAll();
    while (db_->RunStep(DBImpl::Step::kFlush)) continue;
    CheckAll();
  }
}

// The index lies where the flush frees: not before the last reader has gone.
TEST_F(ReopenTest, AnIteratorFromBeforeTheFlushReadsOnWhateverIsWrittenMeanwhile) {
  options_.pool_size = 2 << 20;  // what is free comes round soon
  options_.write_buffer_size = 64 << 10;
  Random random(1);
  Open("db");
  Write(&random, 500);
  Crash("db", "crashed");
  Open("crashed");
  const std::map<std::string, std::string> before = model_;
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->SeekToFirst();
  auto expected = before.begin();
  for (size_t i = 0; i < before.size() / 2; i++, ++expected, it->Next()) ASSERT_TRUE(it->Valid());
  for (int round = 0; round < 30; round++) {
    Write(&random, 200);
    while (db_->RunStep(DBImpl::Step::kFlush) || db_->RunStep(DBImpl::Step::kMerge)) continue;
  }
  for (; expected != before.end(); ++expected, it->Next()) {
    ASSERT_TRUE(it->Valid()) << it->status().ToString();
    ASSERT_EQ(expected->first, it->key().ToString());
    ASSERT_EQ(expected->second, it->value().ToString());
  }
  EXPECT_FALSE(it->Valid());
  EXPECT_OK(it->status());
}

TEST_F(ReopenTest, ParanoidChecksReadEveryFrame) {
  Random random(1);
  Open("db");
  Write(&random, 600);
  Crash("db", "crashed");
  options_.paranoid_checks = true;
  Open("crashed");
  EXPECT_EQ("0 of", TakenUp("crashed").substr(0, 4));
  CheckAll();
}

TEST_F(ReopenTest, AnOrderOfTheUsersHasNoIndexAndIsSorted) {
  options_.comparator = ReverseComparator();
  Random random(1);
  Open("db");
  Write(&random, 600);
  Crash("db", "crashed");
  Open("crashed");
  EXPECT_EQ("0 of", TakenUp("crashed").substr(0, 4));
  for (const auto& [key, value] : model_) {
    std::string got;
    ASSERT_OK(db_->Get(ReadOptions(), key, &got));
    ASSERT_EQ(value, got);
  }
}

// The open did not look at the record; nothing that is damaged gets into a table all the same.
TEST_F(ReopenTest, DamageInAChunkWithAnIndexIsFoundByItsFlush) {
  Random random(1);
  Open("db");
  ASSERT_OK(db_->Put(WriteOptions(), "first", "the value to be damaged"));
  Write(&random, 600);
  Crash("db", "crashed");
  std::string pool;
  {
    std::ifstream file(dir_ / "crashed/pool", std::ios::binary);
    pool.assign(std::istreambuf_iterator<char>(file), {});
  }
  const size_t at = pool.find("the value to be damaged");
  ASSERT_NE(std::string::npos, at);
  std::fstream(dir_ / "crashed/pool", std::ios::in | std::ios::out | std::ios::binary).seekp(at).put('T');
  Open("crashed");
  ReadOptions verify;
  verify.verify_checksums = true;
  std::string value;
  EXPECT_STATUS(Corruption, db_->Get(verify, "first", &value));
  while (db_->RunStep(DBImpl::Step::kFlush)) continue;
  EXPECT_STATUS(Corruption, db_->Put(WriteOptions(), "key", "value"));  // the log was let go of
  options_.paranoid_checks = true;
  db_.reset();
  EXPECT_STATUS(Corruption, TryOpen("crashed"));  // the log is as it was
}

}  // namespace
}  // namespace miodb::test
