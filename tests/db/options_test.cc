// Options out of range are refused with the option's name and its range; the ends of each range are taken.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kGiB = kKiB * kKiB * kKiB;

struct Setting {
  std::string name;
  int64_t value;
  std::vector<std::string> told;  // what the message must hold besides the name
  std::function<void(Options*, int64_t)> set;
};

std::ostream& operator<<(std::ostream& out, const Setting& setting) {
  return out << setting.name << " = " << setting.value;
}

// Adds a setting just below and just above a range.
void AddOutside(std::vector<Setting>* all, const std::string& name, int64_t low, int64_t high, int64_t step,
                const std::function<void(Options*, int64_t)>& set) {
  const std::vector<std::string> range = {std::to_string(low), std::to_string(high)};
  all->push_back({name, low - step, range, set});
  all->push_back({name, high + step, range, set});
}

#define SET(member) [](Options* o, int64_t v) { o->member = static_cast<decltype(o->member)>(v); }

std::vector<Setting> OutOfRange() {
  std::vector<Setting> all;
  AddOutside(&all, "write_buffer_size", 4 * kKiB, 64 * kGiB, 1, SET(write_buffer_size));
  AddOutside(&all, "pool_growth", 4 * kKiB, kKiB * kGiB, 4 * kKiB, SET(pool_growth));
  AddOutside(&all, "max_immutable_memtables", 1, 64, 1, SET(max_immutable_memtables));
  AddOutside(&all, "num_levels", 2, 16, 1, SET(num_levels));
  AddOutside(&all, "level_trigger", 2, 64, 1, SET(level_trigger));
  AddOutside(&all, "max_background_merges", 0, 64, 1, SET(max_background_merges));
  AddOutside(&all, "partition_size", 4 * kKiB, 64 * kGiB, 1, SET(partition_size));
  AddOutside(&all, "space_amplification_percent", 105, 1000, 1, SET(space_amplification_percent));
  AddOutside(&all, "filter_bits_per_key", 0, 32, 1, SET(filter_bits_per_key));
  AddOutside(&all, "dram_node", -1, 1023, 1, SET(dram_node));
  AddOutside(&all, "nvm_node", -1, 1023, 1, SET(nvm_node));
  AddOutside(&all, "nvm_next_node", -1, 1023, 1, SET(nvm_next_node));
  const std::string four_kib = std::to_string(4 * kKiB);
  all.push_back({"write_buffer_size", 0, {four_kib}, SET(write_buffer_size)});
  all.push_back({"lazy_copy_limit", kGiB + 1, {std::to_string(kGiB)}, SET(lazy_copy_limit)});
  all.push_back({"log_chunk_size", 4 * kKiB - 1, {four_kib, std::to_string(kGiB)}, SET(log_chunk_size)});
  all.push_back({"log_chunk_size", kGiB + 4 * kKiB, {four_kib, std::to_string(kGiB)}, SET(log_chunk_size)});
  all.push_back({"log_chunk_size", 6 * kKiB, {four_kib}, SET(log_chunk_size)});
  all.push_back({"pool_growth", 6 * kKiB, {four_kib}, SET(pool_growth)});
  all.push_back({"pool_size", 64 * kKiB - 1, {std::to_string(64 * kKiB)}, SET(pool_size)});
  all.push_back({"pool_size", 1, {std::to_string(64 * kKiB)}, SET(pool_size)});
  all.push_back({"persist_mode", -1, {}, SET(persist_mode)});
  all.push_back({"persist_mode", 4, {}, SET(persist_mode)});
  all.push_back({"log_mode", 3, {}, SET(log_mode)});
  for (int64_t size : {0, 128, 255, 1000, 32769, 128 * 1024}) {
    all.push_back({"wal_block_size", size, {"256", "65536"}, SET(wal_block_size)});
  }
  all.push_back({"comparator", 0, {}, [](Options* o, int64_t) { o->comparator = nullptr; }});
  all.push_back({"env", 0, {}, [](Options* o, int64_t) { o->env = nullptr; }});
  return all;
}

// The smallest pool has room only for small memtables.
void SetSmallPool(Options* options, int64_t size) {
  options->pool_size = static_cast<uint64_t>(size);
  options->write_buffer_size = 4 * kKiB;
}

