// Records of the pool that gets keep in DRAM: which are kept, that each answer is that of the tables, and how much
// memory they take. The clock of dates is the test's. Calls alone do background work, but for the test with threads.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "miodb/cache.h"
#include "miodb/column_family.h"
#include "miodb/merge_operator.h"
#include "miodb/perf_context.h"
#include "miodb/pinnable_slice.h"
#include "src/db/open/db_impl.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

constexpr size_t kKiB = 1024;
constexpr uint64_t kSecond = 1000 * 1000;
constexpr uint64_t kBegin = uint64_t{4000000000} * kSecond;

class RecordCacheTest : public DbTestBase {
 protected:
  RecordCacheTest() {
    date_ = kBegin;
    options_.record_cache_size = 1024 * kKiB;
    options_.merge_operator = append_.get();
  }
  ~RecordCacheTest() override {
    SetPerfLevel(kPerfOff);
    db_.reset();
  }

  void OpenBySteps() {
    Close();
    DBImpl::Hooks hooks;
    hooks.wall_micros = [] { return date_.load(); };
    hooks.background = BackgroundMode::kBySteps;
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(DBImpl::Open(options_, path_, hooks, &db));
    db_ = std::move(db);
    SetPerfLevel(kPerfTimes);
  }

  // How many kept records have answered this thread meanwhile.
  static uint64_t KeptIn(const std::function<void()>& reads) {
    const uint64_t before = GetPerfContext()->records_kept;
    reads();
    return GetPerfContext()->records_kept - before;
  }

  // Reads the key by one get.
  std::string ReadOnce(const std::string& key, const ReadOptions& options = ReadOptions()) {
    std::string value;
    const Status s = db_->Get(options, key, &value);
    return s.ok() ? value : s.IsNotFound() ? kNotFound : s.ToString();
  }

  // How many of so many gets a kept record answers; each has to give this value.
  uint64_t KeptOf(int gets, const std::string& key, const std::string& value,
                  const ReadOptions& options = ReadOptions()) {
    return KeptIn([&] {
      for (int i = 0; i < gets; i++) EXPECT_EQ(value, ReadOnce(key, options)) << key << ", get " << i;
    });
  }

  // Flushes, after the thread has seen that all writes are published: its gets then look for a key once.
  void FlushSeen() {
    Put("~seen", "");
    EXPECT_EQ("", Get("~seen"));
    ASSERT_OK(db_->Flush());
  }

  uint64_t UnitsRead() { return Counter("modelled-units-read") + Counter("modelled-units-cached"); }

  static inline std::atomic<uint64_t> date_{0};
  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
};

// ---- which records are kept

TEST_F(RecordCacheTest, AGetKeepsTheRecordForTheNext) {
  options_.nvm_model = "count";
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  Put("key", "value");
  ASSERT_NO_FATAL_FAILURE(FlushSeen());
  const uint64_t begin = UnitsRead();
  EXPECT_EQ(0u, KeptOf(1, "key", "value"));
  const uint64_t kept = UnitsRead();
  EXPECT_LT(begin, kept) << "the first get reads the table";
  EXPECT_EQ(10u, KeptOf(10, "key", "value"));
  EXPECT_EQ(1u, KeptIn([this] {
              PinnableSlice value;
              EXPECT_OK(db_->Get(ReadOptions(), "key", &value));
              EXPECT_EQ("value", value.ToString());
            }));
  EXPECT_EQ(kept, UnitsRead()) << "of the pool nothing is read";
}

TEST_F(RecordCacheTest, WithoutTheOptionNoneIsKept) {
  options_.record_cache_size = 0;
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  Put("key", "value");
  ASSERT_OK(db_->Flush());
  EXPECT_EQ(0u, KeptOf(5, "key", "value"));
  std::string bytes;
  EXPECT_FALSE(db_->GetProperty("miodb.record-cache-bytes", &bytes));
}

