// Options::block_cache_trace_file: which lines which reads leave, sampling, and writers that fail.

#include "src/trace/block_trace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "src/ssd/internal_key.h"
#include "src/ssd/ssd_store.h"
#include "tests/common/db_test_base.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"
#include "tests/ssd/sst_maker.h"
#include "tests/trace/trace_files.h"

namespace miodb::test {
namespace {

// A line's columns, by their numbers.
constexpr size_t kBlock = 1, kKind = 2, kBytes = 3, kFamily = 5, kLevel = 6, kFile = 7, kCaller = 8, kUnkept = 9,
                 kHit = 13, kOffset = 20, kColumns = 21;

using Line = std::vector<std::string>;

std::vector<Line> ReadLines(const std::string& path) {
  std::string text;
  EXPECT_OK(ReadFileToString(Env::Default(), path, &text));
  std::vector<Line> lines;
  std::istringstream rows(text);
  for (std::string row; std::getline(rows, row);) {
    std::istringstream columns(row);
    lines.emplace_back();
    for (std::string column; std::getline(columns, column, ',');) lines.back().push_back(column);
    EXPECT_EQ(lines.back().size(), kColumns) << row;
  }
  return lines;
}

// "kind caller level hit unkept" of a line.
std::string Summary(const Line& line) {
  return line[kKind] + " " + line[kCaller] + " " + line[kLevel] + " " + line[kHit] + " " + line[kUnkept];
}

// A table file of one data block and a filter.
class BlockTraceTest : public testing::Test {
 protected:
  BlockTraceTest() {
    options_.ssd_path = dir_ / "ssd";
    options_.compression = kNoCompression;
    options_.filter_bits_per_key = 10;
    EXPECT_OK(SsdStore::Open(options_, 7, &store_));
    EXPECT_OK(BlockTrace::Start(path_, 1, &trace_));
    store_->TraceTo(trace_.get());
    Entries entries;
    for (int i = 10; i < 20; i++) {
      std::string key;
      AppendInternalKey(&key, "k" + std::to_string(i), PackTag(5, kTypeValue));
      entries[key] = std::string(20, 'v');
    }
    EXPECT_OK(WriteStringToFile(options_.env, MakeSst(store_->format(), entries), store_->FileName(3)));
    SstMeta meta;
    EXPECT_OK(store_->ReadMeta(3, &meta));
    EXPECT_OK(store_->ReadRange(&meta));
    file_ = std::make_shared<const SstFile>(store_.get(), std::make_shared<const SstMeta>(meta));
    files_.push_back(file_);
  }

  void Get(const std::string& key, BlockCaller caller, bool fill_cache) {
    const SstReader::ReadMode mode{.fill_cache = fill_cache, .caller = caller, .level = 1};
    BlockPin pin;
    RecordView record;
    bool found = false;
    EXPECT_OK(store_->Get(*file_, LookupKey(store_->order(), key, 9), mode, true, &pin, &found, &record));
    EXPECT_TRUE(found);
  }