std::vector<Setting> EndsOfRanges() {
  return {
      {"write_buffer_size", 4 * kKiB, {}, SET(write_buffer_size)},
      {"write_buffer_size", 4 * kKiB + 1, {}, SET(write_buffer_size)},
      {"pool_growth", 4 * kKiB, {}, SET(pool_growth)},
      {"pool_size", 64 * kKiB, {}, SetSmallPool},
      {"pool_size", 4 * kKiB * kKiB + 123, {}, SET(pool_size)},
      {"max_immutable_memtables", 1, {}, SET(max_immutable_memtables)},
      {"max_immutable_memtables", 64, {}, SET(max_immutable_memtables)},
      {"num_levels", 2, {}, SET(num_levels)},
      {"num_levels", 16, {}, SET(num_levels)},
      {"level_trigger", 2, {}, SET(level_trigger)},
      {"level_trigger", 64, {}, SET(level_trigger)},
      {"max_background_merges", 64, {}, SET(max_background_merges)},
      {"partition_size", 4 * kKiB, {}, SET(partition_size)},
      {"partition_size", 64 * kGiB, {}, SET(partition_size)},
      {"lazy_copy_limit", 0, {}, SET(lazy_copy_limit)},
      {"lazy_copy_limit", kGiB, {}, SET(lazy_copy_limit)},
      {"log_chunk_size", 4 * kKiB, {}, SET(log_chunk_size)},
      {"space_amplification_percent", 105, {}, SET(space_amplification_percent)},
      {"space_amplification_percent", 1000, {}, SET(space_amplification_percent)},
      {"filter_bits_per_key", 0, {}, SET(filter_bits_per_key)},
      {"filter_bits_per_key", 32, {}, SET(filter_bits_per_key)},
      {"persist_mode", kPersistFile, {}, SET(persist_mode)},
      {"log_mode", kLogOff, {}, SET(log_mode)},
      {"log_mode", kLogFile, {}, SET(log_mode)},
      {"wal_block_size", 256, {}, SET(wal_block_size)},
      {"wal_block_size", 65536, {}, SET(wal_block_size)},
  };
}

class OutOfRangeTest : public DbTestBase, public testing::WithParamInterface<Setting> {};

TEST_P(OutOfRangeTest, IsRefusedWithNameAndRange) {
  GetParam().set(&options_, GetParam().value);
  const Status s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_EQ(nullptr, db_);
  EXPECT_TRUE(Mentions(s, GetParam().name));
  for (const std::string& number : GetParam().told) EXPECT_TRUE(Mentions(s, number));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_P(OutOfRangeTest, IsRefusedForAnExistingDatabaseToo) {
  Open();
  Put("a", "1");
  Close();
  const Options good = options_;
  GetParam().set(&options_, GetParam().value);
  EXPECT_STATUS(InvalidArgument, TryOpen());
  options_ = good;
  Open();
  EXPECT_EQ("1", Get("a"));
}

std::string NameOf(const testing::TestParamInfo<Setting>& info) {
  const std::string value = std::to_string(info.param.value);
  return info.param.name + "_" + (value[0] == '-' ? "minus_" + value.substr(1) : value);
}

INSTANTIATE_TEST_SUITE_P(Options, OutOfRangeTest, testing::ValuesIn(OutOfRange()), NameOf);

class EndOfRangeTest : public DbTestBase, public testing::WithParamInterface<Setting> {};

TEST_P(EndOfRangeTest, Works) {
  GetParam().set(&options_, GetParam().value);
  Open();
  Put("a", "1");
  EXPECT_OK(db_->Flush());
  Put("b", "2");
  Open();
  Settle();
  EXPECT_EQ("(a->1)(b->2)", Forward(db_.get()));
}

INSTANTIATE_TEST_SUITE_P(Options, EndOfRangeTest, testing::ValuesIn(EndsOfRanges()), NameOf);

using OptionsTest = DbTestBase;

TEST_F(OptionsTest, OfSstablesAreAcceptedAndChangeNothing) {
  options_.max_open_files = 1;
  options_.block_size = 1;
  options_.block_restart_interval = 1;
  options_.max_file_size = 1;
  options_.compression = kZstdCompression;
  options_.reuse_logs = true;
  Open();
  Fill(500, 100);
  Settle();
  CheckFilled(500, 100);
}

TEST_F(OptionsTest, InsistingOnPersistentMemoryFailsWithoutIt) {
  options_.persist_mode = kPersistPmem;
  const Status s = TryOpen();
  if (s.ok()) GTEST_SKIP() << "the test directory lies on persistent memory";
  EXPECT_STATUS(NotSupportedError, s);
  EXPECT_TRUE(Mentions(s, "pool"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(OptionsTest, PersistModeIsReported) {
  options_.persist_mode = kPersistEmulated;
  Open();
  EXPECT_EQ("emulated", Property("miodb.persist-mode"));
  options_.persist_mode = kPersistFile;
  Open();
  EXPECT_EQ("file", Property("miodb.persist-mode"));
}

}  // namespace
}  // namespace miodb::test
