// db_bench's traces and replays: the files it writes, and that a replay repeats what was traced.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "src/api/batch/write_batch_internal.h"
#include "tests/benchmarks/map_engine.h"
#include "tests/common/test_dir.h"
#include "tests/trace/trace_files.h"

namespace miodb::bench {
namespace {

class TraceBenchmarkTest : public DriverTest {
 protected:
  TraceBenchmarkTest() {
    config_.trace.trace_file = trace_;
    config_.options.write_buffer_size = 64 << 10;
    config_.options.pool_size = 64 << 20;
    config_.mixgraph.mix_get_ratio = 0.4;
    config_.mixgraph.mix_put_ratio = 0.5;
    config_.mixgraph.mix_seek_ratio = 0.1;
    config_.mixgraph.mix_max_scan_len = 20;
  }

  // Runs the list on a real engine.
  int RunOn(const std::string& engine, const std::string& path, const std::string& benchmarks) {
    Interrupt::Install();
    config_.engine = engine;
    config_.db = path;
    config_.benchmarks = benchmarks;
    std::string error;
    const std::unique_ptr<Engine> store = NewEngine(config_, &error);
    EXPECT_NE(store, nullptr) << error;
    if (store == nullptr) return -1;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = Driver(config_, store.get()).Run();
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return status;
  }

  std::map<std::string, std::string> Content(const std::string& engine, const std::string& path) {
    config_.engine = engine;
    config_.db = path;
    std::string error;
    const std::unique_ptr<Engine> store = NewEngine(config_, &error);
    EXPECT_TRUE(store->Open().ok());
    std::map<std::string, std::string> content;
    {
      const std::unique_ptr<Session> session = store->NewSession(SessionOptions());
      const std::unique_ptr<Cursor> cursor = session->NewCursor();
      Entry entry;
      for (bool valid = cursor->SeekToFirst(&entry); valid; valid = cursor->Next(&entry)) {
        content[std::string(entry.key)] = std::string(entry.value);
      }
    }
    store->Close();
    return content;
  }

