// Values with lifetimes: what reads show of them at every stage of a record's way, what merges make of those that have
// expired, and that what has expired as a whole goes unread. The clock is the test's.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "miodb/compaction_filter.h"
#include "miodb/dumpfile.h"
#include "miodb/lifetime.h"
#include "miodb/merge_operator.h"
#include "miodb/write_batch.h"
#include "src/db/open/db_impl.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"

namespace miodb::test {
namespace {

std::atomic<uint64_t> g_date{0};

constexpr uint64_t kSecond = 1000 * 1000;

class ByKey final : public LifetimePolicy {
 public:
  // "<letter><seconds>"
  uint64_t LifetimeSeconds(const Slice& key, const Slice&) const override {
    return key.size() < 2 ? 0 : std::stoull(std::string(key.data() + 1, key.size() - 1));
  }
};

class ExpiryTest : public DbTestBase {
 protected:
  ExpiryTest() {
    g_date = uint64_t{4000000000} * kSecond;  // later than the clock that repairs go by
    options_.merge_operator = append_.get();
    options_.settle_after_idle_ms = 0;
  }
  ~ExpiryTest() override { db_.reset(); }

  void Open() {
    db_.reset();
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(DBImpl::Open(options_, path_, hooks_, &db));
    impl_ = db.get();
    db_ = std::move(db);
  }

  static void Wait(uint64_t seconds) { g_date += seconds * kSecond; }
  void PutFor(uint64_t seconds, const std::string& key, const std::string& value) {
    WriteOptions write;
    write.lifetime_seconds = seconds;
    ASSERT_OK(db_->Put(write, key, value));
  }
  void Flush() { ASSERT_OK(db_->Flush()); }
  void Compact() {
    db_->CompactRange(nullptr, nullptr);
    ASSERT_OK(db_->WaitForIdle());
  }
  uint64_t UnitsRead() { return Counter("modelled-units-read") + Counter("modelled-units-cached"); }

  void ExpectShown(const std::string& expected) {
    EXPECT_EQ(expected, Forward(db_.get()));
    EXPECT_EQ(expected, Backward(db_.get()));
  }

  DBImpl::Hooks hooks_ = HooksWithClock();
  DBImpl* impl_ = nullptr;
  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
  const ByKey by_key_;

 private:
  static DBImpl::Hooks HooksWithClock() {
    DBImpl::Hooks hooks;
    hooks.wall_micros = [] { return g_date.load(); };
    return hooks;
  }
};

TEST_F(ExpiryTest, AValueIsThereUntilItsLifetimeIsOver) {
  options_.lifetime_seconds = 10;
  Open();
  Put("a", "1");
  PutFor(20, "b", "2");
  PutFor(kNoLifetime, "c", "3");
  WriteBatch batch;
  batch.Put("d", "4");
  batch.Put("e", "");
  batch.Delete("nobody");
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  const auto check = [&](const std::string& shown) {
    ExpectShown(shown);
    for (const char* key : {"a", "b", "c", "d", "e"}) {
      const size_t at = shown.find("(" + std::string(key) + "->");
      const std::string value =
          at == std::string::npos ? kNotFound : shown.substr(at + 4, shown.find(')', at) - at - 4);
      EXPECT_EQ(value, Get(key)) << key;
      std::vector<std::string> values;
      std::vector<PinnableSlice> pinned;
      const std::vector<Slice> keys = {key};
      EXPECT_EQ(value == kNotFound, db_->MultiGet(ReadOptions(), keys, &values)[0].IsNotFound());
      EXPECT_EQ(value == kNotFound, db_->MultiGet(ReadOptions(), keys, &pinned)[0].IsNotFound());
      if (value != kNotFound) {
        EXPECT_EQ(value, values[0]);
        EXPECT_EQ(value, pinned[0].ToString());
        EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), key, &values[0], nullptr));
      }
    }
  };
  for (const char* stage : {"in memory", "reopened", "flushed", "settled", "settled and reopened"}) {
    SCOPED_TRACE(stage);
    if (strstr(stage, "reopened") != nullptr) Open();
    if (strstr(stage, "flushed") != nullptr) Flush();
    if (stage == std::string("settled")) Compact();
    check("(a->1)(b->2)(c->3)(d->4)(e->)");
    g_date += 10 * kSecond - 1;
    check("(a->1)(b->2)(c->3)(d->4)(e->)");
    g_date += 1;
    check("(b->2)(c->3)");
    g_date += 10 * kSecond;
    check("(c->3)");
    g_date -= 20 * kSecond;
  }
  Wait(10);
  Compact();
  check("(b->2)(c->3)");
  EXPECT_EQ(2u, Counter("entries"));
}