TEST_F(RecordCacheTest, GetsThatFillNoCacheUseItAndKeepNothing) {
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  Put("key", "value");
  ASSERT_NO_FATAL_FAILURE(FlushSeen());
  ReadOptions fills_none;
  fills_none.fill_cache = false;
  EXPECT_EQ(0u, KeptOf(5, "key", "value", fills_none));
  EXPECT_EQ(2u, KeptOf(3, "key", "value"));
  EXPECT_EQ(2u, KeptOf(2, "key", "value", fills_none));
}

TEST_F(RecordCacheTest, GetsThatVerifyReadThePool) {
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  Put("key", "value");
  ASSERT_NO_FATAL_FAILURE(FlushSeen());
  EXPECT_EQ(2u, KeptOf(3, "key", "value"));
  ReadOptions verifies;
  verifies.verify_checksums = true;
  EXPECT_EQ(0u, KeptOf(3, "key", "value", verifies));
}

TEST_F(RecordCacheTest, TheMemoryStaysWithinTheSize) {
  options_.record_cache_size = 64 * kKiB;
  options_.write_buffer_size = 1024 * kKiB;
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  Fill(2000, 200);
  Put("large", std::string(4 * kKiB, 'x'));
  ASSERT_NO_FATAL_FAILURE(FlushSeen());
  EXPECT_EQ(0u, KeptOf(5, "large", std::string(4 * kKiB, 'x'))) << "above a 32nd of the size";
  uint64_t kept = 0;
  for (uint64_t i = 0; i < 2000; i++) {
    kept += KeptOf(3, FilledKey(i), FilledValue(i, 200, 0));
    ASSERT_LE(Counter("record-cache-bytes"), options_.record_cache_size);
  }
  EXPECT_GT(kept, 400u) << "some, also when the ring is full";
  EXPECT_GT(Counter("record-cache-bytes"), options_.record_cache_size / 2);
}

TEST_F(RecordCacheTest, GetsOfAllKeysAlikeDoNotPushOutThoseOfAFew) {
  options_.record_cache_size = 64 * kKiB;
  options_.write_buffer_size = 1024 * kKiB;
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  Fill(3000, 100);
  ASSERT_NO_FATAL_FAILURE(FlushSeen());
  const auto read_few = [this] {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < 10; i++) kept += KeptOf(1, FilledKey(i), FilledValue(i, 100, 0));
    return kept;
  };
  for (int round = 0; round < 5; round++) read_few();
  uint64_t kept = 0, kept_of_all = 0;
  for (uint64_t i = 10; i < 3000; i++) {
    kept_of_all += KeptOf(1, FilledKey(i), FilledValue(i, 100, 0));
    if (i % 100 == 0) kept += read_few();
  }
  EXPECT_EQ(0u, kept_of_all) << "none was read before";
  EXPECT_GT(kept, 200u) << "of 290";
}

// ---- that answers are those of the tables

TEST_F(RecordCacheTest, OverwritesAndDeletesAreSeenWhereverTheyLie) {
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  Put("key", "1");
  ASSERT_OK(db_->Flush());
  KeptOf(4, "key", "1");
  Put("key", "2");
  EXPECT_EQ(0u, KeptOf(4, "key", "2")) << "the memtable has it";
  ASSERT_OK(db_->Flush());
  EXPECT_LE(1u, KeptOf(4, "key", "2"));
  Delete("key");
  EXPECT_EQ(0u, KeptOf(4, "key", kNotFound));
  ASSERT_OK(db_->Flush());
  KeptOf(4, "key", kNotFound);
  Settle();
  KeptOf(4, "key", kNotFound);
  Put("key", "3");
  ASSERT_OK(db_->Flush());
  EXPECT_LE(1u, KeptOf(4, "key", "3"));
}