  test::TestDir dir_;
  const std::string trace_ = dir_ / "trace";
};

TEST_F(TraceBenchmarkTest, AReplayOnACopyEndsWithTheSameContent) {
  config_.trace.trace_file = "";
  ASSERT_EQ(RunOn("miodb", dir_ / "db", "fillseq"), 0) << err_;
  std::filesystem::copy(dir_ / "db", dir_ / "copy");
  config_.use_existing_db = true;
  config_.threads = 2;
  config_.reads = 2000;
  config_.trace.trace_file = trace_;
  ASSERT_EQ(RunOn("miodb", dir_ / "db", "mixgraph,overwrite"), 0) << err_;
  EXPECT_TRUE(Printed("Tracing the workload to: [" + trace_ + "]"));
  config_.threads = 1;
  config_.trace.replay_threads = 3;
  config_.trace.replay_as_fast_as_possible = true;
  EXPECT_NE(Content("miodb", dir_ / "db"), Content("miodb", dir_ / "copy"));
  ASSERT_EQ(RunOn("miodb", dir_ / "copy", "replay"), 0) << err_;
  EXPECT_TRUE(Printed("Replay completed from trace_file: " + trace_)) << out_;
  EXPECT_EQ(Content("miodb", dir_ / "db"), Content("miodb", dir_ / "copy"));
  // 4000 of mixgraph, of which the scans have a second record with their steps, and 4000 of overwrite.
  uint64_t scans = 0, records = 0;
  for (const std::string& record : test::ReadTrace(trace_)) (record.starts_with("scan(") ? scans : records)++;
  EXPECT_GT(scans, 300u);
  EXPECT_EQ(CountOf(out_, " " + std::to_string(records) + " operations;"), 1u) << out_;
  EXPECT_TRUE(Printed("scan steps   : issued " + std::to_string(scans))) << out_;
}

TEST_F(TraceBenchmarkTest, AReplayThatTakesLongShowsHowFarItIs) {
  constexpr uint64_t kTenth = 100000;  // microseconds
  std::string records = test::BeginRecord();
  for (uint64_t i = 1; i <= 25; i++) {
    records +=
        test::Encoded([&](TraceEncoder e) { e.Update(i * kTenth, kBatchPut, "key" + std::to_string(i), "value"); });
  }
  test::WriteFile(trace_, test::Ended(records, 26 * kTenth));
  config_.progress_reports = true;
  ASSERT_EQ(RunOn("miodb", dir_ / "db", "replay"), 0) << err_;
  EXPECT_NE(err_.find("... replayed, "), std::string::npos) << err_;
  EXPECT_NE(err_.find(" s left"), std::string::npos) << err_;
}

// The reads of each benchmark, not the reads since the start.
TEST_F(TraceBenchmarkTest, ReadsOfTheMediumAreCountedByBenchmark) {
  config_.trace.trace_file = "";
  config_.num = 3000;
  config_.reads = 1000;
  config_.perf_level = 2;
  for (const std::string& engine : {std::string("miodb"), std::string("rocksdb")}) {
    const std::string name = engine == "miodb" ? "NVM units read" : "block reads";
    config_.engine = engine;
    if (std::string error; NewEngine(config_, &error) == nullptr) continue;  // built without it
    ASSERT_EQ(RunOn(engine, dir_ / engine, "fillseq,compact,readrandom,wait,crc32c"), 0) << err_;
    std::vector<uint64_t> reads;
    for (size_t at = out_.find(name + " = "); at != std::string::npos; at = out_.find(name + " = ", at + 1)) {
      reads.push_back(std::stoull(out_.substr(at + name.size() + 3)));
    }
    ASSERT_EQ(reads.size(), 3u) << out_;  // fillseq, compact, readrandom
    if (engine == "miodb") {
      EXPECT_GT(reads[2], 100u);
      EXPECT_LT(reads[2], 6000u);
    }
    EXPECT_TRUE(Printed("\n" + name + ": ")) << out_;
  }
  config_.perf_level = 1;
  ASSERT_EQ(RunOn("miodb", dir_ / "miodb", "readrandom"), 0) << err_;
  EXPECT_FALSE(Printed("PERF_CONTEXT")) << out_;
}

TEST_F(TraceBenchmarkTest, EveryOpenStoreGetsATraceOfItsOwn) {
  config_.num = 50;
  ASSERT_EQ(RunOn("miodb", dir_ / "db", "fillseq,readseq,fillrandom"), 0) << err_;
  EXPECT_EQ(test::ReadTrace(trace_).size(), 52u);  // 50 puts, a seek to the first and its scan
  EXPECT_EQ(test::ReadTrace(trace_ + ".2").size(), 50u);
}

TEST_F(TraceBenchmarkTest, ATraceIsReplayedOnAPeer) {
  std::string error;
  config_.engine = "rocksdb";
  if (NewEngine(config_, &error) == nullptr) GTEST_SKIP() << error;
  config_.trace.trace_file = "";
  for (const char* engine : {"rocksdb", "miodb"}) {
    ASSERT_EQ(RunOn(engine, dir_ / engine, "fillseq"), 0) << err_;
  }
  config_.use_existing_db = true;
  config_.trace.trace_file = trace_;
  ASSERT_EQ(RunOn("miodb", dir_ / "miodb", "mixgraph"), 0) << err_;
  config_.trace.replay_as_fast_as_possible = true;
  ASSERT_EQ(RunOn("rocksdb", dir_ / "rocksdb", "replay"), 0) << err_;
  EXPECT_EQ(Content("rocksdb", dir_ / "rocksdb"), Content("miodb", dir_ / "miodb"));
  EXPECT_EQ(RunOn("rocksdb", dir_ / "rocksdb", "mixgraph"), 1);
  EXPECT_NE(err_.find("RocksDB cannot trace its calls"), std::string::npos) << err_;
}

// Versions of RocksDB take operands without an operator; reads of such a key fail.
TEST_F(TraceBenchmarkTest, MergesAreLeftOutWhereThereIsNoOperator) {
  const std::string merge = test::FromHex("0000000000000000 02000000 01 0161 0131 02 0162 0132");
  test::WriteFile(trace_, test::BeginRecord() + test::Encoded([&](TraceEncoder e) { e.Batch(1, merge); }) +
                              test::Encoded([](TraceEncoder e) { e.Update(1, kBatchPut, "c", "3"); }));
  config_.merge_operator = "";
  config_.trace.replay_as_fast_as_possible = true;
  for (const std::string engine : {"miodb", "rocksdb"}) {
    config_.engine = engine;
    if (std::string error; NewEngine(config_, &error) == nullptr) continue;  // built without it
    EXPECT_EQ(RunOn(engine, dir_ / engine, "replay"), 0) << err_;
    EXPECT_TRUE(Printed("write        : issued 1, succeeded 1, failed 0, unsupported 1; ")) << out_;
    EXPECT_TRUE(Printed("WARNING: 1 calls were left out: ")) << out_;
    EXPECT_EQ(Content(engine, dir_ / engine), (std::map<std::string, std::string>{{"c", "3"}}));
  }
}

TEST_F(TraceBenchmarkTest, AnEngineThatCannotTraceSaysSo) {
  EXPECT_EQ(Run("fillseq"), 1);
  EXPECT_NE(err_.find("fillseq: trace error: Map cannot trace its calls"), std::string::npos) << err_;
}

TEST_F(TraceBenchmarkTest, ReplaysThatCannotBeAreRefused) {
  EXPECT_EQ(Run("replay"), 1);
  EXPECT_NE(err_.find(trace_), std::string::npos) << err_;
  test::WriteFile(trace_, "not a trace at all");
  EXPECT_EQ(Run("replay"), 1);
  EXPECT_NE(err_.find("offset 0"), std::string::npos) << err_;
  config_.threads = 2;
  EXPECT_EQ(Run("replay"), 1);
  EXPECT_NE(err_.find("--trace_replay_threads"), std::string::npos) << err_;
  config_.threads = 1;
  config_.trace.trace_file = "";
  EXPECT_EQ(Run("replay"), 1);
  EXPECT_NE(err_.find("--trace_file is missing"), std::string::npos) << err_;
}

TEST_F(TraceBenchmarkTest, AReplayOfADamagedTraceFails) {
  const std::string get = test::Encoded([](TraceEncoder e) { e.Get(1, "a"); });
  test::WriteFile(trace_, test::BeginRecord() + get + get.substr(0, 20));
  EXPECT_EQ(Run("replay"), 1);
  EXPECT_NE(err_.find("cut short"), std::string::npos) << err_;
  EXPECT_FALSE(Printed("Replay completed"));
  EXPECT_TRUE(Printed("issued 1, succeeded 1"));
}

}  // namespace
}  // namespace miodb::bench