// The clock moves with every look at it.
TEST_F(ExpiryTest, PutsOfOneBatchExpireTogether) {
  hooks_.wall_micros = [] { return g_date += 1; };
  options_.lifetime_seconds = 1;
  Open();
  WriteBatch batch;
  for (const char* key : {"a", "b", "c"}) batch.Put(key, "1");
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  g_date += kSecond - 20;
  const std::vector<Slice> keys = {"a", "b", "c"};
  int shown = 0;
  for (int i = 0; i < 30; i++) {
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), keys, &values);
    EXPECT_TRUE(statuses[0].ok() == statuses[1].ok() && statuses[1].ok() == statuses[2].ok());
    shown += statuses[0].ok();
  }
  EXPECT_TRUE(0 < shown && shown < 30) << shown;
}

TEST_F(ExpiryTest, APolicySaysSoForEachValue) {
  options_.lifetime_policy = &by_key_;
  Open();
  Put("a5", "1");
  Put("b7", "2");
  Put("c", "3");
  Wait(5);
  ExpectShown("(b7->2)(c->3)");
  Wait(2);
  ExpectShown("(c->3)");
}

TEST_F(ExpiryTest, ALifetimeOutOfRangeIsRefused) {
  Open();
  WriteOptions write;
  write.lifetime_seconds = kMostLifetimeSeconds + 1;
  EXPECT_TRUE(db_->Put(write, "a", "1").IsInvalidArgument());
  WriteBatch batch;
  batch.Put("b", "2");
  EXPECT_TRUE(db_->Write(write, &batch).IsInvalidArgument());
  write.lifetime_seconds = kMostLifetimeSeconds;
  EXPECT_OK(db_->Put(write, "c", "3"));
  ExpectShown("(c->3)");
  options_.lifetime_seconds = kMostLifetimeSeconds + 1;
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  options_.lifetime_seconds = 1;
  options_.lifetime_policy = &by_key_;
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
}

TEST_F(ExpiryTest, OtherOptionsAtALaterOpenChangeNothingThatIsThere) {
  Open();
  Put("a", "1");
  options_.lifetime_seconds = 5;
  Open();
  Put("b", "2");
  Flush();
  options_.lifetime_seconds = 0;
  Open();
  Put("c", "3");
  Compact();
  ExpectShown("(a->1)(b->2)(c->3)");
  Wait(5);
  ExpectShown("(a->1)(c->3)");
  Compact();
  ExpectShown("(a->1)(c->3)");
}

TEST_F(ExpiryTest, WhatHasExpiredHidesWhatIsOlder) {
  Open();
  Put("a", "old");
  Compact();
  PutFor(5, "a", "new");
  PutFor(5, "b", "new");
  const auto check = [&](const std::string& expected) {
    EXPECT_EQ(expected, Get("a"));
    ExpectShown(expected == kNotFound ? "" : "(a->new)(b->new)");
  };
  for (const bool reopens : {false, true}) {
    if (reopens) Open();
    check("new");
    Wait(5);
    check(kNotFound);
    Flush();
    check(kNotFound);
    g_date -= 5 * kSecond;
  }
  Wait(5);
  Compact();
  check(kNotFound);
  EXPECT_EQ(0u, Counter("entries"));
  g_date -= 5 * kSecond;
  check(kNotFound);
}

