// Replaying a trace: what it calls, in which order and when.

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "benchmarks/db_bench/replay/replayer.h"
#include "benchmarks/db_bench/replay/session_db.h"
#include "src/api/batch/write_batch_internal.h"
#include "tests/benchmarks/map_engine.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/no_threads.h"
#include "tests/common/random/random.h"
#include "tests/trace/trace_files.h"

namespace miodb::test {
namespace {

using bench::ReplayedCall;
using bench::ReplayOptions;
using bench::ReplayReport;
using bench::ReplayTrace;

// Writes down the calls it gets.
class RecordingDb final : public DB {
 public:
  std::vector<std::string> calls;
  Status put_status;

  Status Put(const WriteOptions& options, const Slice& key, const Slice& value) override {
    return DB::Put(options, key, value);
  }
  Status Delete(const WriteOptions& options, const Slice& key) override { return DB::Delete(options, key); }
  Status Write(const WriteOptions&, WriteBatch* updates) override {
    struct Text : WriteBatch::Handler {
      std::string text;
      void Put(const Slice& key, const Slice& value) override { text += key.ToString() + "=" + value.ToString() + ";"; }
      void Delete(const Slice& key) override { text += "-" + key.ToString() + ";"; }
      Status SingleDelete(const Slice& key) override {
        text += "--" + key.ToString() + ";";
        return Status::OK();
      }
      Status Merge(const Slice& key, const Slice& operand) override {
        text += key.ToString() + "+" + operand.ToString() + ";";
        return Status::OK();
      }
      Status DeleteRange(const Slice& begin, const Slice& end) override {
        text += begin.ToString() + ".." + end.ToString() + ";";
        return Status::OK();
      }
    } text;
    EXPECT_OK(updates->Iterate(&text));
    calls.push_back("write " + text.text);
    return put_status;
  }
  Status Get(const ReadOptions&, const Slice& key, std::string*) override {
    calls.push_back("get " + key.ToString());
    return Status::NotFound("");
  }
  Iterator* NewIterator(const ReadOptions&) override { return NewEmptyIterator(); }
  const Snapshot* GetSnapshot() override { return nullptr; }
  void ReleaseSnapshot(const Snapshot*) override {}
  bool GetProperty(const Slice&, std::string*) override { return false; }
  void GetApproximateSizes(const Range*, int, uint64_t*) override {}
  void CompactRange(const Slice*, const Slice*) override {}
};

class ReplayTest : public DbTestBase {
 protected:
  Status Replay(DB* db, const ReplayOptions& options) {
    std::unique_ptr<TraceReader> reader;
    Status s = TraceReader::Open(trace_, &reader);
    return s.ok() ? ReplayTrace(db, reader.get(), options, &report_) : s;
  }
  static ReplayOptions Fast(int workers = 1) {
    ReplayOptions options;
    options.as_fast_as_possible = true;
    options.workers = workers;
    return options;
  }

  // Every kind of call, on keys of which most exist.
  void RandomCalls(uint64_t count, uint64_t seed) {
    Random random(seed);
    std::string value;
    for (uint64_t i = 0; i < count; i++) {
      const std::string key = FilledKey(random.Uniform(400));
      const uint64_t what = random.Uniform(10);
      if (what < 4) {
        Put(key, std::to_string(i));
      } else if (what == 4) {
        Delete(key);
      } else if (what == 5) {
        WriteBatch batch;
        for (int j = 0; j < 5; j++) batch.Put(FilledKey(random.Uniform(400)), std::to_string(i) + "batch");
        batch.Delete(key);
        ASSERT_OK(db_->Write(WriteOptions(), &batch));
      } else if (what < 9) {
        db_->Get(ReadOptions(), key, &value).IgnoreError();
      } else {
        std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
        it->Seek(key);
        for (uint64_t steps = random.Uniform(20); steps > 0 && it->Valid(); steps--) it->Next();
      }
    }
  }

