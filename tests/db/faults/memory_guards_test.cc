// Work that must not throw, because others wait for it or a destructor does it, stays whole where allocations fail.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <new>
#include <string>
#include <vector>

#include "miodb/column_family.h"
#include "miodb/iterator.h"
#include "miodb/listener.h"
#include "miodb/optimistic_transaction.h"
#include "miodb/trace.h"
#include "miodb/write_batch.h"
#include "src/db/open/db_impl.h"
#include "src/db/read/read_path.h"
#include "src/db/reader/reader_follower.h"
#include "src/db/stats/events.h"
#include "src/nvm/persist/persist.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/db/faults/failing_memory.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKiB = 1024;

class MemoryGuardsTest : public DbTestBase {
 protected:
  MemoryGuardsTest() {
    path_ = dir_ / "database";
    options_.write_buffer_size = 8 * kKiB;
    options_.log_chunk_size = 4 * kKiB;
    options_.pool_growth = 64 * kKiB;
    hooks_.background = BackgroundMode::kBySteps;
  }
  ~MemoryGuardsTest() override {
    alarm(0);
    Disarm();
  }

  DBImpl::Hooks hooks_;
};

// ---- events

class CountingListener final : public EventListener {
 public:
  void OnFlush(const FlushInfo&) override { told++; }
  void OnMerge(const MergeInfo&) override { told++; }
  void OnStall(const StallInfo&) override { told++; }
  void OnError(const ErrorInfo&) override { told++; }
  void OnSpace(const SpaceInfo&) override { told++; }
  void OnDropped(uint64_t events) override { dropped += events; }

  uint64_t told = 0;
  uint64_t dropped = 0;
};

TEST_F(MemoryGuardsTest, AnEventWithoutMemoryIsCountedAndNothingIsThrown) {
  CountingListener listener;
  Events events({&listener});
  const Status error = Status::IOError("the place", "a reason that is longer than what a string holds in itself");
  Arm(1, UINT64_MAX);
  events.NoteFlush(FlushInfo());
  events.NoteMerge(MergeInfo());
  events.NoteStall(5000);
  events.NoteError(error, true);
  events.NoteSpace(SpaceLevel::kFull, 0, 1);
  EXPECT_TRUE(Disarm());
  ASSERT_OK(events.Start("db"));
  events.Stop();
  EXPECT_EQ(5u, listener.told + listener.dropped);
  EXPECT_GT(listener.dropped, 0u);
}

// The leader itself notes the error that stops writes. A leader that threw there would not hand the queue on.
TEST_F(MemoryGuardsTest, AnErrorThatListenersCannotBeToldOfLeavesTheQueueToTheNextWriter) {
  CountingListener listener;
  options_.listeners = {&listener};
  const std::string large(20 * kKiB, 'x');
  uint64_t failed = 0;
  for (uint64_t at = 1;; at++) {
    SCOPED_TRACE("allocation " + std::to_string(at));
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(DBImpl::Open(options_, path_, hooks_, &db));
    alarm(60);  // ends a test that waits for ever
    Arm(at, UINT64_MAX);
    const Status s = db->Put(WriteOptions(), "large", large);
    const bool met = Disarm();
    failed += s.ok() ? 0 : 1;
    const Status again = db->Put(WriteOptions(), "small", "value");
    EXPECT_TRUE(again.ok() || !s.ok()) << again.ToString();
    alarm(0);
    db.reset();
    ASSERT_OK(DestroyDB(path_, options_));
    ASSERT_FALSE(HasFailure());
    if (!met) break;
  }
  EXPECT_GT(failed, 0u);
}

// ---- the door in file mode

