// The records of DB::StartTrace.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "src/trace/tracer.h"
#include "tests/common/db_test_base.h"
#include "tests/trace/trace_files.h"

namespace miodb::test {
namespace {

using Records = std::vector<std::string>;

class TracingTest : public DbTestBase {
 protected:
  void SetUp() override { Open(); }
  void Start(const TraceOptions& options = TraceOptions()) { ASSERT_OK(StartTrace(db_.get(), trace_, options)); }
  Records End() {
    EXPECT_OK(db_->EndTrace());
    return ReadTrace(trace_);
  }
  // Two puts, a get, a seek.
  void SomeCalls() {
    db_->Put(WriteOptions(), "a", "1").IgnoreError();
    db_->Put(WriteOptions(), "b", "2").IgnoreError();
    Get("a");  // both forms
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->Seek("a");
  }

  const std::string trace_ = dir_ / "trace";
};

TEST_F(TracingTest, RecordsEveryCall) {
  Put("before", "1");
  Start();
  Put("a", "1");
  Delete("b");
  WriteBatch batch;
  batch.Put("c", "3");
  batch.Delete("a");
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  std::string value;
  EXPECT_STATUS(NotFound, db_->Get(ReadOptions(), "missing", &value));
  PinnableSlice pinned;
  ASSERT_OK(db_->Get(ReadOptions(), "c", &pinned));
  pinned.Reset();
  const Records records = End();
  Put("after", "1");
  EXPECT_EQ((Records{"put(a=1)", "delete(b)", "put(c=3)+delete(a)", "get(missing)", "get(c)"}), records);
}

TEST_F(TracingTest, AMultiGetIsOneRecord) {
  Put("a", "1");
  const std::vector<Slice> keys = {"a", "missing", "", "a"};
  std::vector<std::string> values;
  const auto calls = [&] {
    EXPECT_OK(db_->MultiGet(ReadOptions(), keys, &values)[0]);
    EXPECT_TRUE(db_->MultiGet(ReadOptions(), {}, &values).empty());
    Get("a");
  };
  Start();
  calls();
  EXPECT_EQ((Records{"multiget( 0:a 0:missing 0: 0:a)", "get(a)", "get(a)"}), End());
  TraceOptions options;
  options.filter = kTraceFilterMultiGet;
  Start(options);
  calls();
  EXPECT_EQ((Records{"get(a)", "get(a)"}), End());
  options.filter = kTraceFilterGet;
  Start(options);
  calls();
  EXPECT_EQ((Records{"multiget( 0:a 0:missing 0: 0:a)"}), End());
  // A call counts once for the sampling, however many keys it has.
  options.filter = kTraceFilterNone;
  options.sampling_frequency = 3;
  Start(options);
  calls();
  calls();
  EXPECT_EQ((Records{"get(a)", "get(a)"}), End());
}

TEST_F(TracingTest, AMultiGetThatNoRecordCanHoldEndsTheTraceWithAnError) {
  const std::string key(1 << 20, 'k');
  const std::vector<Slice> keys(2100, Slice(key));
  Tracer tracer;
  ASSERT_OK(tracer.Start(TraceOptions(), std::make_unique<FailingWriter>(100)));
  tracer.Get(key);
  tracer.MultiGet(keys);
  EXPECT_STATUS(InvalidArgument, tracer.End());
}

// No byte of the large ones is read: calls are judged by sizes.
TEST_F(TracingTest, WritesThatTheDatabaseRefusesAreNotRecorded) {
  const Slice large("k", size_t{5} << 30);
  Start();
  EXPECT_STATUS(InvalidArgument, db_->Put(WriteOptions(), large, "v"));
  EXPECT_STATUS(InvalidArgument, db_->Put(WriteOptions(), "k", large));
  EXPECT_STATUS(InvalidArgument, db_->Delete(WriteOptions(), large));
  Get("a");
  EXPECT_EQ((Records{"get(a)", "get(a)"}), End());
}

TEST_F(TracingTest, AReadThatNoRecordCanHoldEndsTheTraceWithAnError) {
  const Slice large("k", size_t{5} << 30);
  for (const auto& call : std::vector<std::function<void(Tracer*)>>{
           [&](Tracer* t) { t->Get(large); },
           [&](Tracer* t) { t->Seek(kTraceSeek, kDefaultFamily, large, nullptr, nullptr); },
           [&](Tracer* t) { t->Seek(kTraceSeek, kDefaultFamily, "k", &large, nullptr); }}) {
    Tracer tracer;
    ASSERT_OK(tracer.Start(TraceOptions(), std::make_unique<FailingWriter>(100)));
    call(&tracer);
    EXPECT_STATUS(InvalidArgument, tracer.End());
  }
}

TEST_F(TracingTest, RecordsHowFarIteratorsWereMoved) {
  for (const char* key : {"a", "b", "c", "d"}) Put(key, "1");
  Start();
  const Slice upper("d");
  ReadOptions options;
  options.iterate_upper_bound = &upper;
  {
    std::unique_ptr<Iterator> it(db_->NewIterator(options));
    it->Seek("b");
    it->Next();
    it->Next();  // to the bound
    it->SeekToFirst();
    it->Next();
    it->Prev();
    it->SeekToLast();
  }
  EXPECT_EQ((Records{"seek(b to d)", "scan(b +2 -0)", "first( to d)", "scan( +1 -1)", "last( to d)", "scan( +0 -0)"}),
            End());
}

TEST_F(TracingTest, WithoutOwnRecordsOnlyWhatRocksDbKnowsIsWritten) {
  TraceOptions options;
  options.own_records = false;
  Start(options);
  SomeCalls();
  {
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    it->Next();
  }
  End();
  std::unique_ptr<TraceReader> reader;
  ASSERT_OK(TraceReader::Open(trace_, &reader));
  int records = 0;
  for (TraceRecord record; reader->Next(&record); records++) EXPECT_LE(record.type, kTraceMultiGet);
  EXPECT_EQ(5, records);
  EXPECT_FALSE(reader->has_own_records());
  EXPECT_TRUE(reader->ended());
}

TEST_F(TracingTest, FilterLeavesTypesOut) {
  const std::map<uint64_t, Records> expected = {{kTraceFilterWrite, {"get(a)", "get(a)", "seek(a)", "scan(a +0 -0)"}},
                                                {kTraceFilterGet, {"put(a=1)", "put(b=2)", "seek(a)", "scan(a +0 -0)"}},
                                                {kTraceFilterSeek, {"put(a=1)", "put(b=2)", "get(a)", "get(a)"}},
                                                {kTraceFilterGet | kTraceFilterWrite | kTraceFilterSeek, {}}};
  for (const auto& [filter, records] : expected) {
    TraceOptions options;
    options.filter = filter;
    Start(options);
    SomeCalls();
    EXPECT_EQ(records, End()) << filter;
  }
}

TEST_F(TracingTest, SamplingCountsWhatPassedTheFilter) {
  TraceOptions options;
  options.filter = kTraceFilterWrite;
  options.sampling_frequency = 2;
  Start(options);
  SomeCalls();
  SomeCalls();
  // Of get, get, seek, get, get, seek each second one; a scan goes with its seek.
  EXPECT_EQ((Records{"get(a)", "get(a)", "seek(a)", "scan(a +0 -0)"}), End());
}

TEST_F(TracingTest, StopsRecordingAtTheMaximumSize) {
  TraceOptions options;
  options.max_trace_file_size = 2000;
  Start(options);
  for (int i = 0; i < 1000; i++) Put("key" + std::to_string(i), "value");
  const Records records = End();
  EXPECT_GT(records.size(), 10u);
  const size_t bytes = ReadFile(trace_).size();
  EXPECT_GT(bytes, 2000u);
  EXPECT_LT(bytes, 2200u);
}

TEST_F(TracingTest, OneTraceRunsAtATime) {
  EXPECT_STATUS(InvalidArgument, db_->EndTrace());
  Start();
  const std::string second = dir_ / "second";
  EXPECT_STATUS(InvalidArgument, StartTrace(db_.get(), second));
  End();
  EXPECT_STATUS(InvalidArgument, db_->EndTrace());
  ASSERT_OK(StartTrace(db_.get(), second));
  Put("a", "1");
  ASSERT_OK(db_->EndTrace());
  EXPECT_EQ(Records{"put(a=1)"}, ReadTrace(second));
}

TEST_F(TracingTest, RefusesImpossibleOptions) {
  TraceOptions options;
  options.sampling_frequency = 0;
  EXPECT_STATUS(InvalidArgument, StartTrace(db_.get(), trace_, options));
  options = TraceOptions();
  options.filter = 1 << 5;
  EXPECT_STATUS(InvalidArgument, StartTrace(db_.get(), trace_, options));
  EXPECT_STATUS(InvalidArgument, db_->StartTrace(TraceOptions(), nullptr));
  EXPECT_STATUS(NotFound, StartTrace(db_.get(), dir_ / "no/such/folder"));
}

TEST_F(TracingTest, ClosingTheDatabaseEndsTheTrace) {
  Start();
  Put("a", "1");
  Close();
  std::unique_ptr<TraceReader> reader;
  ASSERT_OK(TraceReader::Open(trace_, &reader));
  TraceRecord record;
  while (reader->Next(&record)) {
  }
  EXPECT_OK(reader->status());
  EXPECT_TRUE(reader->ended());
}

TEST_F(TracingTest, AFailureOfTheWriterIsReportedAndCallsGoOn) {
  EXPECT_STATUS(IOError, db_->StartTrace(TraceOptions(), std::make_unique<FailingWriter>(0)));
  ASSERT_OK(db_->StartTrace(TraceOptions(), std::make_unique<FailingWriter>(3)));
  SomeCalls();
  EXPECT_EQ("2", Get("b"));
  EXPECT_STATUS(IOError, db_->EndTrace());
  Start();
  SomeCalls();
  EXPECT_FALSE(End().empty());
}

TEST_F(TracingTest, AnIteratorOfOneTraceSaysNothingInTheNext) {
  Put("a", "1");
  Start();
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->Seek("a");
  End();
  Start();
  it.reset();
  EXPECT_EQ(Records{}, End());
}

// Two threads write the same few keys. In the order of the log the last record of each key is what the database holds.
TEST_F(TracingTest, WritesInTheirOrderTellTheFinalContent) {
  TraceOptions options;
  options.preserve_write_order = true;
  Start(options);
  const auto write = [this](int thread) {
    for (int i = 0; i < 3000; i++) {
      const std::string key = "key" + std::to_string(i % 7);
      if (i % 11 == 0) {
        Delete(key);
      } else {
        Put(key, std::to_string(thread) + "/" + std::to_string(i));
      }
    }
  };
  std::thread other(write, 1);
  write(2);
  other.join();
  std::map<std::string, std::string> content;
  ASSERT_OK(db_->EndTrace());
  std::unique_ptr<TraceReader> reader;
  ASSERT_OK(TraceReader::Open(trace_, &reader));
  uint64_t records = 0, last_micros = 0;
  for (TraceRecord record; reader->Next(&record); records++) {
    EXPECT_GE(record.micros, last_micros);
    last_micros = record.micros;
    TraceUpdates updates(record.batch);
    for (TraceUpdate update; updates.Next(&update);) {
      if (update.kind == TraceUpdate::kPut) {
        content[update.key.ToString()] = update.value.ToString();
      } else {
        content.erase(update.key.ToString());
      }
    }
  }
  ASSERT_OK(reader->status());
  EXPECT_EQ(6000u, records);
  for (int i = 0; i < 7; i++) {
    const std::string key = "key" + std::to_string(i);
    EXPECT_EQ(content.count(key) == 0 ? kNotFound : content[key], Get(key));
  }
}

TEST_F(TracingTest, StartsAndEndsWhileThreadsWork) {
  std::atomic<bool> done{false};
  std::thread worker([&] {
    while (!done) SomeCalls();
  });
  for (int i = 0; i < 20; i++) {
    Start();
    std::this_thread::yield();
    for (const std::string& record : End()) EXPECT_NE("", record);
  }
  done = true;
  worker.join();
}

// Calls of all kinds, by several threads; two others start and end traces, also each other's.
TEST_F(TracingTest, EveryTraceIsWholeThoughManyThreadsStartAndEndThem) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([this, t, &done] {
      for (uint64_t i = 0; !done; i++) {
        SomeCalls();
        WriteBatch batch;
        batch.Put("batch" + std::to_string(t), std::to_string(i));
        batch.Delete("gone" + std::to_string(t));
        EXPECT_OK(db_->Write(WriteOptions(), &batch));
        std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
        for (it->SeekToFirst(); it->Valid(); it->Next()) {
        }
        EXPECT_OK(it->status());
      }
    });
  }
  std::vector<std::string> traces[2];
  for (int c = 0; c < 2; c++) {
    threads.emplace_back([this, c, &traces, &done] {
      for (int i = 0; i < 30; i++) {
        const std::string path = dir_ / ("trace" + std::to_string(c) + "_" + std::to_string(i));
        TraceOptions options;
        options.preserve_write_order = i % 2 == 0;
        options.sampling_frequency = i % 3 == 0 ? 2 : 1;
        const Status started = StartTrace(db_.get(), path, options);
        if (started.ok()) traces[c].push_back(path);
        EXPECT_TRUE(started.ok() || started.IsInvalidArgument()) << started.ToString();
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        const Status ended = db_->EndTrace();
        EXPECT_TRUE(ended.ok() || ended.IsInvalidArgument()) << ended.ToString();
      }
      if (c == 0) done = true;
    });
  }
  for (std::thread& thread : threads) thread.join();
  size_t records = 0;
  for (const auto& paths : traces) {
    EXPECT_FALSE(paths.empty());
    for (const std::string& path : paths) {
      std::unique_ptr<TraceReader> reader;
      ASSERT_OK(TraceReader::Open(path, &reader));
      uint64_t micros = 0;
      for (TraceRecord record; reader->Next(&record); records++) {
        EXPECT_GE(record.micros, micros);
        micros = record.micros;
      }
      EXPECT_OK(reader->status());
      EXPECT_TRUE(reader->ended()) << path;
    }
  }
  EXPECT_GT(records, 100u);
}

// Damage shows soon, also in a trace that nobody ended.
TEST_F(TracingTest, TracesOfScansHaveChecksumsAlongTheWay) {
  Start();
  const std::string key(100, 'k');
  for (int i = 0; i < 2000; i++) {
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->Seek(key);
  }
  End();
  std::string bytes = ReadFile(trace_);
  ASSERT_GT(bytes.size(), 400000u);
  bytes[20000] ^= 1;
  WriteFile(trace_, bytes.substr(0, bytes.size() - 5));
  Status status;
  EXPECT_LT(ReadTrace(trace_, &status).size(), 1200u);
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
}

}  // namespace
}  // namespace miodb::test