TEST_F(ExpiryTest, AnOperandOutlivesTheValueThatItWasMergedInto) {
  Open();
  PutFor(5, "a", "1");
  ASSERT_OK(db_->Merge(WriteOptions(), "a", "2"));
  ASSERT_OK(db_->Merge(WriteOptions(), "a", "3"));
  PutFor(5, "b", "1");
  for (const char* stage : {"in memory", "flushed", "settled", "reopened"}) {
    SCOPED_TRACE(stage);
    if (stage == std::string("flushed")) Flush();
    if (stage == std::string("settled")) Compact();
    if (stage == std::string("reopened")) Open();
    ExpectShown("(a->1,2,3)(b->1)");
    EXPECT_EQ("1,2,3", Get("a"));
    Wait(5);
    ExpectShown("(a->2,3)");
    EXPECT_EQ("2,3", Get("a"));
    g_date -= 5 * kSecond;
  }
  Wait(5);
  Compact();
  EXPECT_EQ("2,3", Get("a"));
  EXPECT_EQ(1u, Counter("entries"));
}

TEST_F(ExpiryTest, ASingleDeletionTakesItsPutAlongWhetherThatHasExpiredOrNot) {
  Open();
  for (const bool expired : {false, true}) {
    SCOPED_TRACE(expired);
    Put("a", "0");
    Flush();
    ASSERT_OK(db_->SingleDelete(WriteOptions(), "a"));
    Flush();
    PutFor(5, "a", "1");
    Flush();
    if (expired) Wait(5);
    ASSERT_OK(db_->SingleDelete(WriteOptions(), "a"));
    EXPECT_EQ(kNotFound, Get("a"));
    Compact();
    EXPECT_EQ(kNotFound, Get("a"));
    EXPECT_EQ(0u, Counter("entries"));
  }
}

TEST_F(ExpiryTest, ASnapshotKeepsNothingBeyondItsLifetimeAndAnIteratorWhatItShows) {
  Open();
  PutFor(5, "a", "1");
  Put("b", "0");
  const Snapshot* const snapshot = db_->GetSnapshot();
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  Put("a", "2");
  PutFor(5, "b", "1");
  EXPECT_EQ("1", Get("a", snapshot));
  Wait(5);
  EXPECT_EQ(kNotFound, Get("a", snapshot));
  EXPECT_EQ("2", Get("a"));
  EXPECT_EQ("0", Get("b", snapshot));
  EXPECT_EQ(kNotFound, Get("b"));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ("1", it->value().ToString());
  Compact();
  EXPECT_EQ("0", Get("b", snapshot));
  EXPECT_EQ(kNotFound, Get("b"));
  EXPECT_EQ(kNotFound, Get("a", snapshot));
  it->SeekToLast();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ("0", it->value().ToString());
  ASSERT_OK(it->Refresh());
  it->SeekToLast();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ("a", it->key().ToString());
  db_->ReleaseSnapshot(snapshot);
}

// Policies and filters get keys as their users know them, in whichever family.
class ByFirstLetter final : public CompactionFilter {
 public:
  const char* Name() const override { return "ByFirstLetter"; }
  Decision Filter(int, const Slice& key, ValueKind, const Slice&, std::string*) const override {
    return key.starts_with("x") ? Decision::kRemove : Decision::kKeep;
  }
};

TEST_F(ExpiryTest, ColumnFamiliesHaveLifetimesPoliciesAndFilters) {
  const ByFirstLetter filter;
  options_.lifetime_policy = &by_key_;
  options_.compaction_filter = &filter;
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("family", &family));
  ASSERT_OK(db_->Put(WriteOptions(), family, "c", "1"));
  ASSERT_OK(db_->Put(WriteOptions(), family, "b9", "2"));
  ASSERT_OK(db_->Put(WriteOptions(), family, "x", "3"));
  WriteBatch batch;
  batch.Put(family, "a5", "4");
  batch.Put("a5", "5");
  batch.Put(family, "d", "6");
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  const auto check = [&](const std::string& shown) {
    std::string got;
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), family));
    for (it->SeekToFirst(); it->Valid(); it->Next()) got += it->key().ToString() + it->value().ToString() + " ";
    EXPECT_EQ(shown, got);
  };
  check("a54 b92 c1 d6 x3 ");
  Compact();
  check("a54 b92 c1 d6 ");
  EXPECT_EQ("5", Get("a5"));
  Wait(5);
  check("b92 c1 d6 ");
  EXPECT_EQ(kNotFound, Get("a5"));
  Wait(4);
  Compact();
  check("c1 d6 ");
  EXPECT_EQ(2u, Counter("entries"));
}