  const std::string trace_ = dir_ / "trace";
  ReplayReport report_;
};

// The round trip: a copy made when the trace began ends with the same content.
TEST_F(ReplayTest, ACopyOfTheDatabaseEndsWithTheSameContent) {
  Open();
  Fill(300, 100);
  Close();
  for (const char* copy : {"copy1", "copy4", "timed"}) std::filesystem::copy(path_, dir_ / copy);
  Open();
  ASSERT_OK(StartTrace(db_.get(), trace_));
  RandomCalls(5000, 301);
  ASSERT_OK(db_->EndTrace());
  const std::string content = Forward(db_.get());
  Close();
  for (const auto& [copy, workers] : {std::pair<const char*, int>{"copy1", 1}, {"copy4", 4}}) {
    std::unique_ptr<DB> db;
    ASSERT_OK(OpenDb(options_, dir_ / copy, &db));
    EXPECT_NE(content, Forward(db.get()));
    ASSERT_OK(Replay(db.get(), Fast(workers)));
    EXPECT_EQ(content, Forward(db.get())) << copy;
    EXPECT_EQ(0u, report_.total.failed + report_.total.unsupported);
    EXPECT_EQ(report_.counts[kTraceSeek].issued, report_.counts[kTraceScan].issued);
    EXPECT_EQ(5000u + report_.counts[kTraceScan].issued, report_.total.issued);
    EXPECT_GT(report_.steps, report_.counts[kTraceScan].issued);
  }
}

TEST_F(ReplayTest, OneWorkerKeepsTheOrderOfTheTrace) {
  const std::string range = FromHex("0000000000000000 01000000 0f 0161 0162");
  const std::string family = FromHex("0000000000000000 02000000 01 016b 0176 05 03 0161 0162");
  const std::string single = FromHex("0000000000000000 02000000 07 0161 02 0161 0162");
  WriteFile(trace_,
            BeginRecord() + Encoded([](TraceEncoder e) { e.Update(1, kBatchPut, "a", "1"); }) +
                Encoded([](TraceEncoder e) { e.Get(1, "b"); }) + Encoded([&](TraceEncoder e) { e.Batch(1, range); }) +
                Encoded([&](TraceEncoder e) { e.Batch(1, family); }) +
                Encoded([&](TraceEncoder e) { e.Batch(1, single); }) + FromHex("0100000000000000 0c 02000000 ffff"));
  RecordingDb db;
  ASSERT_OK(Replay(&db, Fast()));
  EXPECT_EQ((std::vector<std::string>{"write a=1;", "get b", "write a..b;", "write --a;a+b;"}), db.calls);
  EXPECT_EQ(3u, report_.counts[kTraceWrite].issued);
  EXPECT_EQ(1u, report_.counts[kTraceWrite].unsupported);
  EXPECT_EQ(1u, report_.counts[static_cast<TraceType>(12)].unsupported);
  EXPECT_EQ(4u, report_.total.succeeded);
}

// A store without merges gets none of a batch that has one, nor gets the rest of it with the next write.
TEST_F(ReplayTest, ABatchThatCannotBeMadeLeavesNothingInASession) {
  const std::string merge = FromHex("0000000000000000 02000000 01 0161 0131 02 0162 0132");
  WriteFile(trace_, BeginRecord() + Encoded([&](TraceEncoder e) { e.Batch(1, merge); }) +
                        Encoded([](TraceEncoder e) { e.Update(1, kBatchPut, "c", "3"); }));
  bench::Store store;
  bench::SessionDb db(bench::MapEngine(&store).NewSession({}));
  ASSERT_OK(Replay(&db, Fast()));
  EXPECT_EQ(1u, report_.counts[kTraceWrite].unsupported);
  EXPECT_EQ((std::map<std::string, std::string>{{"c", "3"}}), store.map);
}

// Puts into the range may not pass it.
TEST_F(ReplayTest, ADeletionOfARangeKeepsItsPlaceAmongWorkers) {
  const std::string range = FromHex("0000000000000000 01000000 0f 0161 017a");
  std::string puts;
  for (const char* const key : {"b", "c", "d", "e", "f", "g", "h", "i"}) {
    puts += Encoded([&](TraceEncoder e) { e.Update(1, kBatchPut, key, "1"); });
  }
  WriteFile(trace_, BeginRecord() + puts + Encoded([&](TraceEncoder e) { e.Batch(1, range); }) + puts);
  RecordingDb dbs[4];
  std::mutex mutex;
  std::vector<uint64_t> offsets;  // of the calls, in the order in which they were made
  ReplayOptions options = Fast();
  options.on_call = [&](const ReplayedCall& call) {
    const std::lock_guard<std::mutex> lock(mutex);
    offsets.push_back(call.offset);
    return true;
  };
  std::unique_ptr<TraceReader> reader;
  ASSERT_OK(TraceReader::Open(trace_, &reader));
  ASSERT_OK(ReplayTrace({&dbs[0], &dbs[1], &dbs[2], &dbs[3]}, reader.get(), options, &report_));
  ASSERT_EQ(17u, offsets.size());
  const uint64_t deletion = offsets[8];
  for (size_t i = 0; i < offsets.size(); i++) EXPECT_EQ(i < 8, offsets[i] < deletion) << i;
}

TEST_F(ReplayTest, ReportsTheFirstFailureAndGoesOn) {
  const std::string get = Encoded([](TraceEncoder e) { e.Get(1, "b"); });
  WriteFile(trace_, BeginRecord() + get + Encoded([](TraceEncoder e) { e.Update(1, kBatchPut, "a", "1"); }) +
                        Encoded([](TraceEncoder e) { e.Update(1, kBatchPut, "b", "1"); }) + get);
  RecordingDb db;
  db.put_status = Status::NoSpace("the pool is full");
  ASSERT_OK(Replay(&db, Fast()));
  EXPECT_EQ(2u, report_.total.failed);
  EXPECT_EQ(2u, report_.total.succeeded);
  EXPECT_STATUS(NoSpace, report_.first_failure);
  EXPECT_EQ(BeginRecord().size() + get.size(), report_.first_failure_offset);
}

TEST_F(ReplayTest, WaitsUntilACallIsDue) {
  WriteFile(trace_, BeginRecord() + Encoded([](TraceEncoder e) { e.Get(40 * 1000, "a"); }) +
                        Encoded([](TraceEncoder e) { e.Get(80 * 1000, "b"); }));
  RecordingDb db;
  ReplayOptions options;
  ASSERT_OK(Replay(&db, options));
  EXPECT_GE(report_.micros, 80u * 1000);
  options.fast_forward = 4;
  ASSERT_OK(Replay(&db, options));
  EXPECT_GE(report_.micros, 20u * 1000);
  options.fast_forward = 0.5;
  ASSERT_OK(Replay(&db, options));
  EXPECT_GE(report_.micros, 160u * 1000);
}

TEST_F(ReplayTest, StopsWhenAsked) {
  std::string bytes = BeginRecord();
  for (uint64_t i = 1; i < 100; i++) bytes += Encoded([&](TraceEncoder e) { e.Get(i, "a"); });
  WriteFile(trace_, bytes);
  RecordingDb db;
  ReplayOptions options = Fast();
  int calls = 0;
  options.on_call = [&](const ReplayedCall& call) {
    EXPECT_EQ(kTraceGet, call.type);
    return ++calls < 10;
  };
  ASSERT_OK(Replay(&db, options));
  EXPECT_TRUE(report_.stopped);
  EXPECT_EQ(10u, report_.total.issued);
}

TEST_F(ReplayTest, ADamagedTraceIsReplayedUpToTheDamage) {
  std::string bytes = BeginRecord() + Encoded([](TraceEncoder e) { e.Get(1, "a"); });
  WriteFile(trace_, bytes + bytes.substr(bytes.size() - 20));
  RecordingDb db;
  EXPECT_STATUS(Corruption, Replay(&db, Fast(2)));
  EXPECT_EQ(1u, report_.total.issued);
}

TEST_F(ReplayTest, WithoutAThreadToBeHadItSaysSo) {
  if (RunsUnderSanitizer()) GTEST_SKIP() << "the sanitizer starts the threads";
  WriteFile(trace_, BeginRecord() + Encoded([](TraceEncoder e) { e.Get(1, "a"); }));
  RecordingDb db;
  no_threads.store(true);
  Status s;
  EXPECT_NO_THROW(s = Replay(&db, Fast(3)));
  no_threads.store(false);
  EXPECT_STATUS(IOError, s);
  EXPECT_TRUE(Mentions(s, "thread")) << s.ToString();
}

TEST_F(ReplayTest, RefusesImpossibleOptions) {
  WriteFile(trace_, BeginRecord());
  RecordingDb db;
  for (double factor : {0.0, -1.0, 1.0 / 0.0}) {
    ReplayOptions options;
    options.fast_forward = factor;
    EXPECT_STATUS(InvalidArgument, Replay(&db, options));
  }
  for (int workers : {0, -1, 1025}) EXPECT_STATUS(InvalidArgument, Replay(&db, Fast(workers)));
}

}  // namespace
}  // namespace miodb::test
