// No look and no edit visits more under the mutex of a database, the more data there is. The engine of the simulator
// counts (src/util/check/visits.h), on an ordinary pool here.

#include "src/util/check/visits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/db/open/db_impl.h"
#include "tests/common/environment.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"

namespace miodb::test {
namespace {

constexpr uint64_t kFew = 4000;  // keys

// Jobs of a large repository take parts of it, of eight tables, and look at each up to four times.
constexpr uint64_t kOfAPart = 32;

class VisitsTest : public testing::Test {
 protected:
  // A database as tables and extents see it, with memtables, chunks and partitions of a few records.
  static Options Small() {
    Options options;
    options.create_if_missing = true;
    options.persist_mode = kPersistEmulated;
    options.write_buffer_size = 32 << 10;
    options.log_chunk_size = 4 << 10;
    options.partition_size = 32 << 10;
    options.pool_growth = 4 << 20;
    return options;
  }

  void Open(const Options& options) {
    db_.reset();
    ASSERT_OK(DestroyDB(dir_ / "db", options));
    DBImpl::Hooks hooks;
    hooks.background = BackgroundMode::kBySteps;
    ASSERT_OK(DBImpl::Open(options, dir_ / "db", hooks, &db_));
  }

  // Overwritten keys make garbage, in all extents alike.
  void Put(uint64_t keys, uint64_t from) {
    const std::string value(100, 'v');
    char key[24];
    for (uint64_t i = from; i < from + keys; i++) {
      std::snprintf(key, sizeof(key), "%016" PRIx64, i * 0x9e3779b97f4a7c15);
      ASSERT_OK(db_->Put(WriteOptions(), key, value));
      if (i % 64 == 0) Work();
    }
  }

  void Work() {
    while (db_->RunStep(DBImpl::Step::kFlush) || db_->RunStep(DBImpl::Step::kMerge)) {
    }
    db_->RunStep(DBImpl::Step::kPrepare);
  }

  uint64_t Figure(const std::string& name) {
    std::string text;
    EXPECT_TRUE(db_->GetProperty("miodb." + name, &text));
    return std::stoull(text);
  }

  TestDir dir_;
  std::unique_ptr<DBImpl> db_;
};

struct Deed {
  const char* name;
  std::function<void(uint64_t keys)> does;
};

// Each does a little, or as much as there are keys.
TEST_F(VisitsTest, AsManyOfFewAsOfMany) {
  const std::vector<Deed> deeds = {
      {"filling", [&](uint64_t keys) { Put(keys, 0); }},
      {"settling", [&](uint64_t) { ASSERT_OK(db_->WaitForIdle()); }},
      {"writing", [&](uint64_t keys) { Put(2000, keys / 3); }},
      {"garbage", [&](uint64_t keys) { Put(keys / 2, keys / 4); }},
      {"collecting", [&](uint64_t) { ASSERT_OK(db_->WaitForIdle()); }},
      {"ranges",
       [&](uint64_t keys) {
         for (const char* begin : {"2", "8", "c"}) {
           ASSERT_OK(db_->DeleteRange(WriteOptions(), begin, std::string(begin) + "04"));
           Put(500, keys / 5);
         }
       }},
      {"settling ranges", [&](uint64_t) { ASSERT_OK(db_->WaitForIdle()); }},
      {"figures",
       [&](uint64_t) {
         for (const char* name : {"miodb.counters", "leveldb.stats", "leveldb.sstables", "miodb.prometheus"}) {
           std::string text;
           EXPECT_TRUE(db_->GetProperty(name, &text)) << name;
         }
       }},
  };
  std::map<std::string, uint64_t> few;
  for (const uint64_t keys : {kFew, ByScale(64000, 64000, 256000)}) {
    Open(Small());
    for (const Deed& deed : deeds) {
      SCOPED_TRACE(deed.name);
      Visits::TakeMost();
      deed.does(keys);
      const uint64_t most = Visits::TakeMost();
      std::printf("%7" PRIu64 " keys, %5" PRIu64 " tables, %6" PRIu64 " extents: %s: %" PRIu64 "\n", keys,
                  Figure("tables"), Figure("payload-extents"), deed.name, most);
      if (keys == kFew) few[deed.name] = most;
      EXPECT_LE(most, 2 * std::max(few[deed.name], kOfAPart));
    }
  }
}

}  // namespace
}  // namespace miodb::test