// Each merge, down into the repository and within it, has tables with other numbers.
TEST_F(RecordCacheTest, MergesOfTheTablesChangeNoAnswer) {
  options_.write_buffer_size = 4 * kKiB;
  options_.log_chunk_size = 4 * kKiB;
  options_.partition_size = 16 * kKiB;
  options_.num_levels = 4;
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  constexpr uint64_t kKeys = 200;
  uint64_t kept = 0;
  for (uint64_t round = 0; round < 12; round++) {
    for (uint64_t i = round % 3; i < kKeys; i += 1 + round % 3) Put(FilledKey(i), FilledValue(i, 50, round));
    ASSERT_OK(db_->Flush());
    if (round % 4 == 3) Settle();
    for (int gets = 0; gets < 3; gets++) {
      kept += KeptIn([&] {
        for (uint64_t i = 0; i < kKeys; i++) {
          uint64_t last = round;
          while (last > 0 && (i < last % 3 || (i - last % 3) % (1 + last % 3) != 0)) last--;
          ASSERT_EQ(FilledValue(i, 50, last), ReadOnce(FilledKey(i))) << i << " after round " << round;
        }
      });
    }
  }
  EXPECT_GT(kept, 12 * kKeys / 2);
  EXPECT_GT(Counter("merges"), 0u);
}

TEST_F(RecordCacheTest, SnapshotsSeeTheirOwnVersions) {
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  Put("key", "1");
  const Snapshot* const first = db_->GetSnapshot();
  Put("key", "2");
  const Snapshot* const second = db_->GetSnapshot();
  Put("key", "3");
  ASSERT_OK(db_->Flush());
  ReadOptions at_first, at_second;
  at_first.snapshot = first;
  at_second.snapshot = second;
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ(0u, KeptOf(4, "key", "1", at_first)) << "the table has newer versions";
    EXPECT_EQ(0u, KeptOf(4, "key", "2", at_second));
    EXPECT_LE(1u, KeptOf(4, "key", "3"));
    const Snapshot* const newest = db_->GetSnapshot();
    ReadOptions at_newest;
    at_newest.snapshot = newest;
    EXPECT_LE(2u, KeptOf(4, "key", "3", at_newest));
    EXPECT_EQ(0u, KeptOf(2, "key", "1", at_first)) << "what is kept is newer";
    db_->ReleaseSnapshot(newest);
    Settle();
  }
  db_->ReleaseSnapshot(first);
  KeptOf(4, "key", "2", at_second);
  db_->ReleaseSnapshot(second);
  Settle();
  EXPECT_LE(1u, KeptOf(4, "key", "3"));
}

TEST_F(RecordCacheTest, DeletionsOfRangesHideWhatIsKept) {
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  Put("key", "1");
  ASSERT_OK(db_->Flush());
  EXPECT_LE(1u, KeptOf(4, "key", "1"));
  const Snapshot* const before = db_->GetSnapshot();
  ReadOptions at_before;
  at_before.snapshot = before;
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "a", "z"));
  KeptOf(4, "key", kNotFound);
  EXPECT_LE(1u, KeptOf(4, "key", "1", at_before));
  ASSERT_OK(db_->Flush());
  KeptOf(4, "key", kNotFound);
  KeptOf(4, "key", "1", at_before);
  db_->ReleaseSnapshot(before);
  Settle();
  KeptOf(4, "key", kNotFound);
  Put("key", "2");
  ASSERT_OK(db_->Flush());
  EXPECT_LE(1u, KeptOf(4, "key", "2"));
}

TEST_F(RecordCacheTest, KeptRecordsExpire) {
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  WriteOptions ten;
  ten.lifetime_seconds = 10;
  ASSERT_OK(db_->Put(ten, "key", "brief"));
  ASSERT_OK(db_->Flush());
  EXPECT_LE(1u, KeptOf(4, "key", "brief"));
  std::string value;
  uint64_t expiry = 0;
  EXPECT_EQ(1u, KeptIn([&] { ASSERT_OK(db_->GetWithExpiry(ReadOptions(), nullptr, "key", &value, &expiry)); }));
  EXPECT_EQ("brief", value);
  EXPECT_EQ(kBegin + 10 * kSecond, expiry);
  date_ = kBegin + 10 * kSecond;
  KeptOf(4, "key", kNotFound);
  date_ = kBegin + 5 * kSecond;
  KeptOf(4, "key", "brief");
  date_ = kBegin + 20 * kSecond;
  KeptOf(4, "key", kNotFound);
  Settle();
  KeptOf(4, "key", kNotFound);
}