// The destructor of an extent stores to the pool, and a destructor that throws ends the program.
TEST_F(MemoryGuardsTest, AStoreInFileModeNeedsNoMemory) {
  constexpr size_t kPage = 4096, kPages = 1024;
  char* const pages = static_cast<char*>(
      mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(MAP_FAILED, static_cast<void*>(pages));
  {
    Persist persist(kPersistFile);
    Status s;
    Arm(1, UINT64_MAX);
    for (int round = 0; round < 2 && s.ok(); round++) {
      for (const Purpose purpose : {Purpose::kLog, Purpose::kMerge, Purpose::kManifest}) {
        for (size_t i = 0; i < kPages / 2; i++) persist.Copy(purpose, pages + i * 7 % (kPages / 2) * 2 * kPage, "x", 1);
        if (s.ok()) s = persist.Fence(purpose);
      }
    }
    EXPECT_FALSE(Disarm());
    EXPECT_OK(s);
  }
  munmap(pages, kPages * kPage);
}

// ---- the work that prepares

// A writer that finds no memtable ready makes one, so without memory for it nothing is lost.
TEST_F(MemoryGuardsTest, AMemtableThatCannotBePreparedStopsNoWrites) {
  uint64_t survived = 0;
  for (uint64_t at = 1;; at++) {
    SCOPED_TRACE("allocation " + std::to_string(at));
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(DBImpl::Open(options_, path_, hooks_, &db));
    ASSERT_OK(db->Put(WriteOptions(), "key", "value"));  // the memtable is in use
    bool threw = false;
    Arm(at, 1);
    try {
      db->RunStep(DBImpl::Step::kPrepare);
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    const bool met = Disarm();
    EXPECT_FALSE(threw);
    const Status s = db->Put(WriteOptions(), "key", "another value");
    if (s.ok()) {
      survived += met ? 1 : 0;
    } else {
      EXPECT_TRUE(Mentions(s, "memory"));  // of a log chunk, which may be in the manifest or not
    }
    db.reset();
    ASSERT_OK(DestroyDB(path_, options_));
    ASSERT_FALSE(HasFailure());
    if (!met) break;
  }
  EXPECT_GT(survived, 0u);
}

// ---- traces

// Takes records and keeps none.
class IdleTraceWriter final : public TraceWriter {
 public:
  Status Write(const Slice& data) override {
    bytes_ += data.size();
    return Status::OK();
  }
  Status Close() override { return Status::OK(); }
  uint64_t GetFileSize() override { return bytes_; }

 private:
  uint64_t bytes_ = 0;
};

class TraceMemoryTest : public MemoryGuardsTest {
 protected:
  TraceMemoryTest() { options_.lifetime_seconds = 1000 * 1000; }

  // Each allocation of a write of a batch fails in turn. Counts the writes and the traces that failed. options: null:
  // no trace runs.
  void Sweep(const TraceOptions* options, uint64_t* failed_writes, uint64_t* failed_traces) {
    *failed_writes = *failed_traces = 0;
    WriteBatch batch;
    batch.Put("key", std::string(100, 'v'));
    for (uint64_t at = 1;; at++) {
      SCOPED_TRACE("allocation " + std::to_string(at));
      std::unique_ptr<DBImpl> db;
      ASSERT_OK(DBImpl::Open(options_, path_, hooks_, &db));
      ASSERT_OK(db->Write(WriteOptions(), &batch));  // what comes once
      if (options != nullptr) {
        ASSERT_OK(db->StartTrace(*options, std::make_unique<IdleTraceWriter>()));
      }
      Arm(at, 1);
      const Status s = db->Write(WriteOptions(), &batch);
      const bool met = Disarm();
      const Status traced = options == nullptr ? Status::OK() : db->EndTrace();
      if (!s.ok()) ++*failed_writes;
      if (!traced.ok()) {
        ++*failed_traces;
        EXPECT_STATUS(IOError, traced);
        EXPECT_OK(s);
        EXPECT_OK(db->Write(WriteOptions(), &batch));
      }
      db.reset();
      ASSERT_OK(DestroyDB(path_, options_));
      if (!met) return;
    }
  }
};

// A batch of values with a lifetime is copied for its record, by the leader when the order is kept: its writes are in
// the log by then.
TEST_F(TraceMemoryTest, AWriteThatCannotBeTracedFailsTheTraceAlone) {
  uint64_t own = 0, failed_writes = 0, failed_traces = 0;
  ASSERT_NO_FATAL_FAILURE(Sweep(nullptr, &own, &failed_traces));
  for (const bool in_order : {false, true}) {
    SCOPED_TRACE(in_order);
    TraceOptions options;
    options.preserve_write_order = in_order;
    ASSERT_NO_FATAL_FAILURE(Sweep(&options, &failed_writes, &failed_traces));
    EXPECT_EQ(own, failed_writes);
    EXPECT_GT(failed_traces, 0u);
  }
}

TEST_F(MemoryGuardsTest, ASeekThatCannotBeTracedFailsTheTraceAlone) {
  std::unique_ptr<DBImpl> db;
  ASSERT_OK(DBImpl::Open(options_, path_, hooks_, &db));
  const std::string key(100, 'k');
  ASSERT_OK(db->Put(WriteOptions(), key, "value"));
  ASSERT_OK(db->StartTrace(TraceOptions(), std::make_unique<IdleTraceWriter>()));
  const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  Arm(1, 1);  // the tracer's copy of the key comes first
  it->Seek(key);
  EXPECT_TRUE(Disarm());
  EXPECT_OK(it->status());
  EXPECT_STATUS(IOError, db->EndTrace());
}

// ---- column families

TEST_F(MemoryGuardsTest, AColumnFamilyIsMadeAsAWholeOrNotAtAll) {
  const std::string name = "a family whose name is longer than what a string holds in itself";
  uint64_t repeated = 0;
  for (uint64_t at = 1;; at++) {
    SCOPED_TRACE("allocation " + std::to_string(at));
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(DBImpl::Open(options_, path_, hooks_, &db));
    ColumnFamilyHandle* family = nullptr;
    Arm(at, 1);
    const Status s = db->CreateColumnFamily(name, &family);
    const bool met = Disarm();
    bool made = s.ok();
    if (!s.ok()) {
      EXPECT_TRUE(Mentions(s, "memory"));
      std::vector<std::string> names;
      EXPECT_OK(db->ListColumnFamilies(&names));
      EXPECT_EQ((std::vector<std::string>{"default"}), names);
      EXPECT_STATUS(NotFound, db->GetColumnFamily(name, &family));
      const Status again = db->CreateColumnFamily(name, &family);
      made = again.ok();
      repeated += made ? 1 : 0;
      if (!made) {
        EXPECT_TRUE(Mentions(again, "memory"));  // whether the edit is durable is not known
      }
    }
    if (made) {
      EXPECT_OK(db->Put(WriteOptions(), family, "key", "value"));
    }
    db.reset();
    ASSERT_OK(DBImpl::Open(options_, path_, hooks_, &db));
    EXPECT_TRUE(!made || db->GetColumnFamily(name, &family).ok());
    db.reset();
    ASSERT_OK(DestroyDB(path_, options_));
    ASSERT_FALSE(HasFailure());
    if (!met) break;
  }
  EXPECT_GT(repeated, 0u);
}

// ---- transactions

TEST_F(MemoryGuardsTest, AKeyThatCannotBeTrackedLeavesNothingBehindARollback) {
  std::unique_ptr<DBImpl> db;
  ASSERT_OK(DBImpl::Open(options_, path_, hooks_, &db));
  uint64_t failed = 0;
  for (uint64_t at = 1;; at++) {
    SCOPED_TRACE("allocation " + std::to_string(at));
    OptimisticTransaction txn(db.get(), WriteOptions(), OptimisticTransactionOptions());
    ASSERT_OK(txn.SetSavePoint());
    Arm(at, 1);
    const Status s = txn.Put("key", "value");
    const bool met = Disarm();
    if (!s.ok()) {
      failed++;
      EXPECT_TRUE(Mentions(s, "out of memory"));
    }
    ASSERT_OK(txn.RollbackToSavePoint());
    EXPECT_EQ(0u, txn.GetNumKeys());
    ASSERT_FALSE(HasFailure());
    if (!met) break;
  }
  EXPECT_GT(failed, 2u);
}

TEST_F(MemoryGuardsTest, SavePointsOfATransactionAskForMemorySeldom) {
  constexpr int kSavePoints = 10000;
  std::unique_ptr<DBImpl> db;
  ASSERT_OK(DBImpl::Open(options_, path_, hooks_, &db));
  OptimisticTransaction txn(db.get(), WriteOptions(), OptimisticTransactionOptions());
  bool all = true;
  Arm(1, 0);  // which counts them
  for (int i = 0; i < kSavePoints; i++) all = txn.SetSavePoint().ok() && all;
  EXPECT_FALSE(Disarm());
  EXPECT_TRUE(all);
  EXPECT_LT(allocations.load(), 100u);
}

// ---- looks of readers

// A follower without a thread of its own, which looks when the test wants it.
struct SteppedReader {
  SteppedReader(const Options& options, const std::string& path)
      : context(options, path, DbHooks()), read(context, &sources), follower(&context, &sources) {}

  DbContext context;
  ReadSources sources;
  ReadPath read;
  ReaderFollower follower;
};

class ReaderMemoryTest : public MemoryGuardsTest {
 protected:
  ReaderMemoryTest() { options_.keep_log_bytes = uint64_t{1} << 40; }

  // A flush, and a write behind it, which is in another chunk of the log.
  void WriteAround(DBImpl* db, int round) {
    ASSERT_OK(db->Put(WriteOptions(), KeyOf(round, 0), "value"));
    ASSERT_OK(db->Flush());
    ASSERT_OK(db->Put(WriteOptions(), KeyOf(round, 1), "value"));
  }

  static std::string KeyOf(int round, int i) { return std::to_string(round) + "." + std::to_string(i); }

  // The writes of WriteAround have the sequences from 1 on, in the order in which they were made. Each that counts as
  // visible is there to be read, and its log is found, or else the look that failed is the reason.
  static void CheckVisible(SteppedReader* reader, bool look_failed) {
    const uint64_t last = reader->follower.LastVisible();
    for (uint64_t sequence = 1; sequence <= last; sequence++) {
      SCOPED_TRACE("write " + std::to_string(sequence) + " of " + std::to_string(last));
      const int number = static_cast<int>(sequence) - 1;
      std::string value;
      EXPECT_OK(reader->read.Get(ReadOptions(), KeyOf(number / 2, number % 2), &value));
      LogPart part;
      const Status s = reader->follower.FindPart(sequence, &part);
      if (look_failed && !s.ok()) {
        EXPECT_STATUS(IOError, s);
        EXPECT_TRUE(Mentions(s, "the last look failed"));
        EXPECT_TRUE(Mentions(s, "memory"));
      } else {
        EXPECT_OK(s);
      }
    }
  }
};

TEST_F(ReaderMemoryTest, ALookThatFailsTellsNoSequenceThatReadsDoNotSee) {
  uint64_t failed = 0;
  for (uint64_t at = 1;; at += RunsUnderSanitizer() ? 7 : 1) {
    SCOPED_TRACE("allocation " + std::to_string(at));
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(DBImpl::Open(options_, path_, hooks_, &db));
    ASSERT_NO_FATAL_FAILURE(WriteAround(db.get(), 0));
    bool met;
    {
      SteppedReader reader(options_, path_);
      ASSERT_OK(reader.follower.Open());
      // Keeps a state that the next look retires, so that the one after it has to make room for another.
      const ReadStates::Pin pin(&reader.sources.states);
      ASSERT_NO_FATAL_FAILURE(WriteAround(db.get(), 1));
      ASSERT_OK(reader.follower.Look(ReaderFollower::Depth::kLog));
      CheckVisible(&reader, false);
      ASSERT_NO_FATAL_FAILURE(WriteAround(db.get(), 2));
      Arm(at, 1);
      const Status s = reader.follower.Look(ReaderFollower::Depth::kLog);
      met = Disarm();
      failed += s.ok() ? 0 : 1;
      CheckVisible(&reader, !s.ok());
      EXPECT_OK(reader.follower.Look(ReaderFollower::Depth::kLog));
      EXPECT_EQ(6u, reader.follower.LastVisible());
      CheckVisible(&reader, false);
    }
    db.reset();
    ASSERT_OK(DestroyDB(path_, options_));
    ASSERT_FALSE(HasFailure());
    if (!met) break;
  }
  EXPECT_GT(failed, 0u);
}

}  // namespace
}  // namespace miodb::test