  TestDir dir_;
  const std::string path_ = dir_ / "blocks";
  Options options_;
  std::unique_ptr<BlockTrace> trace_;
  std::unique_ptr<SsdStore> store_;
  SstRef file_;
  FileList files_;
};

TEST_F(BlockTraceTest, EachReadLeavesALineWithItsCallerLevelAndHit) {
  const uint64_t opened = trace_->accesses();
  EXPECT_EQ(opened, 3u) << "index, filter, and the block that has the first and the last key";
  Get("k10", BlockCaller::kGet, false);      // read, not kept
  Get("k11", BlockCaller::kGet, true);       // read once: its record is kept and its block is not
  Get("k11", BlockCaller::kGet, true);       // a record of the cache asks for no block
  Get("k12", BlockCaller::kMultiGet, true);  // read again: kept
  Get("k13", BlockCaller::kMultiGet, true);  // found
  const std::unique_ptr<InternalIterator> it = store_->NewMergeIterator(&files_, 2);
  it->SeekToFirst();
  EXPECT_TRUE(it->Valid());
  ASSERT_OK(trace_->End());
  const std::vector<Line> lines = ReadLines(path_);
  std::vector<std::string> summaries;
  for (const Line& line : lines) summaries.push_back(Summary(line));
  EXPECT_EQ(summaries, (std::vector<std::string>{"7 9 0 0 1", "8 9 0 0 1", "9 14 0 0 1", "9 1 1 0 1", "9 1 1 0 0",
                                                 "9 2 1 0 0", "9 2 1 1 0", "9 10 2 1 1"}));
  EXPECT_EQ(trace_->accesses(), lines.size());
  uint64_t before = 0;
  std::set<std::string> data_blocks;
  for (const Line& line : lines) {
    EXPECT_EQ(line[kFile], "3");
    EXPECT_EQ(line[kFamily], "default");
    EXPECT_GT(std::stoull(line[kBytes]), 0u);
    EXPECT_GE(std::stoull(line[0]), before) << "times ascend";
    before = std::stoull(line[0]);
    if (line[kKind] == "9") {
      EXPECT_EQ(line[kOffset], "0");
      data_blocks.insert(line[kBlock]);
    }
  }
  EXPECT_EQ(data_blocks.size(), 1u) << "a block has one number";
}

TEST_F(BlockTraceTest, NothingIsTracedBehindTheEnd) {
  ASSERT_OK(trace_->End());
  const uint64_t traced = trace_->accesses();
  Get("k10", BlockCaller::kGet, true);
  EXPECT_EQ(trace_->accesses(), traced);
  EXPECT_OK(trace_->End());
  EXPECT_EQ(ReadLines(path_).size(), traced);
}

TEST(BlockTraceSampleTest, ASampledBlockHasAllItsAccesses) {
  const TestDir dir;
  std::unique_ptr<BlockTrace> trace;
  ASSERT_OK(BlockTrace::Start(dir / "blocks", 4, &trace));
  for (int round = 0; round < 3; round++) {
    for (uint64_t i = 0; i < 4000; i++) trace->OnAccess({.file = 1 + i / 100, .offset = i % 100 * 4096, .bytes = 4096});
  }
  ASSERT_OK(trace->End());
  std::map<std::string, int> accesses;
  for (const Line& line : ReadLines(dir / "blocks")) accesses[line[kBlock]]++;
  EXPECT_GT(accesses.size(), 800u);
  EXPECT_LT(accesses.size(), 1200u);
  for (const auto& [block, count] : accesses) EXPECT_EQ(count, 3) << block;
}

TEST(BlockTraceSampleTest, TheLargestFiguresFitALine) {
  const TestDir dir;
  std::unique_ptr<BlockTrace> trace;
  ASSERT_OK(BlockTrace::Start(dir / "blocks", 1, &trace));
  trace->OnAccess({UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT32_MAX, BlockKind::kData, BlockCaller::kOther, true, true});
  ASSERT_OK(trace->End());
  ASSERT_EQ(ReadLines(dir / "blocks").size(), 1u);
}

TEST(BlockTraceSampleTest, AFailureToWriteEndsTheTraceAndIsTold) {
  BlockTrace trace(std::make_unique<FailingWriter>(2), 1);
  for (int i = 0; i < 5; i++) trace.OnAccess({.file = 1, .bytes = 10});
  EXPECT_EQ(trace.accesses(), 2u);
  EXPECT_STATUS(IOError, trace.End());
  EXPECT_STATUS(IOError, trace.End());
}

class BlockTraceOptionTest : public DbTestBase {
 protected:
  BlockTraceOptionTest() {
    options_.ssd_path = dir_ / "ssd";
    options_.pool_size = 3 << 20;
    options_.ssd_file_size = 128 << 10;
    options_.block_cache_trace_file = path_of_trace_;
  }
  const std::string path_of_trace_ = dir_ / "blocks";
};

TEST_F(BlockTraceOptionTest, AnOptionTracesFromTheOpenToTheClose) {
  Open();
  Fill(20000, 400);
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_GT(Counter("ssd-bytes"), 0u);
  for (uint64_t i = 0; i < 2000; i++) Get(FilledKey(i * 10));
  EXPECT_FALSE(Forward(db_.get()).empty());
  Close();
  std::map<std::string, uint64_t> of_caller;
  for (const Line& line : ReadLines(path_of_trace_)) {
    if (line[kKind] == "9") of_caller[line[kCaller]]++;
  }
  EXPECT_GT(of_caller["1"], 0u) << "gets";
  EXPECT_GT(of_caller["3"], 0u) << "the walk";
}

TEST_F(BlockTraceOptionTest, AFileThatCannotBeMadeFailsTheOpen) {
  options_.block_cache_trace_file = dir_ / "no/such/folder";
  EXPECT_FALSE(TryOpen().ok());
  EXPECT_FALSE(Env::Default()->FileExists(path_)) << "nor is a database made";
  options_.block_cache_trace_file = path_of_trace_;
  options_.block_cache_trace_sampling_frequency = 0;
  const Status s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "block_cache_trace_sampling_frequency"));
  EXPECT_FALSE(Env::Default()->FileExists(path_of_trace_));
}

// The file may be the trace of the one that has the database, and a repair is no run of it.
TEST_F(BlockTraceOptionTest, AnOpenThatIsRefusedAndARepairLeaveTheFile) {
  Options untraced = options_;
  untraced.block_cache_trace_file.clear();
  ASSERT_OK(OpenDb(untraced, path_, &db_));
  Put("a", "1");
  ASSERT_OK(WriteStringToFile(Env::Default(), "a trace", path_of_trace_));
  std::unique_ptr<DB> second;
  std::string bytes;
  EXPECT_FALSE(OpenDb(options_, path_, &second).ok());
  ASSERT_OK(ReadFileToString(Env::Default(), path_of_trace_, &bytes));
  EXPECT_EQ("a trace", bytes) << "after the refusal";
  Close();
  ASSERT_OK(RepairDB(path_, options_));
  ASSERT_OK(ReadFileToString(Env::Default(), path_of_trace_, &bytes));
  EXPECT_EQ("a trace", bytes) << "after the repair";
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(BlockTraceOptionTest, WithoutAnSsdTierThereIsNoFile) {
  options_.ssd_path.clear();
  Open();
  EXPECT_FALSE(Env::Default()->FileExists(path_of_trace_));
}

}  // namespace
}  // namespace miodb::test