TEST_F(ExpiryTest, LogFilesHaveLifetimesToo) {
  options_.log_mode = kLogFile;
  options_.lifetime_seconds = 5;
  Open();
  Put("a", "1");
  PutFor(10, "b", "2");
  Open();
  ExpectShown("(a->1)(b->2)");
  Wait(5);
  ExpectShown("(b->2)");
}

TEST_F(ExpiryTest, ARepairKeepsMomentsOfExpiry) {
  options_.lifetime_seconds = 5;
  Open();
  Put("a", "1");
  Compact();
  PutFor(10, "b", "2");
  PutFor(kNoLifetime, "c", "3");
  Close();
  options_.lifetime_seconds = 1000;
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  ExpectShown("(a->1)(b->2)(c->3)");
  Wait(5);
  ExpectShown("(b->2)(c->3)");
  Wait(5);
  ExpectShown("(c->3)");
}

// What had expired at the date of an earlier wait is there again, so nothing of it is to be dropped. A wait that went
// on would find the clock in the next century.
TEST_F(ExpiryTest, AWaitEndsWhenTheClockWasSetBack) {
  static std::atomic<int> looks{0};
  looks = 0;
  hooks_.wall_micros = [] { return looks++ < 10000 ? g_date.load() : uint64_t{4200000000} * kSecond; };
  hooks_.background = BackgroundMode::kBySteps;
  Open();
  Put("a", "1");
  Wait(100);
  Compact();
  g_date -= 100 * kSecond;
  PutFor(5, "b", "2");
  Put("c", "3");
  Compact();
  EXPECT_LT(looks, 10000);
  ExpectShown("(a->1)(b->2)(c->3)");
}

