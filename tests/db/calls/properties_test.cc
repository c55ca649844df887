// The properties of a database, and whether they are true.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "miodb/column_family.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

constexpr const char* kCounters[] = {
    "user-bytes-written",
    "stall-micros",
    "stalls",
    "stall-micros-flush",
    "stall-micros-chunk",
    "stall-micros-space",
    "stall-micros-readers",
    "flush-micros",
    "nvm-bytes-log",
    "nvm-bytes-flush",
    "nvm-bytes-merge",
    "nvm-bytes-lazy-copy",
    "nvm-bytes-evacuation",
    "nvm-bytes-manifest",
    "nvm-bytes-total",
    "nvm-lines-flushed",
    "nvm-fences",
    "pool-bytes-used",
    "pool-bytes-held",
    "pool-bytes-file",
    "pool-bytes-given-back",
    "live-bytes",
    "flushes",
    "merges",
    "merge-record-bytes-read",
    "quiet-merges",
    "quiet-merges-given-up",
    "quiet-bytes-written",
    "range-deletions",
    "range-entries-dropped",
    "range-records-read",
    "range-tables-dropped",
};

class PropertiesTest : public DbTestBase {
 protected:
  void SetUp() override { Open(); }

  // The lines "name: value" of a property.
  std::map<std::string, std::string> Lines(const std::string& property) {
    std::map<std::string, std::string> lines;
    std::istringstream text(Property(property));
    for (std::string line; std::getline(text, line);) {
      const size_t colon = line.find(": ");
      EXPECT_NE(std::string::npos, colon) << property << ": " << line;
      lines[line.substr(0, colon)] = line.substr(colon + 2);
    }
    return lines;
  }
};

TEST_F(PropertiesTest, KeysAreEstimatedFromEntriesAndDeletions) {
  EXPECT_EQ("0", Property("miodb.estimate-num-keys"));
  Fill(1000, 10);
  EXPECT_EQ("1000", Property("miodb.estimate-num-keys"));
  ASSERT_OK(db_->Flush());
  for (uint64_t i = 0; i < 100; i++) Delete(FilledKey(i));
  ASSERT_OK(db_->Flush());
  EXPECT_EQ("900", Property("miodb.estimate-num-keys"));
  Settle();
  EXPECT_EQ("900", Property("miodb.estimate-num-keys"));
  std::string value;
  EXPECT_FALSE(db_->GetProperty("leveldb.estimate-num-keys", &value));
}

TEST_F(PropertiesTest, ThatAreUnknownReturnFalseAndLeaveTheValue) {
  for (const char* name :
       {"", "leveldb", "leveldb.", "miodb.", "miodb.nothing", "leveldb.nothing", "rocksdb.stats", "leveldb.statsX",
        "Leveldb.stats", "leveldb.num-files-at-level", "leveldb.num-files-at-level-1", "leveldb.num-files-at-levelx",
        "leveldb.num-files-at-level0x", "leveldb.num-files-at-level 0", "leveldb.num-files-at-level16",
        "leveldb.num-files-at-level99", "leveldb.num-files-at-level18446744073709551616",
        "leveldb.num-files-at-level99999999999999999999999"}) {
    std::string value = "untouched";
    EXPECT_FALSE(db_->GetProperty(name, &value)) << name;
    EXPECT_EQ("untouched", value) << name;
  }
}

TEST_F(PropertiesTest, ThatAreListedAreThere) {
  Fill(2000, 200);
  Settle();
  for (const char* name : {"leveldb.stats", "leveldb.sstables", "miodb.pool", "miodb.counters"}) {
    EXPECT_NE("", Property(name)) << name;
  }
  EXPECT_EQ("OK", Property("miodb.background-error"));
  const std::string mode = Property("miodb.persist-mode");
  EXPECT_TRUE(mode == "pmem" || mode == "emulated" || mode == "file") << mode;
  EXPECT_GT(NumberProperty(db_.get(), "leveldb.approximate-memory-usage"), 0u);
  for (int level = 0; level < options_.num_levels; level++) TablesAtLevel(level);
}