TEST_F(RecordCacheTest, OperandsAreFoldedOverWhatIsKept) {
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  Put("key", "1");
  ASSERT_OK(db_->Flush());
  EXPECT_LE(1u, KeptOf(4, "key", "1"));
  ASSERT_OK(db_->Merge(WriteOptions(), "key", "2"));
  KeptOf(4, "key", "1,2");
  ASSERT_OK(db_->Flush());
  KeptOf(4, "key", "1,2");
  ASSERT_OK(db_->Merge(WriteOptions(), "key", "3"));
  ASSERT_OK(db_->Flush());
  KeptOf(4, "key", "1,2,3");
  Settle();
  KeptOf(4, "key", "1,2,3");
}

TEST_F(RecordCacheTest, FamiliesHaveRecordsOfTheirOwn) {
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("family", &family));
  Put("key", "of the default one");
  ASSERT_OK(db_->Put(WriteOptions(), family, "key", "of the family"));
  ASSERT_OK(db_->Flush());
  const auto read_both = [&] {
    for (int i = 0; i < 4; i++) {
      EXPECT_EQ("of the default one", ReadOnce("key"));
      std::string value;
      EXPECT_OK(db_->Get(ReadOptions(), family, "key", &value));
      EXPECT_EQ("of the family", value);
    }
  };
  EXPECT_LE(2u, KeptIn(read_both));
  EXPECT_EQ(8u, KeptIn(read_both));
  ASSERT_OK(db_->Delete(WriteOptions(), family, "key"));
  std::string value;
  EXPECT_STATUS(NotFound, db_->Get(ReadOptions(), family, "key", &value));
  EXPECT_EQ("of the default one", ReadOnce("key"));
}

TEST_F(RecordCacheTest, NothingIsKeptAcrossAnOpen) {
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  Put("key", "1");
  ASSERT_OK(db_->Flush());
  EXPECT_LE(1u, KeptOf(4, "key", "1"));
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  // A get may look twice: what it finds first, its thread does not know to be published.
  const uint64_t empty = Counter("record-cache-bytes");
  EXPECT_LE(1u, KeptOf(4, "key", "1"));
  EXPECT_LT(empty, Counter("record-cache-bytes"));
  Put("key", "2");
  ASSERT_OK(db_->Flush());
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  EXPECT_LE(1u, KeptOf(4, "key", "2"));
}

TEST_F(RecordCacheTest, KeysThatAreLongAreKeptAsWell) {
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  const std::string stem(1000, 'k');
  for (const char* end : {"a", "b"}) Put(stem + end, end);
  ASSERT_NO_FATAL_FAILURE(FlushSeen());
  for (const char* end : {"a", "b"}) EXPECT_EQ(3u, KeptOf(4, stem + end, end));
}

// The record goes with the pin, not with the cache.
TEST_F(RecordCacheTest, APinnedRecordOutlivesItsPlaceInTheCache) {
  options_.record_cache_size = 16 * kKiB;
  options_.write_buffer_size = 1024 * kKiB;
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  Fill(1000, 100);
  ASSERT_NO_FATAL_FAILURE(FlushSeen());
  PinnableSlice pinned;
  EXPECT_EQ(2u, KeptOf(3, FilledKey(0), FilledValue(0, 100, 0)));
  EXPECT_EQ(1u, KeptIn([&] { ASSERT_OK(db_->Get(ReadOptions(), FilledKey(0), &pinned)); }));
  for (uint64_t i = 1; i < 1000; i++) KeptOf(3, FilledKey(i), FilledValue(i, 100, 0));
  Fill(1000, 100, 1);
  Settle();
  for (uint64_t i = 1; i < 1000; i++) KeptOf(3, FilledKey(i), FilledValue(i, 100, 1));
  EXPECT_EQ(FilledValue(0, 100, 0), pinned.ToString());
}