// A condition holds a snapshot so that every later write of its keys is found, here a deletion of "b" too. What is
// known of keys that have older versions, and of later snapshots, is exact.
TEST_F(ExpiryTest, AConditionFindsWritesThatHaveExpiredAndGoneUnread) {
  hooks_.background = BackgroundMode::kBySteps;
  Open();
  Put("a", "0");
  Compact();
  PutFor(5, "b", "1");
  const Snapshot* snapshot = db_->GetSnapshot();
  ASSERT_OK(db_->Delete(WriteOptions(), "b"));
  PutFor(5, "c", "2");
  Flush();
  Wait(5);
  while (impl_->RunStep(DBImpl::Step::kMerge)) {
  }
  EXPECT_EQ(1u, Counter("entries"));
  WriteBatch batch;
  batch.Put("d", "made of b");
  const auto write_if = [&](const char* key) {
    const std::vector<KeyAsOf> keys = {{key, snapshot->GetSequenceNumber()}};
    return db_->WriteIfUnchanged(WriteOptions(), &batch, keys);
  };
  EXPECT_TRUE(write_if("b").IsBusy());
  EXPECT_TRUE(write_if("c").IsBusy());
  EXPECT_OK(write_if("a"));
  EXPECT_TRUE(write_if("bb").IsBusy()) << "may have been in the table";
  EXPECT_OK(write_if("x"));  // lies behind what went
  db_->ReleaseSnapshot(snapshot);
  snapshot = db_->GetSnapshot();
  EXPECT_OK(write_if("b"));
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(ExpiryTest, AConditionFindsWritesThatHaveExpiredWithTheirFile) {
  options_.ssd_path = dir_ / "ssd";
  options_.pool_size = 3 << 20;
  options_.nvm_budget = 64 << 10;
  options_.lifetime_seconds = 60;
  Open();
  const Snapshot* const snapshot = db_->GetSnapshot();
  Fill(3000, 500);
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_GT(Counter("ssd-files"), 0u);
  Wait(60);
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_EQ(0u, Counter("ssd-files"));
  WriteBatch batch;
  batch.Put("d", "1");
  for (uint64_t i = 0; i < 3000; i++) {
    const std::string key = FilledKey(i);
    ASSERT_TRUE(db_->WriteIfUnchanged(WriteOptions(), &batch, {{key, snapshot->GetSequenceNumber()}}).IsBusy()) << i;
  }
  EXPECT_OK(db_->WriteIfUnchanged(WriteOptions(), &batch, {{"zzz", snapshot->GetSequenceNumber()}}));
  db_->ReleaseSnapshot(snapshot);
}

// Their words are read, for the account of what becomes free, and no record.
TEST_F(ExpiryTest, ExpiredTablesGoByOneEditTheirRecordsUnread) {
  const uint64_t count = ByScale(100 * 1000, 1000 * 1000, 10 * 1000 * 1000);
  options_ = Options();
  options_.create_if_missing = true;
  options_.nvm_model = "count";
  options_.lifetime_seconds = 60;
  options_.write_buffer_size = count * 8;
  options_.settle_after_idle_ms = 0;
  hooks_.background = BackgroundMode::kBySteps;
  Open();
  const uint64_t empty = Counter("pool-bytes-used");
  char key[17];
  for (uint64_t i = 0; i < count; i++) {
    snprintf(key, sizeof(key), "%016llx", static_cast<unsigned long long>(i * 0x9e3779b97f4a7c15));
    ASSERT_OK(db_->Put(WriteOptions(), key, "a value"));
  }
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_EQ(count, Counter("entries"));
  const uint64_t full = Counter("pool-bytes-used");
  ASSERT_GT(full, empty + count * 40);
  EXPECT_FALSE(impl_->RunStep(DBImpl::Step::kMerge));
  Wait(60);
  const uint64_t read = UnitsRead(), tables = Counter("expired-tables");
  while (impl_->RunStep(DBImpl::Step::kMerge)) {
  }
  constexpr uint64_t kUnit = 256, kLeafBytesPerEntry = 21;
  EXPECT_LE((UnitsRead() - read) * kUnit, count * kLeafBytesPerEntry / 4 * 5);
  EXPECT_LT(tables, Counter("expired-tables"));
  EXPECT_EQ(count, Counter("expired-table-entries"));
  EXPECT_EQ(0u, Counter("entries"));
  EXPECT_EQ(0u, Counter("payload-bytes"));
  EXPECT_LE(Counter("pool-bytes-used"), empty + full / 16);
  Open();
  ExpectShown("");
}

// Nine of ten keys, anywhere among the others, live for a minute and the others for a day: so the middle of a table's
// bounds says nothing. Nobody writes or waits.
class QuietExpiryTest : public ExpiryTest {
 protected:
  static constexpr uint64_t kCount = 20 * 1000;

  void SetUp() override {
    quiet_ = kSecond;
    options_.settle_after_idle_ms = 1000;
    options_.write_buffer_size = options_.partition_size = 64 << 10;
    options_.log_chunk_size = 16 << 10;
    hooks_.background = BackgroundMode::kBySteps;
    hooks_.quiet_micros = [] { return quiet_.load(); };
    Open();
    for (uint64_t i = 0; i < kCount; i++) {
      PutFor(i % 10 == 0 ? 86400 : 60, "key" + std::to_string(i * 7919 % kCount), "v");
    }
    Compact();
    Steps();
    ASSERT_EQ(kCount, Counter("entries"));
    ASSERT_GT(Tables(), 3u);
  }
  uint64_t Tables() { return TablesAtLevel(options_.num_levels - 1); }

  // Does all that there is to do after a silence; no more than follows from the tables.
  uint64_t Steps() {
    quiet_ += 10 * kSecond;
    const uint64_t most = 4 * Tables() + 8;
    uint64_t count = 0;
    while (count < most && (impl_->RunStep(DBImpl::Step::kFlush) || impl_->RunStep(DBImpl::Step::kMerge))) count++;
    EXPECT_LT(count, most);
    return count;
  }

 private:
  static inline std::atomic<uint64_t> quiet_;
};

TEST_F(QuietExpiryTest, TablesOfWhichMuchHasExpiredAreRewritten) {
  Wait(30);
  EXPECT_EQ(0u, Steps());
  Wait(30);
  Steps();
  EXPECT_EQ(kCount / 10, Counter("entries"));
  EXPECT_EQ(0u, Steps());
  Wait(86400);
  Steps();
  EXPECT_EQ(0u, Counter("entries"));
}

TEST_F(QuietExpiryTest, ASnapshotKeepsThemAndNoWorkGoesOn) {
  Wait(60);
  const Snapshot* snapshot = db_->GetSnapshot();
  EXPECT_EQ(0u, Steps());
  db_->ReleaseSnapshot(snapshot);
  ASSERT_TRUE(impl_->RunStep(DBImpl::Step::kMerge)) << "the look";
  snapshot = db_->GetSnapshot();
  EXPECT_EQ(0u, Steps());
  db_->ReleaseSnapshot(snapshot);
  Steps();
  EXPECT_EQ(kCount / 10, Counter("entries"));
}

TEST_F(QuietExpiryTest, ARunThatIsNotWorthAMergeStaysAndNoWorkGoesOn) {
  PutFor(86400, "key0", "v");
  Flush();
  Wait(60);
  Steps();  // in which the write is seen
  Steps();
  EXPECT_EQ(kCount / 10 + 1, Counter("entries"));
  Steps();  // collects garbage
  EXPECT_EQ(0u, Steps());
  Compact();
  EXPECT_EQ(kCount / 10, Counter("entries"));
}

TEST_F(QuietExpiryTest, AClockThatIsSetBackEndsNothing) {
  Wait(60);
  ASSERT_TRUE(impl_->RunStep(DBImpl::Step::kMerge)) << "the look";
  g_date -= 50 * kSecond;
  Steps();
  EXPECT_EQ(kCount, Counter("entries"));
  g_date += 120 * kSecond;
  Steps();
  EXPECT_EQ(kCount / 10, Counter("entries"));
}

TEST_F(ExpiryTest, ATableThatHidesSomethingStaysUntilAMergeTakesBoth) {
  hooks_.background = BackgroundMode::kBySteps;
  options_.level_trigger = 10;
  options_.lifetime_seconds = 5;
  Open();
  PutFor(kNoLifetime, "b", "old");
  ASSERT_OK(db_->WaitForIdle());
  Put("a", "1");
  Put("c", "1");
  Flush();
  Put("x", "1");
  Flush();
  Wait(5);
  while (impl_->RunStep(DBImpl::Step::kMerge)) {
  }
  EXPECT_EQ(1u, Counter("expired-tables"));  // that of "x"
  EXPECT_EQ(3u, Counter("entries"));
  ExpectShown("(b->old)");
  Compact();
  ExpectShown("(b->old)");
  EXPECT_EQ(1u, Counter("entries"));
}

TEST_F(ExpiryTest, FilesOfTheSsdTierGoWhenTheyHaveExpired) {
  options_.ssd_path = dir_ / "ssd";
  options_.pool_size = 3 << 20;
  options_.nvm_budget = 256 << 10;
  options_.ssd_file_size = 256 << 10;
  options_.lifetime_seconds = 60;
  Open();
  Fill(10000, 500);
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_GT(Counter("ssd-files"), 5u);
  CheckFilled(10000, 500);
  PutFor(kNoLifetime, FilledKey(5000), "stays");
  Open();  // which does not know what sequences are in the files
  Wait(60);
  EXPECT_EQ("stays", Get(FilledKey(5000)));
  ExpectShown("(" + FilledKey(5000) + "->stays)");
  const uint64_t read = Counter("ssd-bytes-read");
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_EQ(0u, Counter("ssd-files"));
  EXPECT_EQ(read, Counter("ssd-bytes-read"));
  ExpectShown("(" + FilledKey(5000) + "->stays)");
}

}  // namespace
}  // namespace miodb::test