// Of keys whose bytes are all escaped, and that are cut for people, a line is at its longest.
TEST_F(PropertiesTest, EveryLineAboutATableIsWhole) {
  for (int i = 0; i < 100; i++) Put(std::string(60, '\x01') + std::to_string(i), "value");
  Settle();
  std::istringstream text(Property("leveldb.sstables"));
  int tables = 0;
  for (std::string line; std::getline(text, line);) {
    if (line.rfind("---", 0) == 0) continue;
    tables++;
    EXPECT_TRUE(line.ends_with("...']")) << line;
  }
  EXPECT_GT(tables, 0);
}

TEST_F(PropertiesTest, CountersAreReadableOneByOneAndTogether) {
  Fill(2000, 200);
  Settle();
  std::map<std::string, std::string> all, one_by_one;
  do {  // until nothing is prepared in the meantime
    all = Lines("miodb.counters");
    for (const auto& [name, value] : all) one_by_one[name] = Property("miodb." + name);
  } while (Lines("miodb.counters") != all);
  EXPECT_EQ(all, one_by_one);
  for (const char* name : kCounters) EXPECT_EQ(1u, all.count(name)) << name;
}

TEST_F(PropertiesTest, BytesByPurposeAddUp) {
  Fill(3000, 300);
  Settle();
  uint64_t sum = 0;
  for (const char* purpose : {"log", "flush", "merge", "lazy-copy", "evacuation", "manifest"}) {
    sum += Counter("nvm-bytes-" + std::string(purpose));
  }
  EXPECT_EQ(sum, Counter("nvm-bytes-total"));
  EXPECT_GE(Counter("nvm-lines-flushed") * 64, Counter("nvm-bytes-total"));
}

// In a pool of twice the data, with memtables that fill it: what writers wait for has a reason, all of it.
TEST_F(PropertiesTest, StallsHaveReasons) {
  options_.pool_size = 8 << 20;
  options_.write_buffer_size = 1 << 20;
  Open();
  for (uint64_t round = 0; round < 10; round++) Fill(3000, 1000, round);
  uint64_t sum = 0;
  for (const char* reason : {"flush", "chunk", "space", "readers"}) {
    sum += Counter(std::string("stall-micros-") + reason);
  }
  EXPECT_EQ(Counter("stall-micros"), sum);
  EXPECT_GT(sum, 0u);
  EXPECT_GT(Counter("stalls"), 0u);
  EXPECT_EQ(0u, Counter("stall-micros-readers"));
}

TEST_F(PropertiesTest, CountersFollowTheWork) {
  EXPECT_EQ(0u, Counter("user-bytes-written"));
  constexpr uint64_t kKeys = 3000;
  constexpr uint64_t kPairBytes = 11 + 300;
  Fill(kKeys, 300);
  EXPECT_EQ(kKeys * kPairBytes, Counter("user-bytes-written"));
  EXPECT_GE(Counter("nvm-bytes-log"), kKeys * kPairBytes);
  EXPECT_LE(Counter("nvm-bytes-log"), kKeys * (kPairBytes + 40));
  EXPECT_GE(Counter("nvm-fences"), kKeys);
  Settle();
  EXPECT_GT(Counter("flushes"), 0u);
  EXPECT_GT(Counter("nvm-bytes-flush"), 0u);
  EXPECT_GT(Counter("nvm-bytes-manifest"), 0u);
  EXPECT_GE(Counter("live-bytes"), kKeys * kPairBytes);
  EXPECT_GE(Counter("pool-bytes-used"), Counter("live-bytes"));
  EXPECT_GE(Counter("pool-bytes-file"), Counter("pool-bytes-used"));
}