// The value of a key is a number that only grows. Nobody may read a smaller one than before.
TEST_F(RecordCacheTest, NoThreadReadsWhatIsOutOfDate) {
  options_.record_cache_size = 64 * kKiB;
  options_.write_buffer_size = 4 * kKiB;
  options_.log_chunk_size = 4 * kKiB;
  options_.partition_size = 16 * kKiB;
  Open();
  constexpr uint64_t kKeys = 20, kRounds = 300;
  const auto text = [](uint64_t number) {
    std::string digits = std::to_string(number);
    return std::string(8 - digits.size(), '0') + digits;
  };
  for (uint64_t i = 0; i < kKeys; i++) Put(FilledKey(i), text(0));
  std::array<std::atomic<uint64_t>, kKeys> least{};  // the number that a key has, or had
  std::atomic<bool> ended{false};
  std::atomic<uint64_t> kept{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; t++) {
    readers.emplace_back([&] {
      SetPerfLevel(kPerfTimes);
      GetPerfContext()->Reset();
      // When nothing changes any more, a read of a key keeps its record, and the next finds the record there.
      for (int last = 0; last < 3; last += ended.load() ? 1 : 0) {
        for (uint64_t i = 0; i < kKeys; i++) {
          const uint64_t number = least[i].load(std::memory_order_acquire);  // pairs with the writer's release
          std::string value;
          ASSERT_OK(db_->Get(ReadOptions(), FilledKey(i), &value));
          ASSERT_GE(value, text(number)) << i;
        }
      }
      kept += GetPerfContext()->records_kept;
    });
  }
  // Most keys lie in tables while another one is written.
  for (uint64_t round = 1; round <= kRounds; round++) {
    const uint64_t i = round % kKeys;
    Put(FilledKey(i), text(round));
    least[i].store(round, std::memory_order_release);  // pairs with the readers' acquire
    EXPECT_OK(db_->Flush());
  }
  ended.store(true);
  for (std::thread& reader : readers) reader.join();
  EXPECT_GT(kept.load(), 0u);
}

// Counts how often somebody lets go of an entry.
class CountingCache final : public Cache {
 public:
  Handle* Insert(const Slice& key, void* value, size_t charge, void (*deleter)(const Slice&, void*)) override {
    return cache_->Insert(key, value, charge, deleter);
  }
  Handle* Lookup(const Slice& key) override { return cache_->Lookup(key); }
  void Release(Handle* handle) override {
    releases++;
    cache_->Release(handle);
  }
  void* Value(Handle* handle) override { return cache_->Value(handle); }
  void Erase(const Slice& key) override { cache_->Erase(key); }
  uint64_t NewId() override { return cache_->NewId(); }
  size_t TotalCharge() const override { return cache_->TotalCharge(); }

  std::atomic<int> releases{0};

 private:
  const std::unique_ptr<Cache> cache_{NewLRUCache(1024 * kKiB)};
};

// A release takes a lock of the cache, which another thread of the parent may have had at the fork.
TEST_F(RecordCacheTest, AChildLetsGoOfNothingInACache) {
  CountingCache cache;
  options_.block_cache = &cache;
  options_.ssd_path = dir_ / "ssd";
  options_.pool_size = 3072 * kKiB;
  options_.nvm_budget = 64 * kKiB;
  options_.merge_operator = nullptr;
  Open();
  Fill(2000, 200);
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_GT(Counter("ssd-files"), 0u);
  // The key of a record that lies in a table file: the slice holds a block, and lets go of it.
  PinnableSlice pinned;
  uint64_t key = 0;
  for (bool on_ssd = false; !on_ssd; key++) {
    ASSERT_LT(key, 2000u);
    ASSERT_OK(db_->Get(ReadOptions(), FilledKey(key), &pinned));
    const int looked = cache.releases;
    pinned.Reset();
    on_ssd = cache.releases > looked;
  }
  ASSERT_OK(db_->Get(ReadOptions(), FilledKey(key - 1), &pinned));
  const int before = cache.releases;
  const pid_t child = fork();
  if (child == 0) {
    pinned.Reset();
    _exit(cache.releases == before ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  pinned.Reset();
  EXPECT_EQ(before + 1, cache.releases);
  Close();
}

}  // namespace
}  // namespace miodb::test
