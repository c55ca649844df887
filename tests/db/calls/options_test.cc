// Options out of range are refused with the option's name and its range; the ends of each range of the table work.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <ostream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "miodb/option_table.h"
#include "tests/common/db_test_base.h"
#include "tests/common/paths.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kGiB = kKiB * kKiB * kKiB;

struct Setting {
  std::string name;
  int64_t value;
  std::vector<std::string> told;  // what the message must hold besides the name
  std::function<void(Options*, int64_t)> set;
  bool of_ssd = false;  // checked only with an SSD tier
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

// The same for the options of the SSD tier.
void AddOutsideOfSsd(std::vector<Setting>* all, const std::string& name, int64_t low, int64_t high,
                     const std::function<void(Options*, int64_t)>& set) {
  AddOutside(all, name, low, high, 1, set);
  for (size_t i = all->size() - 2; i < all->size(); i++) (*all)[i].of_ssd = true;
}

void SetChunkOfSmallPool(Options* options, int64_t size) {
  options->pool_size = 256 * kKiB;
  options->log_chunk_size = static_cast<size_t>(size);
}

void SetRegionLimit(Options* options, int64_t limit) {
  options->nvm_regions.resize(1);
  options->nvm_regions[0].path = "region";
  options->nvm_regions[0].limit = static_cast<uint64_t>(limit);
}

std::vector<Setting> OutOfRangeOfSsd() {
  std::vector<Setting> all;
  AddOutsideOfSsd(&all, "max_open_files", 16, 10 * 1000 * 1000, SET(max_open_files));
  AddOutsideOfSsd(&all, "block_size", 64, 64 * kKiB * kKiB, SET(block_size));
  AddOutsideOfSsd(&all, "block_restart_interval", 1, 65536, SET(block_restart_interval));
  AddOutsideOfSsd(&all, "compression", 0, 2, SET(compression));
  AddOutsideOfSsd(&all, "zstd_compression_level", -131072, 22, SET(zstd_compression_level));
  AddOutsideOfSsd(&all, "ssd_levels", 1, 8, SET(ssd_levels));
  AddOutsideOfSsd(&all, "ssd_level_size", 4 * kKiB, kGiB * kGiB, SET(ssd_level_size));
  AddOutsideOfSsd(&all, "ssd_level_multiplier", 2, 100, SET(ssd_level_multiplier));
  AddOutsideOfSsd(&all, "ssd_file_size", kKiB, 4 * kGiB, SET(ssd_file_size));
  AddOutsideOfSsd(&all, "max_background_ssd_jobs", 1, 64, SET(max_background_ssd_jobs));
  AddOutsideOfSsd(&all, "multi_get_threads", 0, 64, SET(multi_get_threads));
  const int64_t most = 64 * kKiB * kKiB;
  all.push_back({"compaction_readahead_size", most + 1, {std::to_string(most)}, SET(compaction_readahead_size), true});
  all.push_back({"compaction_readahead_size", -1, {std::to_string(most)}, SET(compaction_readahead_size), true});
  all.push_back({"nvm_budget", 64 * kKiB - 1, {std::to_string(64 * kKiB)}, SET(nvm_budget), true});
  return all;
}

std::vector<Setting> OutOfRange() {
  std::vector<Setting> all = OutOfRangeOfSsd();
  AddOutside(&all, "write_buffer_size", 4 * kKiB, 64 * kGiB, 1, SET(write_buffer_size));
  AddOutside(&all, "pool_growth", 4 * kKiB, kKiB * kGiB, 4 * kKiB, SET(pool_growth));
  AddOutside(&all, "max_immutable_memtables", 1, 64, 1, SET(max_immutable_memtables));
  AddOutside(&all, "num_levels", 2, 16, 1, SET(num_levels));
  AddOutside(&all, "lifetime_seconds", 0, 10000000000, 1, SET(lifetime_seconds));
  AddOutside(&all, "level_trigger", 2, 64, 1, SET(level_trigger));
  AddOutside(&all, "max_background_merges", 0, 64, 1, SET(max_background_merges));
  AddOutside(&all, "settle_after_idle_ms", 0, 1000 * 1000 * 1000, 1, SET(settle_after_idle_ms));
  AddOutside(&all, "partition_size", 4 * kKiB, 64 * kGiB, 1, SET(partition_size));
  AddOutside(&all, "space_amplification_percent", 105, 1000, 1, SET(space_amplification_percent));
  AddOutside(&all, "filter_bits_per_key", 0, 32, 1, SET(filter_bits_per_key));
  AddOutside(&all, "record_cache_size", 16 * kKiB, kKiB * kGiB, 1, SET(record_cache_size));
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
  all.push_back({"pool_size", 128 * kKiB - 1, {std::to_string(128 * kKiB)}, SET(pool_size)});
  all.push_back({"pool_size", 1, {std::to_string(128 * kKiB)}, SET(pool_size)});
  all.push_back({"log_chunk_size", 12 * kKiB, {"32nd of pool_size", std::to_string(256 * kKiB)}, SetChunkOfSmallPool});
  // What arithmetic on it could not hold: -1 is the largest number of all.
  const std::string most_pool = std::to_string(int64_t{1} << 47);
  for (int64_t size : {(int64_t{1} << 47) + 1, INT64_MAX, int64_t{-1}}) {
    all.push_back({"pool_size", size, {most_pool}, SET(pool_size)});
    all.push_back({"nvm_regions", size, {most_pool}, SetRegionLimit});
  }
  all.push_back({"nvm_regions", 64 * kKiB - 1, {std::to_string(64 * kKiB)}, SetRegionLimit});
  for (int64_t mib : {int64_t{1} << 44, int64_t{-1}}) {
    all.push_back({"wal_size_limit_mb", mib, {std::to_string((int64_t{1} << 44) - 1)}, SET(wal_size_limit_mb)});
  }
  all.push_back({"write_buffer_size", -1, {std::to_string(64 * kGiB)}, SET(write_buffer_size)});
  all.push_back({"partition_size", -1, {std::to_string(64 * kGiB)}, SET(partition_size)});
  all.push_back({"lazy_copy_limit", -1, {std::to_string(kGiB)}, SET(lazy_copy_limit)});
  all.push_back({"log_chunk_size", -1, {std::to_string(kGiB)}, SET(log_chunk_size)});
  all.push_back({"persist_mode", -1, {}, SET(persist_mode)});
  all.push_back({"persist_mode", 4, {}, SET(persist_mode)});
  all.push_back({"file_access", -1, {"0", "2"}, SET(file_access)});
  all.push_back({"file_access", 3, {"0", "2"}, SET(file_access)});
  all.push_back({"log_mode", 3, {}, SET(log_mode)});
  all.push_back({"info_log_level", -1, {}, SET(info_log_level)});
  all.push_back({"info_log_level", 4, {}, SET(info_log_level)});
  all.push_back({"keep_log_file_num", 0, {"1", "1000"}, SET(keep_log_file_num)});
  all.push_back({"keep_log_file_num", 1001, {"1", "1000"}, SET(keep_log_file_num)});
  for (int64_t size : {0, 128, 255, 1000, 32769, 128 * 1024}) {
    all.push_back({"wal_block_size", size, {"256", "65536"}, SET(wal_block_size)});
  }
  all.push_back({"comparator", 0, {}, [](Options* o, int64_t) { o->comparator = nullptr; }});
  all.push_back({"env", 0, {}, [](Options* o, int64_t) { o->env = nullptr; }});
  return all;
}

// An option of the table, with the text of an end of its range.
struct End {
  std::string name;
  std::string text;
  OptionNeeds needs;
};

std::ostream& operator<<(std::ostream& out, const End& end) { return out << end.name << " = " << end.text; }

// No machine here has node 1023, and files of this size have no room on a usual medium.
bool IsBeyondTheMachine(const std::string& name) {
  static const std::set<std::string> names = {"pool_size", "log_chunk_size", "write_buffer_size",
                                              "dram_node", "nvm_node",       "nvm_next_node"};
  return names.count(name) > 0;
}

std::vector<End> EndsOfRanges() {
  std::vector<End> ends;
  const std::regex range("(-?\\d+) to (\\d+)");
  for (const OptionInfo& option : AllOptions()) {
    std::smatch numbers;
    if (option.kind != OptionKind::kNumber || !std::regex_search(option.allowed, numbers, range)) continue;
    ends.push_back({option.name, numbers[1], option.needs});
    if (!IsBeyondTheMachine(option.name)) ends.push_back({option.name, numbers[2], option.needs});
    if (option.allowed.starts_with("0, or ")) ends.push_back({option.name, "0", option.needs});
  }
  for (const char* access : {"owner", "group_writes"}) ends.push_back({"file_access", access, OptionNeeds::kNothing});
  for (const char* mode : {"off", "file"}) ends.push_back({"log_mode", mode, OptionNeeds::kNothing});
  for (const char* level : {"info", "none"}) ends.push_back({"info_log_level", level, OptionNeeds::kNothing});
  ends.push_back({"persist_mode", "file", OptionNeeds::kNothing});
  return ends;
}

class OutOfRangeTest : public DbTestBase, public testing::WithParamInterface<Setting> {};

TEST_P(OutOfRangeTest, IsRefusedWithNameAndRange) {
  if (GetParam().of_ssd) options_.ssd_path = dir_ / "ssd";
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
  if (GetParam().of_ssd) options_.ssd_path = dir_ / "ssd";
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

class EndOfRangeTest : public DbTestBase, public testing::WithParamInterface<End> {};

TEST_P(EndOfRangeTest, Works) {
  if (GetParam().needs == OptionNeeds::kSsdTier) options_.ssd_path = dir_ / "ssd";
  if (GetParam().needs == OptionNeeds::kLogInFiles) options_.log_mode = kLogFile;
  if (GetParam().name == "pool_size") options_.write_buffer_size = 4 * kKiB;  // the smallest pool has room for no more
  ASSERT_OK(SetOption(&options_, GetParam().name, GetParam().text));
  Open();
  Put("a", "1");
  EXPECT_OK(db_->Flush());
  Put("b", "2");
  Open();
  Settle();
  EXPECT_EQ("(a->1)(b->2)", Forward(db_.get()));
}

std::string NameOfEnd(const testing::TestParamInfo<End>& info) {
  const std::string& text = info.param.text;
  return info.param.name + "_" + (text[0] == '-' ? "minus_" + text.substr(1) : text);
}

INSTANTIATE_TEST_SUITE_P(Options, EndOfRangeTest, testing::ValuesIn(EndsOfRanges()), NameOfEnd);

// The members that options.h declares.
std::set<std::string> DeclaredOptions() {
  std::ifstream header(SourceDir() + "/include/miodb/options.h");
  const std::regex member("  [A-Za-z][\\w:<>* ]*[ *](\\w+)( = [^;]*)?;");
  std::set<std::string> names;
  bool inside = false;
  std::smatch match;
  for (std::string line; std::getline(header, line);) {
    if (line.rfind("struct MIODB_EXPORT Options {", 0) == 0) inside = true;
    if (line.rfind("};", 0) == 0) inside = false;
    if (inside && std::regex_match(line, match, member)) names.insert(match[1]);
  }
  return names;
}

TEST(OptionTableTest, EveryOptionIsInTheTableOrAnObject) {
  std::set<std::string> known = {"comparator",       "env",
                                 "info_log",         "block_cache",
                                 "filter_policy",    "merge_operator",
                                 "lifetime_policy",  "compaction_filter",
                                 "shared_resources", "listeners"};
  for (const OptionInfo& option : AllOptions()) EXPECT_TRUE(known.insert(option.name).second) << option.name;
  EXPECT_EQ(DeclaredOptions(), known);
}

using OptionsTest = DbTestBase;

// The address space of a process may be smaller than what references reach.
TEST_F(OptionsTest, TheLargestPoolSizeIsTakenOrHasNoAddresses) {
  options_.pool_size = uint64_t{1} << 47;
  const Status s = TryOpen();
  if (!s.ok()) EXPECT_STATUS(IOError, s);
}

TEST_F(OptionsTest, AnyReadaheadOfIteratorsWorks) {
  options_.ssd_path = dir_ / "ssd";
  options_.nvm_budget = 64 * kKiB;
  options_.block_size = 512;
  Open();
  Fill(2000, 100);
  Settle();
  ASSERT_GT(Counter("ssd-files"), 0u);
  const std::string all = Forward(db_.get());
  for (size_t ahead : {size_t{1}, size_t{1} << 40, SIZE_MAX / 2 + 1, SIZE_MAX}) {
    ReadOptions options;
    options.readahead_size = ahead;
    EXPECT_TRUE(Forward(db_.get(), options) == all) << ahead;
    EXPECT_TRUE(Backward(db_.get(), options) == all) << ahead;
  }
}

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