TEST_F(PropertiesTest, PoolBytesAreThoseOfTheFile) {
  Fill(3000, 1000);
  EXPECT_EQ(std::filesystem::file_size(path_ + "/pool"), Counter("pool-bytes-file"));
  const std::map<std::string, std::string> pool = Lines("miodb.pool");
  bool names_path = false;
  for (const auto& [name, value] : pool) names_path = names_path || value == path_ + "/pool";
  EXPECT_TRUE(names_path);
}

TEST_F(PropertiesTest, TablesAreCountedAtTheirLevels) {
  const int last = options_.num_levels - 1;
  Fill(500, 100);
  ASSERT_OK(db_->Flush());
  uint64_t tables = 0;
  for (int level = 0; level <= last; level++) tables += TablesAtLevel(level);
  EXPECT_GT(tables, 0u);
  Settle();
  for (int level = 0; level < last; level++) EXPECT_EQ(0u, TablesAtLevel(level)) << level;
  EXPECT_GT(TablesAtLevel(last), 0u);
}

TEST_F(PropertiesTest, ApproximateSizesGrowWithTheData) {
  constexpr uint64_t kKeys = 4000;
  const std::string from = FilledKey(0), middle = FilledKey(kKeys / 2), to = FilledKey(kKeys);
  const Range ranges[] = {Range(from, to), Range(from, middle), Range(middle, to), Range("x", "y"), Range(to, from)};
  uint64_t sizes[5];
  db_->GetApproximateSizes(ranges, 5, sizes);
  for (const uint64_t size : sizes) EXPECT_EQ(0u, size);
  Fill(kKeys, 250);
  Settle();
  db_->GetApproximateSizes(ranges, 5, sizes);
  const double all = static_cast<double>(kKeys) * (250 + 11);
  EXPECT_GE(static_cast<double>(sizes[0]), 0.8 * all);
  EXPECT_LE(static_cast<double>(sizes[0]), 1.5 * all);
  EXPECT_NEAR(static_cast<double>(sizes[1]), all / 2, all / 5);
  EXPECT_NEAR(static_cast<double>(sizes[2]), all / 2, all / 5);
  EXPECT_EQ(0u, sizes[3]);
  EXPECT_EQ(0u, sizes[4]);
  db_->GetApproximateSizes(ranges, 0, nullptr);
}

TEST_F(PropertiesTest, MemoryUseGrowsWithTheMemtable) {
  options_.write_buffer_size = 16 * 1024 * 1024;
  Open();
  const uint64_t before = NumberProperty(db_.get(), "leveldb.approximate-memory-usage");
  constexpr uint64_t kKeys = 200000;  // some blocks of memtable memory
  Fill(kKeys, 20);
  EXPECT_GT(NumberProperty(db_.get(), "leveldb.approximate-memory-usage"), before + kKeys * 8);
}

// Estimates of many ranges, and of many column families, take time for the tables of each and not for all tables.
TEST_F(PropertiesTest, AnEstimateReadsOnlyTheTablesWithKeysOfItsRange) {
  options_.nvm_model = "count:4096";
  options_.partition_size = 16 * 1024;
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("family", &family));
  for (int i = 0; i < 10; i++) ASSERT_OK(db_->Put(WriteOptions(), family, std::to_string(i), "value"));
  Fill(20000, 100);
  Settle();
  ASSERT_GT(TablesAtLevel(options_.num_levels - 1), 50u);
  const auto units = [this] { return Counter("modelled-units-read") + Counter("modelled-units-cached"); };
  const std::string start = FilledKey(10000), limit = FilledKey(10010);
  const Range range(start, limit);
  uint64_t bytes = 0;
  uint64_t before = units();
  db_->GetApproximateSizes(&range, 1, &bytes);
  EXPECT_GE(bytes, 10u * 100);
  EXPECT_LT(bytes, 10u * 200);
  EXPECT_LT(units() - before, 200u);
  std::string text;
  before = units();
  EXPECT_TRUE(db_->GetProperty(family, "miodb.estimate-num-keys", &text));
  EXPECT_EQ("10", text);
  EXPECT_LT(units() - before, 200u);
}

}  // namespace
}  // namespace miodb::test
